//! Python sources: functions are graphs, and a folder may hold files without any.

use std::fs;

use pace_formats::{Format, ReadOptions, read_path};
use pace_graph::{Dag, Op, dag2seq};

use crate::support::{message, read, read_with};

const AREA: &str =
    "class Box:\n    def area(self):\n        def twice(x):\n            return 2 * x\n        return twice(self.a)\n";

#[test]
fn functions_are_trees() {
    let graphs = read(Format::Python, AREA);
    let ids: Vec<&str> = graphs.iter().filter_map(|graph| graph.id.as_deref()).collect();
    assert_eq!(ids, ["area:2", "twice:3"]);
    let inner = &graphs[1];
    assert_eq!(
        inner.ops,
        ["Module", "FunctionDef", "arguments", "arg", "Return", "BinOp", "Constant", "Mult", "Name", "Load"]
    );
    assert_eq!(inner.edges, [(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (5, 6), (5, 7), (5, 8), (8, 9)]);
    // The function inside is a part of the one around it.
    assert!(graphs[0].ops.len() > inner.ops.len() && graphs[0].edges.len() == graphs[0].ops.len() - 1);
}

#[test]
fn siblings_have_no_order() {
    let dag = |source: &str| {
        let graph = read(Format::Python, source).remove(0);
        let ops = graph.ops.iter().map(|op| op.bytes().map(Op::from).sum()).collect();
        dag2seq(&Dag::new(ops, graph.edges).unwrap())
    };
    let forward = dag("def f(a):\n    return a - 1\n");
    assert_eq!(forward, dag("def f(b):\n    return 1 - b\n"));
    assert_ne!(forward, dag("def f(b):\n    return 1 + b\n"));
}

#[test]
fn what_is_no_source() {
    assert_eq!(message(Format::Python, b"x = 1\n"), "my.file: no graphs; give a file with at least one");
    let said = message(Format::Python, b"def f(:\n");
    assert!(said.starts_with("my.file: line 1: "), "{said}");
    assert_eq!(message(Format::Python, b"\xff"), "my.file: line 1: not UTF-8; save the source as UTF-8");
    let options = ReadOptions { op: Some("attribute".into()), ..ReadOptions::default() };
    assert_eq!(
        read_with(Format::Python, b"def f(): pass", &options).unwrap_err().to_string(),
        "my.file, graph 1 ('f:1'): node 'Module 0' has no attribute 'attribute'; it has 'type'"
    );
}

#[test]
fn a_folder_goes_on_after_what_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("pkg")).unwrap();
    fs::write(root.join("pkg/box.py"), AREA).unwrap();
    fs::write(root.join("pkg/old.py"), "print 1\n").unwrap();
    let mut ids = Vec::new();
    let mut read = || {
        ids.clear();
        let summary = read_path(root, None, &ReadOptions::default(), &mut |_| {}, &mut |graph| {
            ids.extend(graph.id);
            Ok(())
        });
        (summary, ids.clone())
    };
    fs::write(root.join("setup.py"), "import this\n").unwrap();
    let (summary, names) = read();
    let summary = summary.unwrap();
    assert_eq!(names, ["pkg/box:area:2", "pkg/box:twice:3"]);
    assert_eq!((summary.files, summary.empty_files, summary.broken_files.len()), (1, 1, 1));
    let remarks = summary.remarks().join("\n");
    assert!(remarks.contains("1 file without a graph\nskipped 1 file that cannot be read:\n"), "{remarks}");
    assert!(remarks.contains("old.py: line 1: "), "{remarks}");

    // Nothing but what is broken is an error, and so is something broken that was asked for by name.
    fs::remove_file(root.join("pkg/box.py")).unwrap();
    assert!(read().0.unwrap_err().to_string().contains("old.py: line 1: "));
    let one = read_path(&root.join("pkg/old.py"), None, &ReadOptions::default(), &mut |_| {}, &mut |_| Ok(()));
    assert!(one.unwrap_err().to_string().contains("old.py: line 1: "));
}
