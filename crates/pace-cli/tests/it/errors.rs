//! Bad input: a message that says what and where, and nothing written.

use super::bench_space::write_graphs;
use super::{fails, ok};

#[test]
fn messages_name_file_row_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    write("cycle.jsonl", "{\"ops\": [\"a\", \"b\"], \"edges\": [[0, 1], [1, 0]]}\n");
    let message = fails(dir, "inspect cycle.jsonl");
    assert!(message.contains("cycle.jsonl") && message.contains("cycle through node"), "{message}");
    write("empty.jsonl", "");
    assert!(fails(dir, "inspect empty.jsonl").contains("no graphs"));
    assert!(fails(dir, "inspect nowhere.jsonl").contains("nowhere.jsonl"));
    write_graphs(&dir.join("graphs.jsonl"), 30, 1, false);
    let message = fails(dir, "predict graphs.jsonl");
    assert!(message.contains("0 of 30 graphs") && message.contains("--target"), "{message}");
    assert!(fails(dir, "encode graphs.jsonl graphs.jsonl --out x.npy").contains("model"));
    write("spec.json", "{}");
    assert!(fails(dir, "train graphs.jsonl --spec spec.json --out model").contains("--write-spec"));
    assert!(!dir.join("model").exists());
}

#[test]
fn a_model_refuses_what_it_does_not_know() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 60, 1, false);
    ok(dir, "train graphs.jsonl --out model --epochs 1");
    std::fs::write(dir.join("other.jsonl"), "{\"ops\": [\"load\", \"conv\"], \"edges\": [[0, 1]]}\n").unwrap();
    let message = fails(dir, "encode model other.jsonl --out x.npy");
    assert!(message.contains("row 1") && message.contains("'conv'"), "{message}");
    assert!(!dir.join("x.npy").exists());
    assert!(fails(dir, "generate model --out new.jsonl").contains("--objective vae"));
    let message = fails(dir, "train graphs.jsonl --out model --epochs 2");
    assert!(message.contains("another run"), "{message}");
}
