//! Vocabularies, and trees of numbers.

use pace_code::{
    AttributeVocabulary, Extractor, Function, NONE, NodeKind, TypeVocabulary, UNKNOWN, Vocabularies, VocabularyBuilder,
};

fn function(source: &str) -> Function {
    Extractor::default().function(source).expect("Python").expect("no filter")
}

fn build(sources: &[&str], max_attributes: usize) -> Vocabularies {
    let mut builder = VocabularyBuilder::default();
    sources.iter().for_each(|source| builder.add(&function(source)));
    builder.build(max_attributes)
}

#[test]
fn words_are_ordered_by_count_then_appearance() {
    let sources = ["def f(b, a):\n    return a + 'c'", "def g(b):\n    return d, a"];
    let all = build(&sources, 100);
    // a: 3, _mask_: 2, b: 2, c: 1, d: 1.
    assert_eq!(all.attributes.words(), ["a", "_mask_", "b", "c", "d", NONE, UNKNOWN]);
    assert_eq!(build(&sources, 3).attributes.words(), ["a", "_mask_", "b", NONE, UNKNOWN]);
    assert_eq!(build(&sources, 1).attributes.words(), ["a", "_mask_", NONE, UNKNOWN], "the mask is never lost");
    // Load: 4, arg and Name: 3, Module, FunctionDef, arguments and Return: 2.
    let types =
        ["Load", "arg", "Name", "Module", "FunctionDef", "arguments", "Return", "BinOp", "Add", "Constant", "Tuple"];
    assert_eq!(all.types.words()[..11], types);
    assert_eq!(all.types.words()[11..], [UNKNOWN]);
    assert_eq!(build(&sources, 100), all, "the same functions, the same numbers");
}

#[test]
fn special_words_in_a_source_take_no_place() {
    let vocabularies = build(&["def f():\n    return '__NONE__', '__UNK__', '_mask_', '__NONE__'"], 100);
    assert_eq!(vocabularies.attributes.words(), ["_mask_", NONE, UNKNOWN]);
}

#[test]
fn empty_training_data_give_vocabularies_of_special_words() {
    let vocabularies = VocabularyBuilder::default().build(10);
    assert_eq!(vocabularies.types.words(), [UNKNOWN]);
    assert_eq!(vocabularies.attributes.words(), ["_mask_", NONE, UNKNOWN]);
    let ast = vocabularies.encode(&function("def f(a): pass"));
    assert_eq!(ast.attributes, [1, 0, 1, 2, 1]);
    assert!(ast.dag.ops().all(|op| op == 0));
}

#[test]
fn a_tree_of_numbers_is_what_the_official_reader_gives() {
    let train = function("def getName(self):\n    return self.name");
    let vocabularies = build(&["def getName(self):\n    return self.name"], 100);
    let ast = vocabularies.encode(&train);
    let spec = vocabularies.spec();
    // Module, FunctionDef, arguments, arg, Return, Attribute, Name, Load, Load.
    assert_eq!(
        spec.format(&ast.dag),
        "Module FunctionDef arguments arg Return Attribute Name Load Load : 0>1 1>2 1>4 2>3 4>5 5>6 5>8 6>7"
    );
    assert!(spec.is_valid(&ast.dag));
    assert_eq!(ast.depths, [0, 1, 2, 3, 2, 3, 4, 5, 4]);
    assert_eq!(ast.dfs_order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(ast.label, ["get", "name"]);
    let words = vocabularies.attributes.words();
    let attributes: Vec<&str> = ast.attributes.iter().map(|&index| &*words[index as usize]).collect();
    assert_eq!(attributes, [NONE, "_mask_", NONE, "self", NONE, "name", "self", NONE, NONE]);
    assert_eq!(ast.is_attributed.iter().filter(|&&is| is).count(), 4);
    assert_eq!(ast.next_token_edges(), [(1, 3), (3, 5), (5, 6)]);

    let unseen = vocabularies.encode(&function("async def f(x):\n    await self"));
    let unknown = vocabularies.types.words().len() - 1;
    assert_eq!(usize::from(unseen.dag.op(1)), unknown, "there was no AsyncFunctionDef");
    assert_eq!(words[unseen.attributes[3] as usize], UNKNOWN, "there was no x");
    assert!(unseen.is_attributed[3]);
}

#[test]
fn serde_keeps_the_numbers() {
    let vocabularies = build(&["def f(b, a):\n    return a + 'c'"], 2);
    let json = serde_json::to_string(&vocabularies).expect("JSON");
    assert!(json.ends_with("\"attributes\":[\"a\",\"_mask_\",\"__NONE__\",\"__UNK__\"]}"), "{json}");
    assert_eq!(serde_json::from_str::<Vocabularies>(&json).expect("vocabularies"), vocabularies);
}

/// OGB's mapping files put the special words where they like.
#[test]
fn a_mapping_of_others_gives_their_numbers() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let types = TypeVocabulary::try_from(words("Num __UNK__ FunctionDef Unheard-of Module")).expect("a mapping");
    assert_eq!([NodeKind::Module, NodeKind::FunctionDef, NodeKind::Name].map(|kind| types.op(kind)), [4, 2, 1]);
    let attributes = AttributeVocabulary::try_from(words("__NONE__ self __UNK__ _mask_ self")).expect("a mapping");
    let numbers = [None, Some("self"), Some("x"), Some("_mask_")].map(|attribute| attributes.index(attribute));
    assert_eq!(numbers, [0, 4, 2, 3], "of equal words the last counts");
}

#[test]
fn every_class_has_its_own_name() {
    let names: std::collections::HashSet<&str> = NodeKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), NodeKind::ALL.len());
    assert!(NodeKind::ALL.iter().enumerate().all(|(index, &kind)| kind as usize == index));
}
