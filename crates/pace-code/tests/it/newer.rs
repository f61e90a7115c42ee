//! Syntax that came after Python 3.11, by the node types of the version that brought it.

use pace_code::Extractor;

fn shown(source: &str) -> String {
    let tree = Extractor::default().module(source).expect("Python");
    let nodes = tree.nodes().skip(1).filter(|node| node.kind.name() != "Load");
    let nodes = nodes.map(|node| match node.attribute {
        Some(attribute) => format!("{}({attribute})", node.kind),
        None => node.kind.to_string(),
    });
    nodes.collect::<Vec<_>>().join(" ")
}

#[test]
fn type_parameters() {
    assert_eq!(
        shown("def f[T: int, *Ts, **P](a: T): pass"),
        "FunctionDef(f) arguments arg(a) Name(T) Pass TypeVar(T) Name(int) TypeVarTuple(Ts) ParamSpec(P)"
    );
    assert_eq!(shown("class A[T = int](B): pass"), "ClassDef(A) Name(B) Pass TypeVar(T) Name(int)");
    assert_eq!(shown("type A[T] = list[T]"), "TypeAlias Name(A) Store TypeVar(T) Subscript Name(list) Name(T)");
}

#[test]
fn quotes_within_quotes() {
    let nested = "Expr JoinedStr FormattedValue Subscript Name(a) Constant(b)";
    assert_eq!(shown("f'{a['b']}'"), nested);
    assert_eq!(shown("f'{a[\n'b'  # comment\n]}'"), nested);
}

#[test]
fn template_strings() {
    assert_eq!(
        shown("t'a{b:>{c}}' t'd{e=}'"),
        "Expr TemplateStr Constant(a) Interpolation Name(b) JoinedStr Constant(>) FormattedValue Name(c) Constant(de=) \
         Interpolation Name(e)"
    );
}

#[test]
fn except_without_parentheses() {
    assert_eq!(shown("try: a\nexcept B, C: d"), "Try Expr Name(a) ExceptHandler Tuple Name(B) Name(C) Expr Name(d)");
}
