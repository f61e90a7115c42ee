//! Garbage in, an error (or a lucky parse) out: never a panic.

use pace_code::{Dialect, Error, Extractor, Tree};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};

/// What valid sources are edited from.
const SNIPPETS: &str = include_str!("../python/snippets.txt");
/// Pieces that change how the rest is read, separated by bars.
const PIECES: &str = "(¦)¦[¦]¦{¦}¦'¦\"¦'''¦\"\"\"¦f'¦f\"{¦f'''{¦rb'¦t'¦\\¦\\\n¦\n¦\r¦\r\n¦\t¦    ¦#¦:¦;¦,¦.¦=¦:=¦*¦**¦@¦!¦!r¦->¦lambda \
    ¦if ¦else ¦async ¦match ¦case ¦type ¦0x¦1e¦\\N{¦\u{feff}¦\u{0}¦é\u{301}";

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PIECES.split('¦').collect::<Vec<_>>())
}

/// Every way in. What comes out must be sound.
fn read(source: &str) {
    for dialect in [Dialect::Python311, Dialect::Python37] {
        let extractor = Extractor { dialect, ..Extractor::default() };
        check(extractor.module(source).map(|tree| vec![tree]));
        check(extractor.functions(source).map(|functions| functions.into_iter().map(|one| one.tree).collect()));
        check(extractor.function(source).map(|function| function.into_iter().map(|one| one.tree).collect()));
    }
    let row = serde_json::json!({"code": source}).to_string();
    assert!(Extractor::default().corpus(row.as_bytes(), "my.jsonl").count() <= 1);
    Extractor::default().corpus(source.as_bytes(), "my.jsonl").for_each(drop);
}

fn check(found: Result<Vec<Tree>, Error>) {
    match found {
        Ok(trees) => trees.iter().for_each(check_tree),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Pre-order: every node stands after its parent, and after all that stands below the siblings before it.
fn check_tree(tree: &Tree) {
    let mut path: Vec<usize> = Vec::new();
    for (index, node) in tree.nodes().enumerate() {
        assert_eq!(node.parent.is_none(), index == 0);
        assert!(node.depth <= path.len());
        path.truncate(node.depth);
        assert_eq!(path.last().copied(), node.parent);
        path.push(index);
    }
}

/// A change at some place: what is taken away, and what is put there.
fn edit() -> impl Strategy<Value = (usize, usize, String)> {
    let insertion = proptest::prop_oneof![4 => piece().prop_map(str::to_owned), 1 => "\\PC{0,4}", 1 => proptest::strategy::Just(String::new())];
    (any::<usize>(), 0..8_usize, insertion)
}

fn edited(source: &str, edits: &[(usize, usize, String)]) -> String {
    let mut letters: Vec<char> = source.chars().collect();
    for (at, n_taken, insertion) in edits {
        let start = at % (letters.len() + 1);
        let end = (start + n_taken).min(letters.len());
        letters.splice(start..end, insertion.chars());
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_pieces(pieces in prop::collection::vec(piece(), 0..40)) {
        read(&pieces.concat());
    }

    #[test]
    fn random_edits(
        snippet in prop::sample::select(SNIPPETS.split("\n-----\n").collect::<Vec<_>>()),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        read(&edited(snippet, &edits));
    }
}
