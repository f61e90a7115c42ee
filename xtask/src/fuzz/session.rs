//! One run of libFuzzer on one target.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::program::Target;
use crate::cargo::capture;
use crate::root::workspace_root;

/// An input that takes longer is a hang; real ones take microseconds.
const TIMEOUT_SECONDS: u32 = 10;
/// An input that makes a reader hold more has claimed a size that nobody checked.
const MEMORY_MB: u32 = 2048;

/// What to run.
#[derive(Debug)]
pub struct Session {
    /// The reader.
    pub target: Target,
    /// How often.
    pub runs: u64,
    /// `target/fuzz`.
    pub folder: PathBuf,
    /// A folder in memory.
    pub scratch: PathBuf,
}

impl Session {
    /// Fuzzes; returns the number of executions, or an error that says how to see the crash again.
    pub fn run(&self) -> Result<u64> {
        let name = &self.target.name;
        let [corpus, crashes, logs] = ["corpus", "crashes", "logs"].map(|part| self.folder.join(part));
        let corpus = corpus.join(name);
        for dir in [&corpus, &crashes, &logs] {
            fs::create_dir_all(dir).with_context(|| format!("could not make {}", dir.display()))?;
        }
        // Also a first check: the program reads its own seeds.
        capture(self.command().env("PACE_FUZZ", "seeds").env("PACE_FUZZ_SEEDS", &corpus))?;
        let log = logs.join(format!("{name}.log"));
        let file = File::create(&log).with_context(|| format!("could not write {}", log.display()))?;
        let mut command = self.command();
        command
            .arg(&corpus)
            .arg(format!("-runs={}", self.runs))
            .arg(format!("-timeout={TIMEOUT_SECONDS}"))
            .arg(format!("-rss_limit_mb={MEMORY_MB}"))
            .arg(format!("-max_len={}", self.target.max_len))
            .arg(format!("-artifact_prefix={}/{name}-", crashes.display()))
            .arg(format!("-dict={}", workspace_root().join("fuzz/hostile.dict").display()))
            .arg("-print_final_stats=1")
            .stderr(file);
        let status = command.status().with_context(|| format!("could not start {}", self.target.program.display()))?;
        let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
        match executions(&text) {
            Some(executions) if status.success() => Ok(executions),
            _ => bail!("{}", self.complaint(&text, &log)),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.target.program);
        command.env("PACE_FUZZ_TARGET", &self.target.name).env("PACE_FUZZ_DIR", &self.scratch);
        command
    }

    /// What was found, and the command that shows it again.
    fn complaint(&self, log: &str, path: &std::path::Path) -> String {
        let Target { name, program, .. } = &self.target;
        let found = log.lines().find(|line| line.contains("panicked at") || line.starts_with("==")).unwrap_or_default();
        let input = log.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, input)| input));
        let replay = input.map_or_else(String::new, |input| {
            format!("\n  again: PACE_FUZZ_TARGET={name} {} {input}", program.display())
        });
        format!("{found}\n  log: {}{replay}", path.display())
    }
}

/// The number of executions in libFuzzer's final statistics.
fn executions(log: &str) -> Option<u64> {
    let line = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistics_are_found() {
        let log =
            "#100\tDONE   cov: 5\nstat::number_of_executed_units: 100000\nstat::average_exec_per_sec:     50000\n";
        assert_eq!(executions(log), Some(100_000));
        assert_eq!(executions("==7== ERROR: libFuzzer: deadly signal"), None);
    }

    #[test]
    fn a_crash_comes_with_the_command_that_replays_it() {
        let target = Target { name: "na".to_owned(), share: 1, max_len: 1, program: "/t/readers".into() };
        let session = Session { target, runs: 1, folder: "/t".into(), scratch: "/s".into() };
        let log = "thread '<unnamed>' panicked at src/na.rs:7:1:\nboom\nartifact_prefix='/t/'; Test unit written to /t/na-crash-1\n";
        let said = session.complaint(log, "/t/na.log".as_ref());
        assert!(said.contains("panicked at src/na.rs:7:1"), "{said}");
        assert!(said.ends_with("again: PACE_FUZZ_TARGET=na /t/readers /t/na-crash-1"), "{said}");
    }
}
