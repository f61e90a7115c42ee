//! Python sources: as trees, and as a format of graphs.

use pace_code::{Dialect, Extractor, Filter};
use pace_formats::Format;

/// Functions with every kind of statement and expression.
pub fn seeds() -> Vec<Vec<u8>> {
    let sources = [
        "def area(self):\n    return self.a * -self.b ** 2\n",
        "class A:\n    @staticmethod\n    async def f(a, /, b=1, *c, d: int = 2, **e) -> 'x':\n        '''doc'''\n        await g()\n        yield\n",
        "def f(x):\n    for i, j in x:\n        if i < j <= 3: continue\n        elif not i: break\n        else: pass\n    else:\n        while True: x[i:j:2, ...] += 1\n",
        "def f():\n    try:\n        raise E from e\n    except (A, B) as e:\n        global g; del g\n    finally:\n        with a as b, c: assert b, 'm'\n",
        "def f(p):\n    match p:\n        case {'k': [1, *_], **r} | C(x=-1j) as q if q: return f'{p!r:>{w}}{{' 'a' b'c'\n        case _: return [x for x in y if x], {a: b for a, b in c}, (i for i in j), {*s}\n",
        "def f():\n    lambda x, *y: (z := 0x1_0, 1e-3, None, True, 'é\\n', rb'\\d')\n",
        "# nothing\nx = 1\n",
    ];
    sources.map(|source| source.as_bytes().to_vec()).to_vec()
}

/// Every node stands after its parent, one level below it; both dialects agree on the functions.
pub fn trees(input: &[u8]) {
    let read = |dialect, filter| Extractor { dialect, filter }.functions_of_bytes(input);
    let (now, then) = (read(Dialect::Python311, Filter::default()), read(Dialect::Python37, Filter::default()));
    let Ok(functions) = now else {
        assert!(then.is_err());
        return;
    };
    assert_eq!(then.map_or(0, |functions| functions.len()), functions.len());
    for function in &functions {
        let tree = &function.tree;
        assert!(tree.node(0).parent.is_none() && function.line > 0 && function.n_lines > 0);
        for (number, node) in tree.nodes().enumerate().skip(1) {
            let parent = node.parent.expect("only the module has none");
            assert!(parent < number && node.depth == tree.node(parent).depth + 1);
        }
        function.label().iter().for_each(|word| assert!(!word.is_empty()));
    }
    let taken = read(Dialect::Python311, Filter::code_search_net()).map_or(0, |functions| functions.len());
    assert!(taken <= functions.len());
}

/// As graphs.
pub fn graphs(input: &[u8]) {
    super::graphs::read(Format::Python, input);
}
