//! What is written is read back, whatever the names.

use pace_formats::{Error, Format, GraphFormat, ReadOptions};
use pace_graph::Named;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, proptest};

use crate::support::{dag, graph, read_with, sorted, written};

/// Writes and reads back.
fn round_trip(format: Format, graphs: &[Named]) {
    let bytes = written(format, graphs);
    let options = ReadOptions { keep_constants: true, ..ReadOptions::default() };
    let (found, summary) =
        read_with(format, &bytes, &options).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&bytes)));
    let sorted = |graphs: &[Named]| graphs.iter().cloned().map(sorted).collect::<Vec<_>>();
    assert_eq!(sorted(&found), sorted(graphs), "{}", String::from_utf8_lossy(&bytes));
    assert_eq!(summary.rows, graphs.len());
    assert_eq!(summary.rows_with_target, graphs.iter().filter(|graph| graph.target.is_some()).count());
}

/// Operations that differ, as BIF wants them.
fn with_distinct_ops(mut graph: Named) -> Named {
    graph.ops.iter_mut().enumerate().for_each(|(node, op)| op.push_str(&node.to_string()));
    graph
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_formats(graphs in vec(dag(), 1..4)) {
        for format in [Format::JsonLines, Format::NodeLink, Format::Dot, Format::GraphMl] {
            round_trip(format, &graphs);
        }
        let distinct: Vec<Named> = graphs.into_iter().map(with_distinct_ops).collect();
        round_trip(Format::Bif, &distinct);
    }

    #[test]
    fn onnx(graph in dag()) {
        // ONNX knows no name but the empty one for graphs without.
        round_trip(Format::Onnx, &[graph]);
    }
}

#[test]
fn names_of_formats() {
    for (format, name) in Format::ALL.into_iter().zip(Format::NAMES) {
        assert_eq!(format.name(), name);
        assert_eq!(format.to_string(), name);
        assert_eq!(name.parse::<Format>().unwrap(), format);
        assert_eq!(serde_json::to_string(&format).unwrap(), format!("{name:?}"));
        assert_eq!(serde_json::from_str::<Format>(&format!("{name:?}")).unwrap(), format);
        for extension in format.extensions() {
            assert_eq!(Format::of(format!("a.b/c.{extension}").as_ref()), Some(format));
            assert_eq!(Format::of(format!("c.{}.xz", extension.to_uppercase()).as_ref()), Some(format));
        }
    }
    assert_eq!(
        "pickle".parse::<Format>().unwrap_err().to_string(),
        "unknown format 'pickle'; choose one of json-lines, node-link, dot, graphml, onnx, bif, python"
    );
}

/// What [`GraphFormat::write`] says of a graph that it refuses.
fn refused(format: Format, graphs: &[Named]) -> String {
    let error: Error = format.write(&mut graphs.iter(), &mut Vec::new()).unwrap_err();
    error.to_string()
}

#[test]
fn only_dags_are_written() {
    for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
        let cycle = graph("a b", &[(0, 1), (1, 0)]);
        assert!(refused(format, &[cycle]).starts_with("the graphs to write, graph 1: the edges close a cycle"));
        assert!(refused(format, &[graph("a b", &[(0, 7)])]).contains("outside 0..2"));
        assert!(refused(format, &[Named { ops: Vec::new(), ..graph("a", &[]) }]).contains("no nodes"));
        assert!(refused(format, &[Named { target: Some(f64::NAN), ..graph("a", &[]) }]).contains("NaN"));
    }
}

#[test]
fn what_a_format_cannot_hold() {
    assert_eq!(
        refused(Format::Bif, &[graph("a b a", &[])]),
        "the graphs to write, graph 1: nodes 0 and 2 are both 'a', and variables of BIF differ; choose another format"
    );
    assert_eq!(
        refused(Format::GraphMl, &[graph("a\u{1}b", &[])]),
        "the graphs to write, graph 1: 'a\\u{1}b' has a letter that XML cannot hold; rename the operation or the graph, or choose another format"
    );
    assert_eq!(
        refused(Format::Onnx, &[graph("a", &[]), graph("b", &[])]),
        "several graphs, and an ONNX file holds one; write a file per graph, or choose another format"
    );
}
