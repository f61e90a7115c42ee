//! Deep and large sources: trees or errors, never an overflow of the stack.

use pace_code::{Dialect, Error, Extractor, NodeKind, Tree};

/// What opens, continues or closes something, separated by bars.
const BROKEN: &str = "(¦[¦{¦f(¦a[¦-¦not ¦lambda: ¦lambda a, ¦lambda a=¦lambda *a, b=¦f'{¦f'{a:{¦f\"{\"[¦a if b else ¦(]¦[)¦(]\n¦[(]\n[\
    ¦{)¦async ¦await ¦if a: ¦class a: ¦@¦*¦**¦a.¦a = ¦a := ¦case [¦)¦]¦}¦\t(\n¦(yield ¦try:\n¦if a:\n(¦[a for ¦\"¦'''¦'(¦[0'¦\\¦\\\n¦a,\
    ¦a;¦:¦=¦for a in ¦with (¦match (¦match a:\n case (¦import (¦from a import (¦del (¦def f(¦def f(a=lambda: ";

const DEPTH: usize = 10_000;

fn module(source: &str) -> Result<Tree, Error> {
    Extractor::default().module(source)
}

fn deepest(tree: &Tree) -> usize {
    tree.nodes().map(|node| node.depth).max().unwrap_or(0)
}

/// What nests, with the depth that its tree must have at least.
fn nested(n: usize) -> Vec<(&'static str, String, usize)> {
    let around = |open: &str, inner: &str, close: &str| open.repeat(n) + inner + &close.repeat(n);
    vec![
        ("parentheses", around("(", "a", ")"), 2),
        ("lists", around("[", "", "]"), n),
        ("targets", around("[", "a", "]") + " = 1", n),
        ("starred targets", around("[*", "a", "]") + " = 1", n),
        ("tuples", around("(", "a", ",)"), n),
        ("sets", around("{", "a", "}"), n),
        ("dictionaries", around("{a: ", "b", "}"), n),
        ("calls", around("f(", "", ")"), n),
        ("calls with keywords", around("f(a=", "b", ")"), n),
        ("calls of calls", around("", "f", "()"), n),
        ("subscripts", around("a[", "b", "]"), n),
        ("subscripts of subscripts", around("", "a", "[b:c]"), n),
        ("attributes", around("", "a", ".b"), n),
        ("comprehensions", around("[a for a in ", "b", "]"), n),
        ("minus", around("-", "a", ""), n),
        ("not", around("not ", "a", ""), n),
        ("await", "async def f():\n    ".to_owned() + &around("(await ", "a", ")"), n),
        ("sums", around("", "a", " + a"), n),
        ("powers", around("a ** ", "a", ""), n),
        ("comparisons in brackets", around("(a < ", "a", ")"), n),
        ("and in brackets", around("(a and ", "a", ")"), n),
        ("conditions", around("a if b else ", "c", ""), n),
        ("lambdas", around("lambda a, b=1: ", "a", ""), n),
        ("defaults of lambdas", around("lambda a=", "b", ": a"), n),
        ("walrus", around("(a := ", "b", ")"), n),
        ("yield", "def f():\n    ".to_owned() + &around("(yield ", "a", ")"), n),
        ("f-strings", around("f'{", "a", "}'"), n),
        ("format specifications", "f'".to_owned() + &around("{a:", "", "}") + "'", n),
        ("elif", "if a:\n    b\n".to_owned() + &around("", "", "elif a:\n    b\n"), n),
        ("patterns", "match a:\n    case ".to_owned() + &around("[", "b", "]") + ": pass", n),
        ("class patterns", "match a:\n    case ".to_owned() + &around("A(b=", "c", ")") + ": pass", n),
        ("annotations", "a: ".to_owned() + &around("A[", "b", "]"), n),
        ("decorators", "@".to_owned() + &around("a(", "", ")") + "\ndef f(): pass", n),
    ]
}

#[test]
fn ten_thousand_levels_become_a_tree() {
    for (what, source, depth) in nested(DEPTH) {
        let tree = module(&source).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(deepest(&tree) >= depth, "{what}: {}", deepest(&tree));
    }
}

