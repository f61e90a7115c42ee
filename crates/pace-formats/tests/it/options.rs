//! Which part of a file is the operation, the target and the name, and what the summary says of it.

use pace_formats::{Error, Format, ReadOptions, Summary};
use pace_graph::Named;

use crate::support::{read, read_with};

const GRAPH: &str = r#"{"graph": {"accuracy": "0.5", "name": "g", "key": 7, "list": [1]},
    "nodes": [{"id": 0, "label": "a", "kind": "x", "rank": 1}, {"id": "0", "label": "b", "kind": "y", "rank": null}],
    "edges": [{"source": 0, "target": "0", "weight": 3}]}"#;

fn with(options: ReadOptions) -> Result<(Vec<Named>, Summary), Error> {
    read_with(Format::NodeLink, GRAPH.as_bytes(), &options)
}

#[test]
fn operations() {
    assert_eq!(read(Format::NodeLink, GRAPH)[0].ops, ["a", "b"], "the first attribute of the list that all nodes have");
    let kind = ReadOptions { op: Some("kind".into()), ..ReadOptions::default() };
    assert_eq!(with(kind).unwrap().0[0].ops, ["x", "y"]);
    let wanted =
        |op: &str| with(ReadOptions { op: Some(op.into()), ..ReadOptions::default() }).unwrap_err().to_string();
    assert_eq!(
        wanted("colour"),
        "my.file, graph 1 ('g'): node '0' has no attribute 'colour'; it has 'kind', 'label', 'rank'"
            .replace(" ('g')", "")
    );
    assert_eq!(
        wanted("rank"),
        "my.file, graph 1: node '0' has no text or number in attribute 'rank'; it has 'kind', 'label', 'rank'"
    );
    let bare = "digraph { a; b [op=x] a -> b }";
    let (graphs, summary) = read_with(Format::Dot, bare.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(graphs[0].ops, ["a", "b"], "one node lacks the attribute");
    assert_eq!(summary.ops_from.into_iter().collect::<Vec<_>>(), [(None, 1)]);
    let wanted = ReadOptions { op: Some("op".into()), ..ReadOptions::default() };
    assert_eq!(
        read_with(Format::Dot, bare.as_bytes(), &wanted).unwrap_err().to_string(),
        "my.file, graph 1: node 'a' has no attribute 'op'; it has no attributes"
    );
}

#[test]
fn targets_and_names() {
    let (graphs, summary) = with(ReadOptions::default()).unwrap();
    assert_eq!((graphs[0].target, graphs[0].id.as_deref()), (None, Some("g")));
    assert!(summary.lacks_target());
    assert!(summary.remarks().contains(&"no graph has the attribute 'target', so there are no targets".to_owned()));
    let options = ReadOptions { target: "accuracy".into(), id: Some("key".into()), ..ReadOptions::default() };
    let (graphs, summary) = with(options).unwrap();
    assert_eq!((graphs[0].target, graphs[0].id.as_deref()), (Some(0.5), Some("7")));
    assert!(!summary.lacks_target());
    assert_eq!(
        summary.ignored.keys().map(String::as_str).collect::<Vec<_>>(),
        [
            "edge attribute 'weight'",
            "graph attribute 'list'",
            "graph attribute 'name'",
            "node attribute 'kind'",
            "node attribute 'rank'"
        ]
    );
    let missing = ReadOptions { id: Some("uuid".into()), ..ReadOptions::default() };
    assert_eq!(
        with(missing).unwrap_err().to_string(),
        "my.file, graph 1: the graph has no attribute 'uuid'; it has 'accuracy', 'key', 'list', 'name'"
    );
    let text = ReadOptions { target: "name".into(), ..ReadOptions::default() };
    assert_eq!(
        with(text).unwrap_err().to_string(),
        "my.file, graph 1: the target 'name' is 'g', not a finite number; leave the graph out or repair the value"
    );
}

#[test]
fn fields_of_json_lines() {
    let text = br#"{"kinds": ["a", 3], "edges": [], "acc": 1, "key": 9, "extra": {}}"#;
    let options = ReadOptions {
        op: Some("kinds".into()),
        target: "acc".into(),
        id: Some("key".into()),
        ..ReadOptions::default()
    };
    let (graphs, summary) = read_with(Format::JsonLines, text, &options).unwrap();
    let expected = Named { ops: vec!["a".into(), "3".into()], edges: vec![], target: Some(1.0), id: Some("9".into()) };
    assert_eq!(graphs, [expected]);
    assert_eq!(summary.ignored.into_iter().collect::<Vec<_>>(), [("field 'extra'".to_owned(), 1)]);
}

#[test]
fn options_are_written_with_a_run() {
    let options = ReadOptions { op: Some("kind".into()), keep_ends: true, ..ReadOptions::default() };
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<ReadOptions>(&text).unwrap(), options);
    assert_eq!(serde_json::from_str::<ReadOptions>("{}").unwrap(), ReadOptions::default());
}
