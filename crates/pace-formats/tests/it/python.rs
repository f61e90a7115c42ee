//! networkx, pydot and onnx write what we read, and read what we write.

use std::fs;
use std::path::Path;
use std::process::Command;

use pace_checkout::say_skipped;
use pace_formats::{Format, ReadOptions};
use pace_graph::Named;
use serde::Deserialize;

use crate::support::{graph, read_with, sorted, written};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/formats.py");

/// What Python says of a file.
#[derive(Deserialize)]
struct Said {
    format: Format,
    file: String,
    graphs: Vec<Graph>,
}

#[derive(Deserialize)]
struct Graph {
    ops: Vec<String>,
    edges: Vec<(usize, usize)>,
    target: Option<f64>,
    id: Option<String>,
}

impl Said {
    fn graphs(self) -> Vec<Named> {
        let named = |graph: Graph| Named { ops: graph.ops, edges: graph.edges, target: graph.target, id: graph.id };
        self.graphs.into_iter().map(named).collect()
    }
}

/// Runs the script; `None`, with a line that says so, if Python lacks a package.
fn script(verb: &str, folder: &Path) -> Option<Vec<Said>> {
    let has = Command::new("python3").args(["-c", "import networkx, pydot, onnx"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        say_skipped("no python3 with networkx, pydot and onnx");
        return None;
    }
    let output = Command::new("python3").arg(SCRIPT).arg(verb).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn what_they_write_we_read() {
    let folder = tempfile::tempdir().unwrap();
    let Some(said) = script("write", folder.path()) else { return };
    assert_eq!(said.len(), 150);
    for one in said {
        let bytes = fs::read(&one.file).unwrap();
        let (graphs, _) = read_with(one.format, &bytes, &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)));
        let graphs: Vec<Named> = graphs.into_iter().map(sorted).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(graphs, one.graphs(), "{text}");
    }
}

#[test]
fn what_we_write_they_read() {
    let folder = tempfile::tempdir().unwrap();
    let odd =
        ["conv", "a b", "é", "\"", "\\", "<b>", "&amp;", "node", "x\ny", "{}", "\"\\", "", " ", "->", "\t", "]]>"];
    let mut expected = Vec::new();
    for (index, op) in odd.into_iter().enumerate() {
        let one =
            Named { target: Some(0.1), id: Some(format!("g{index}")), ..graph("in op out", &[(0, 1), (0, 2), (1, 2)]) };
        let one = Named { ops: vec!["in".into(), op.into(), "out".into()], ..one };
        for format in [Format::NodeLink, Format::GraphMl, Format::Dot, Format::Onnx] {
            // pydot cuts quoted text at line breaks and drops empty text.
            if format == Format::Dot && (op.contains('\n') || op.is_empty()) {
                continue;
            }
            let file = folder.path().join(format!("{index}.{}", format.extensions()[0]));
            fs::write(&file, written(format, std::slice::from_ref(&one))).unwrap();
            expected.push((file, one.clone()));
        }
    }
    let Some(said) = script("read", folder.path()) else { return };
    assert_eq!(said.len(), expected.len());
    for one in said {
        let (_, graph) = expected.iter().find(|(file, _)| file == Path::new(&one.file)).unwrap();
        let file = one.file.clone();
        assert_eq!(one.graphs(), std::slice::from_ref(graph), "{file}");
    }
}
