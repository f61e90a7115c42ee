//! A program that is killed and started again ends with the same numbers as one that was left alone.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const NA: &str = env!("CARGO_BIN_EXE_na");
const NAS101: &str = env!("CARGO_BIN_EXE_nas101");

/// A smoke run on the embedded stand-in, with a checkpoint every few steps.
fn start(program: &str, out: &Path, options: &[&str]) -> Child {
    Command::new(program)
        .args(["--smoke", "--seeds", "1", "--threads", "2", "--save-every", "0", "--out"])
        .arg(out)
        .args(options)
        // A folder that does not exist: the embedded stand-in, also where the data is at hand.
        .env("PACE_DATA", out.join("nothing"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built with this test")
}

fn metrics(out: &Path) -> Value {
    let results: Value = serde_json::from_slice(&std::fs::read(out.join("results.json")).unwrap()).unwrap();
    assert_eq!(results["data"], "embedded");
    let mut metrics = results["metrics"].clone();
    // Numbers that measure the machine and not the model.
    metrics.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_per_s") && !name.ends_with("_seconds"));
    metrics
}

/// Waits until a file of the run has a line with `text`.
fn wait_for(file: &Path, text: &str) {
    let start = Instant::now();
    while !std::fs::read_to_string(file).is_ok_and(|log| log.contains(text)) {
        assert!(start.elapsed() < Duration::from_secs(300), "no {text} in {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_runs_end_with_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let (left_alone, killed) = (dir.path().join("left-alone"), dir.path().join("killed"));
    let start = |out: &Path| start(NA, out, &["--epochs", "6"]);
    assert!(start(&left_alone).wait().unwrap().success());
    // In the middle of training, again later in training, and between two surrogates.
    for moment in ["\"epoch\":2", "\"epoch\":4", "\"stage\":\"gp-1-1\""] {
        let mut child = start(&killed);
        wait_for(&killed.join("events.jsonl"), moment);
        // On Unix this is kill -9.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!killed.join("results.json").exists(), "it was too fast to be killed at {moment}");
    }
    assert!(start(&killed).wait().unwrap().success());
    let log = std::fs::read_to_string(killed.join("events.jsonl")).unwrap();
    assert_eq!(log.matches("\"start\":\"again\"").count(), 3);
    assert_eq!(log.matches("\"epoch\":1,").count(), 1, "the first epoch was trained once");
    assert_eq!(metrics(&left_alone), metrics(&killed));
}

#[test]
fn killed_searches_end_with_the_same_trace() {
    let dir = tempfile::tempdir().unwrap();
    let (left_alone, killed) = (dir.path().join("left-alone"), dir.path().join("killed"));
    let start = |out: &Path| start(NAS101, out, &["--methods", "evolution,dngo_ls", "--queries", "90"]);
    assert!(start(&left_alone).wait().unwrap().success());
    // Between two answers of a search that breeds, and twice in one that learns.
    let journals = ["search-evolution-1.jsonl", "search-dngo_ls-1.jsonl"];
    for (journal, moment) in
        [(journals[0], "\"tell\":9,"), (journals[1], "\"tell\":20,"), (journals[1], "\"tell\":50,")]
    {
        let mut child = start(&killed);
        wait_for(&killed.join(journal), moment);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!killed.join("results.json").exists(), "it was too fast to be killed at {moment}");
    }
    assert!(start(&killed).wait().unwrap().success());
    for journal in journals {
        let read = |out: &Path| std::fs::read_to_string(out.join(journal)).unwrap();
        assert_eq!(read(&left_alone), read(&killed), "{journal}");
        assert_eq!(read(&killed).matches("\"tell\":").count(), 90, "every query is answered once");
    }
    assert_eq!(metrics(&left_alone), metrics(&killed));
}
