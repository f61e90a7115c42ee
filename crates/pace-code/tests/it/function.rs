//! Functions taken out of a module.

use pace_code::{Dialect, Extractor, Filter, Function};

const SOURCE: &str = "\
import os

@cached
@retry(
    times=3,
)
def load_file(path: str = 'x'):
    \"\"\"Loads a file.\"\"\"
    def load_file(): return load_file()
    return load_file

class Test:
    async def runTest(self):
        pass

    def __len__(self):
        '''Length.'''
        if True:
            return ...
";

fn functions(filter: Filter) -> Vec<Function> {
    Extractor { filter, ..Extractor::default() }.functions(SOURCE).expect("Python")
}

fn shown(function: &Function) -> Vec<String> {
    let nodes = function.tree.nodes();
    nodes.map(|node| format!("{} {} {}", node.depth, node.kind, node.attribute.unwrap_or("-"))).collect()
}

#[test]
fn all_are_found_in_the_order_of_the_source() {
    let facts: Vec<_> = functions(Filter::default())
        .into_iter()
        .map(|function| (function.name, function.line, function.n_lines, function.has_docstring))
        .collect();
    let expected = [
        ("load_file".to_owned(), 7, 4, true),
        ("load_file".to_owned(), 9, 1, false),
        ("runTest".to_owned(), 13, 2, false),
        ("__len__".to_owned(), 16, 4, true),
    ];
    assert_eq!(facts, expected);
}

#[test]
fn decorators_are_cut_and_names_masked() {
    let function = &functions(Filter::default())[0];
    assert_eq!(function.label(), ["load", "file"]);
    let expected = [
        "0 Module -",
        "1 FunctionDef _mask_",
        "2 arguments -",
        "3 arg path",
        "4 Name str",
        "5 Load -",
        "3 Constant x",
        "2 Expr -",
        "3 Constant Loads a file.",
        "2 FunctionDef _mask_",
        "3 arguments -",
        "3 Return -",
        "4 Call -",
        // Calls keep the name, as in OGB.
        "5 Name load_file",
        "6 Load -",
        "2 Return -",
        "3 Name load_file",
        "4 Load -",
    ];
    assert_eq!(shown(function), expected);
}

#[test]
fn legacy_literals_have_their_own_types() {
    let extractor = Extractor { dialect: Dialect::Python37, ..Extractor::default() };
    let source = "def f():\n    return a[0, 1:2], a[b], 'x', b'y', 2.5, None, True, ..., f'{z:>3}'\n";
    let function = extractor.function(source).expect("Python").expect("no filter");
    let kinds: Vec<String> = shown(&function).into_iter().skip(5).filter(|node| !node.contains("Load")).collect();
    let expected = [
        "4 Subscript -",
        "5 Name a",
        "5 ExtSlice -",
        "6 Index -",
        "7 Num 0",
        "6 Slice -",
        "7 Num 1",
        "7 Num 2",
        "4 Subscript -",
        "5 Name a",
        "5 Index -",
        "6 Name b",
        "4 Str x",
        "4 Bytes b'y'",
        "4 Num 2.5",
        "4 NameConstant -",
        "4 NameConstant -",
        "4 Ellipsis -",
        "4 JoinedStr -",
        "5 FormattedValue -",
        "6 Name z",
        "6 JoinedStr -",
        "7 Str >3",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn filters_take_what_they_say() {
    let names = |filter| functions(filter).into_iter().map(|function| function.line).collect::<Vec<_>>();
    assert_eq!(names(Filter { has_docstring: true, ..Filter::default() }), [7, 16]);
    assert_eq!(names(Filter { min_lines: 2, ..Filter::default() }), [7, 13, 16]);
    assert_eq!(names(Filter { no_dunder: true, ..Filter::default() }), [7, 9, 13]);
    assert_eq!(names(Filter { no_test: true, ..Filter::default() }), [7, 9, 16]);
    assert_eq!(names(Filter::code_search_net()), [7]);
}

#[test]
fn a_filter_is_read_from_json() {
    let filter: Filter = serde_json::from_str("{\"min_lines\": 3}").expect("a filter");
    assert_eq!(filter, Filter { min_lines: 3, ..Filter::default() });
    assert!(serde_json::from_str::<Filter>("{\"max_lines\": 3}").is_err());
}