#[test]
fn both_dialects_walk_without_recursion() {
    let legacy = Extractor { dialect: Dialect::Python37, ..Extractor::default() };
    let tree = legacy.module(&("a[".repeat(DEPTH) + "b" + &"]".repeat(DEPTH))).expect("Python");
    assert_eq!(deepest(&tree), 2 * DEPTH + 3, "an Index in every Subscript, and a Load in the name");
}

#[test]
fn a_million_levels_are_an_error_that_names_the_limit() {
    for (what, source, _) in nested(1_000_000) {
        // The parser keeps `elif` flat, so that there is no limit to it.
        if source.len() < 16 << 20 && what != "elif" {
            let error = module(&source).err().unwrap_or_else(|| panic!("{what} was parsed"));
            let message = error.to_string();
            assert!(matches!(error, Error::TooDeep { max_depth: 50_000 }), "{what}: {message}");
            assert!(message.contains("50000 levels"), "{message}");
        }
    }
}

/// Nothing is closed, or nothing is opened: the parser recovers from each, and recursion must not follow it.
#[test]
fn broken_nesting_does_not_crash() {
    for piece in BROKEN.split('¦') {
        for n in [2000, 40_000] {
            // Few of these are Python.
            let is_valid = module(&piece.repeat(n)).is_ok();
            assert!(!is_valid || ["\"", "'''", "a;", "a,", "'("].contains(&piece), "{piece:?} {n} times");
        }
    }
}

/// Where a string has no end, the parser reads on inside it.
#[test]
fn nesting_does_not_hide_in_broken_strings() {
    for start in ["f\"{\"", "f'{a:'", "f'{f'", "'", "f'{", "t'{'", "f'''{'''\n", "f\"\"\"{a!r\"\"\"\n", "\\"] {
        for nested in ["[", "-", "f(", "lambda a=", "{a:", "[*"] {
            for n in [40_000, 1_000_000] {
                let _ = module(&(start.to_owned() + &nested.repeat(n)));
            }
        }
    }
}

#[test]
fn blocks_nest_as_deep_as_they_like() {
    let n = 2000;
    let blocks = |head: &str| (0..n).map(|level| " ".repeat(level) + head + "\n").collect::<String>();
    let ifs = blocks("if a:") + &" ".repeat(n) + "pass\n";
    assert_eq!(deepest(&module(&ifs).expect("Python")), n + 2, "a Load in the last condition");
    let functions = Extractor::default().functions(&(blocks("def f():") + &" ".repeat(n) + "pass\n")).expect("Python");
    assert_eq!(functions.len(), n);
    assert_eq!((functions[0].line, functions[n - 1].line, functions[0].n_lines), (1, n, n + 1));
    let masked = |node: pace_code::Node<'_>| node.attribute == Some("_mask_");
    assert_eq!(functions[0].tree.nodes().filter(|&node| masked(node)).count(), n);
    assert_eq!(functions[n - 1].tree.n_nodes(), 4);
}

#[test]
fn a_function_of_many_nodes() {
    let lines = "    x = a + 1\n".repeat(20_000);
    let function = Extractor::default().function(&format!("def f(a):\n{lines}")).expect("Python").expect("no filter");
    assert_eq!(function.tree.n_nodes(), 4 + 20_000 * 8);
    assert_eq!(
        (function.n_lines, function.tree.nodes().filter(|node| node.kind == NodeKind::Add).count()),
        (20_001, 20_000)
    );

    let items = "1, -a.b, {'c': d[0]}, ".repeat(20_000);
    let function = Extractor::default().function(&format!("def f():\n    return [{items}]\n")).expect("Python");
    assert!(function.expect("no filter").tree.n_nodes() > 200_000);
}

#[test]
fn a_source_of_more_than_16_mib_is_refused() {
    let source = "a = 1\n".repeat((16 << 20) / 6 + 1);
    assert!(matches!(module(&source), Err(Error::TooLarge { max_bytes: 16_777_216, .. })));
}
