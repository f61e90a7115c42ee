//! Every bad source by its message.

use pace_code::{AttributeVocabulary, Extractor, TypeVocabulary};

fn message(source: &str) -> String {
    Extractor::default().functions(source).expect_err("not a good source").to_string()
}

#[test]
fn sources() {
    let cases = [
        ("", "the source holds no statement; leave it out"),
        ("# only a comment\n\n", "the source holds no statement; leave it out"),
        ("def f():\n    return 1\n\nx = = 2\n", "line 4: "),
        ("def f(:\n", "line 1: "),
        ("print 'hello'\n", "line 1: "),
        ("def f():\nreturn 1\n", "line 2: "),
        ("def f():\r\n    pass\r\nx = (\r\n", "line 4: "),
        ("x = 1\ny = 'a\n", "line 2: "),
        ("x = 1\n\0", "line 2: a null byte, which Python refuses; remove it"),
        ("x = b'é'\n", "line 1: "),
        ("x = 07\n", "line 1: "),
    ];
    for (source, expected) in cases {
        let found = message(source);
        assert!(found.starts_with(expected), "{source:?} gives: {found}");
        assert!(!found.ends_with('.'), "{found}");
    }
}

#[test]
fn integers_that_cpython_does_not_print() {
    let found = message(&format!("def f():\n    return 0x{}\n", "f".repeat(4000)));
    assert_eq!(found, "line 2: an integer of more than 4300 digits, which Python does not print; shorten it");
    assert!(message(&format!("def f(x={}): pass", "9".repeat(4301))).starts_with("line 1: an integer"));
}

#[test]
fn sources_that_should_be_one_function() {
    let found = |source: &str| Extractor::default().function(source).expect_err("not one function").to_string();
    let remedy = "cut the function out of its module";
    assert_eq!(found("x = 1\n"), format!("expected one function and nothing else, found another statement; {remedy}"));
    assert_eq!(
        found("def f(): pass\ndef g(): pass"),
        format!("expected one function and nothing else, found 2 statements; {remedy}")
    );
    assert_eq!(found(" "), "the source holds no statement; leave it out");
}

#[test]
fn vocabularies_that_lack_a_word() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let types = TypeVocabulary::try_from(words("Module Name")).expect_err("no unknown");
    assert!(types.to_string().starts_with("the vocabulary lacks `__UNK__`;"), "{types}");
    for missing in ["_mask_", "__NONE__", "__UNK__"] {
        let list = words("_mask_ __NONE__ __UNK__").into_iter().filter(|word| word != missing).collect::<Vec<_>>();
        let error = AttributeVocabulary::try_from(list).expect_err("a word is missing");
        assert!(error.to_string().contains(missing), "{error}");
    }
    let json = serde_json::from_str::<AttributeVocabulary>("[\"a\"]").expect_err("no mask");
    assert!(json.to_string().contains("lacks `_mask_`"), "{json}");
}
