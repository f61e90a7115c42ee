//! What a newcomer does, in that order.

use super::bench_space::write_graphs;
use super::{json, ok};

#[test]
fn from_a_file_of_graphs_to_vectors_predictions_and_new_graphs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 300, 1, true);

    let found = json(dir, "inspect graphs.jsonl --write-spec spec.json");
    assert_eq!((found["graphs"].as_u64(), found["invalid"].as_u64()), (Some(300), Some(0)));
    assert_eq!(found["spec"]["added"]["output"], true, "several sinks, so a virtual output");
    assert!(ok(dir, "inspect graphs.jsonl --spec spec.json").contains("300 graphs"));

    ok(dir, "train graphs.jsonl --out model --epochs 2");
    assert!(dir.join("model/results.json").exists() && dir.join("model/report.html").exists());
    for ending in ["npy", "safetensors", "parquet", "jsonl"] {
        let found = json(dir, &format!("encode model graphs.jsonl --out vectors.{ending}"));
        assert_eq!((found["graphs"].as_u64(), found["width"].as_u64()), (Some(300), Some(64)), "{ending}");
    }
    // The same graphs in another order, renumbered by another format: the same vectors.
    let lines: Vec<String> =
        std::fs::read_to_string(dir.join("graphs.jsonl")).unwrap().lines().map(str::to_owned).collect();
    let reversed: Vec<&str> = lines.iter().rev().map(String::as_str).collect();
    std::fs::write(dir.join("reversed.jsonl"), reversed.join("\n")).unwrap();
    ok(dir, "convert reversed.jsonl reversed.graphml");
    ok(dir, "encode model reversed.graphml --out again.jsonl");
    assert_eq!(vectors(&dir.join("vectors.jsonl")), vectors(&dir.join("again.jsonl")));

    let found = json(dir, "predict graphs.jsonl --model model --folds 3");
    let methods = found["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 6);
    assert!(methods.iter().all(|method| method["kendall"].as_f64().unwrap() > 0.2), "{found:#}");

    let near = json(dir, "similar model graphs.jsonl --of g7 -k 3");
    assert_eq!(near.as_array().unwrap().len(), 3);
    assert!(near[0]["distance"].as_f64() <= near[2]["distance"].as_f64());
    ok(dir, "report model --graphs graphs.jsonl");
}

fn vectors(path: &std::path::Path) -> std::collections::BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap();
    let parse = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        (line["id"].as_str().unwrap().to_owned(), line["vector"].to_string())
    };
    text.lines().map(parse).collect()
}

#[test]
fn an_autoencoder_generates_valid_graphs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 200, 2, false);
    ok(dir, "train graphs.jsonl --objective vae --out model --epochs 3 --latent 16");
    let found = json(dir, "generate model -n 30 --out new.jsonl");
    assert_eq!(found["graphs"].as_u64(), Some(30));
    ok(dir, "inspect new.jsonl --spec model/spec.json");
    ok(dir, "generate model -n 5 --near graphs.jsonl --id g3 --out near.dot");
    ok(dir, "inspect near.dot --spec model/spec.json");
}

#[test]
fn a_supervised_model_predicts_and_a_killed_training_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 300, 3, true);
    let line = "train graphs.jsonl --objective supervised --epochs 3";
    ok(dir, &format!("{line} --out whole"));
    // Ended after a while, wherever that is, and run again.
    let mut child = super::pace(dir).args(line.split_whitespace()).args(["--out", "killed"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    child.kill().ok();
    child.wait().unwrap();
    ok(dir, &format!("{line} --out killed"));
    let weights = |name: &str| std::fs::read(dir.join(name).join("encoder.safetensors")).unwrap();
    assert_eq!(weights("whole"), weights("killed"));
    let found = json(dir, "predict graphs.jsonl --model whole --folds 2 --tune");
    assert_eq!(found["methods"].as_array().unwrap().len(), 8);
    write_graphs(&dir.join("new.jsonl"), 10, 4, false);
    let applied = json(dir, "predict new.jsonl --model whole --apply");
    assert!(applied.as_array().unwrap().len() == 10 && applied[0]["mean"].as_f64().is_some());
    ok(dir, "predict graphs.jsonl --folds 2 --on new.jsonl --out predictions.jsonl");
    assert_eq!(std::fs::read_to_string(dir.join("predictions.jsonl")).unwrap().lines().count(), 10);
}

#[test]
fn shells_and_manuals() {
    let dir = tempfile::tempdir().unwrap();
    assert!(ok(dir.path(), "completions bash").contains("pace"));
    ok(dir.path(), "man pages");
    assert!(dir.path().join("pages/pace-search.1").exists());
    for command in
        ["inspect", "convert", "train", "encode", "predict", "generate", "similar", "search", "answer", "report"]
    {
        assert!(ok(dir.path(), &format!("{command} --help")).contains("Examples:"), "{command}");
    }
}
