//! The command from the outside: what a newcomer does, and what goes wrong.

mod bench_space;
mod bn;
mod errors;
mod guide;
mod journey;
mod study;

use std::path::Path;
use std::process::{Command, Output};

/// `pace` in a folder, on one thread.
pub fn pace(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pace"));
    command.current_dir(dir).args(["--threads", "1"]);
    command
}

/// Runs a command line of words without blanks; returns what it printed.
pub fn ok(dir: &Path, line: &str) -> String {
    let output = pace(dir).args(line.split_whitespace()).output().expect("pace starts");
    assert!(output.status.success(), "pace {line}\n{}", said(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a command line that must fail with code 1; returns the message.
pub fn fails(dir: &Path, line: &str) -> String {
    let output = pace(dir).args(line.split_whitespace()).output().expect("pace starts");
    assert_eq!(output.status.code(), Some(1), "pace {line}\n{}", said(&output));
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    let last = message.lines().last().unwrap_or_default();
    assert!(last.starts_with("pace: ") && !message.contains("panicked"), "pace {line}\n{message}");
    message
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The JSON that a command prints.
pub fn json(dir: &Path, line: &str) -> serde_json::Value {
    serde_json::from_str(&ok(dir, &format!("--json {line}"))).expect("JSON")
}
