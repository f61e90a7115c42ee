//! One target per format of graphs.

use pace_formats::{Format, GraphFormat, ReadOptions};
use pace_graph::{Dag, DagSpec, Named};

use crate::FILE;
use crate::law::named;
use crate::seed::all_graphs;

/// What a format makes of graphs of every space.
fn seeds(format: Format) -> Vec<Vec<u8>> {
    let graph = |(index, dag): (usize, Dag)| {
        // Variables of a Bayesian network differ, so the node is part of the name there.
        let is_bif = format == Format::Bif;
        let op = |(node, op): (usize, u16)| if is_bif { format!("x{node}") } else { format!("op {op}") };
        Named {
            ops: dag.ops().enumerate().map(op).collect(),
            edges: dag.edges().collect(),
            target: (index % 2 == 0).then_some(0.5 + index as f64),
            id: (index % 3 > 0).then(|| format!("graph {index}")),
        }
    };
    let graphs: Vec<Named> = all_graphs().into_iter().filter(|dag| dag.n_nodes() < 20).enumerate().map(graph).collect();
    let write = |graphs: &[Named]| {
        let mut bytes = Vec::new();
        format.write(&mut graphs.iter(), &mut bytes).expect("what we write");
        bytes
    };
    graphs.chunks(1).map(write).chain((format != Format::Onnx).then(|| write(&graphs[..2]))).collect()
}

/// Every graph that is read is a DAG; what its format can hold is written and read back equal.
pub(super) fn read(format: Format, input: &[u8]) {
    let keep = ReadOptions { keep_constants: true, keep_ends: true, ..ReadOptions::default() };
    let other = ReadOptions { op: Some("op".into()), target: "score".into(), id: Some("id".into()), ..keep.clone() };
    for options in [&ReadOptions::default(), &keep, &other] {
        let mut graphs = Vec::new();
        let summary = format.read(&mut &*input, FILE, options, &mut |graph| {
            graphs.push(graph);
            Ok(())
        });
        for graph in &graphs {
            Dag::new(vec![0; graph.ops.len()], graph.edges.iter().copied()).expect("only DAGs are handed on");
            assert!(graph.target.is_none_or(f64::is_finite));
        }
        let Some(summary) = named(summary) else { continue };
        assert_eq!(summary.rows, graphs.len());
        assert!(!summary.remarks().is_empty());
        if matches!(format, Format::JsonLines | Format::NodeLink | Format::Dot | Format::GraphMl) {
            round_trip(format, &graphs);
        }
    }
}

fn round_trip(format: Format, graphs: &[Named]) {
    let (mut bytes, mut again) = (Vec::new(), Vec::new());
    if format.write(&mut graphs.iter(), &mut bytes).is_err() {
        return;
    }
    let mut sink = |graph| {
        again.push(graph);
        Ok(())
    };
    format.read(&mut &bytes[..], FILE, &ReadOptions::default(), &mut sink).expect("what was written");
    let sorted = |graph: &Named| {
        let mut graph = graph.clone();
        graph.edges.sort_unstable();
        graph
    };
    assert_eq!(again.iter().map(sorted).collect::<Vec<_>>(), graphs.iter().map(sorted).collect::<Vec<_>>());
}

/// Graphs of ours behind a header.
pub fn json_lines_seeds() -> Vec<Vec<u8>> {
    let header = serde_json::json!({ "spec": DagSpec::nas101() }).to_string();
    let row = "\n{\"ops\": [\"input\", 3, \"output\"], \"edges\": [[0, 1], [1, 2]], \"target\": 0.5}\n";
    seeds(Format::JsonLines).into_iter().chain([format!("{header}{row}").into_bytes()]).collect()
}

/// One JSON object per line.
pub fn json_lines(input: &[u8]) {
    read(Format::JsonLines, input);
}

/// Graphs as networkx writes them.
pub fn node_link_seeds() -> Vec<Vec<u8>> {
    seeds(Format::NodeLink)
}

/// networkx.
pub fn node_link(input: &[u8]) {
    read(Format::NodeLink, input);
}

/// Digraphs, one with what the language has besides.
pub fn dot_seeds() -> Vec<Vec<u8>> {
    let odd =
        "strict digraph \"a\" { node [op=x]; subgraph s { b; c [op=<y>] } /* no */ a -> {b c} -> d:n; target=\"1.5\" }";
    seeds(Format::Dot).into_iter().chain([odd.into()]).collect()
}

/// GraphViz.
pub fn dot(input: &[u8]) {
    read(Format::Dot, input);
}

/// Graphs as networkx and igraph write them.
pub fn graphml_seeds() -> Vec<Vec<u8>> {
    seeds(Format::GraphMl)
}

/// GraphML.
pub fn graphml(input: &[u8]) {
    read(Format::GraphMl, input);
}

/// Models without weights.
pub fn onnx_seeds() -> Vec<Vec<u8>> {
    seeds(Format::Onnx)
}

/// ONNX.
pub fn onnx(input: &[u8]) {
    read(Format::Onnx, input);
}

/// Networks of binary variables.
pub fn bif_seeds() -> Vec<Vec<u8>> {
    seeds(Format::Bif)
}

/// BIF.
pub fn bif(input: &[u8]) {
    read(Format::Bif, input);
}
