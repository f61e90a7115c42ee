//! The folder of a run: its configuration, and the outcomes of its stages.

use std::fs;
use std::sync::LazyLock;

use pace_train::Error;
use pace_train::record::{Run, RunId, Stage};
use serde_json::json;

use crate::scratch;

/// Between the two files of an input.
const BETWEEN: u8 = 0x1e;

static ID: LazyLock<RunId> = LazyLock::new(|| RunId::new("na", "pace", 1, 2, json!({"epochs": 3})));

/// The configuration that belongs to the run, and the outcome of a stage.
pub fn seeds() -> Vec<Vec<u8>> {
    let config = serde_json::to_string_pretty(&*ID).expect("plain data");
    let file = |config: &str| [config.as_bytes(), &[BETWEEN], br#"{"seconds":1.5,"outcome":[0.25,-1.0]}"#].concat();
    vec![file(&config), file("")]
}

/// A run resumes with an outcome that parses, does the stage again otherwise, and refuses the folder of another run.
pub fn read(input: &[u8]) {
    let at = input.iter().position(|&byte| byte == BETWEEN).unwrap_or(input.len());
    let (config, stage) = (&input[..at], input.get(at + 1..).unwrap_or_default());
    let dir = scratch().join("record");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("stages")).expect("the scratch folder is writable");
    if !config.is_empty() {
        fs::write(dir.join("config.json"), config).expect("the scratch folder is writable");
    }
    fs::write(dir.join("stages/gp-1.json"), stage).expect("the scratch folder is writable");
    let mut run = match Run::start(&dir, ID.clone()) {
        Ok(run) => run,
        Err(error) => return assert!(error.to_string().contains("record"), "a message without a place: {error}"),
    };
    let outcome: Vec<f64> = run.once(&Stage::new("gp").seed(1), |_| Ok::<_, Error>(vec![0.5])).expect("a stage");
    assert!(outcome.iter().all(|value| value.is_finite()));
    run.finish("a title").expect("the scratch folder is writable");
    assert!(dir.join("results.json").exists());
}
