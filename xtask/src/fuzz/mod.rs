//! `cargo xtask ci fuzz`: every reader against inputs that libFuzzer grows from valid ones, guided by coverage.
//!
//! The targets are those of the crate `fuzz/`, which has a workspace of its own. Everything it makes lies below `target/fuzz`:
//! `corpus/<target>` (kept from run to run), `crashes`, `logs`.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::root::workspace_root;
use crate::setup::Environment;

mod program;
mod session;

use program::{MODEL, Program, Target};
use session::Session;

/// Options of `ci fuzz`.
#[derive(Debug, clap::Args)]
#[group(id = "fuzz")]
pub struct Options {
    /// fuzz: executions of all targets together
    #[arg(long, default_value_t = 10_500_000, value_name = "N")]
    executions: u64,
    /// fuzz: only targets of this name; may be given several times
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
}

/// Builds the programs and fuzzes all targets, as many at a time as there are cores.
pub fn run(environment: &Environment, options: &Options) -> Result<()> {
    let folder = workspace_root().join("target/fuzz");
    let mut targets = Program::build(environment, "readers")?.targets()?;
    // Without Burn if that is enough for what was asked for.
    let known = |targets: &[Target], name: &String| targets.iter().any(|target| target.name == *name);
    if options.targets.is_empty() || !options.targets.iter().all(|name| known(&targets, name)) {
        targets.extend(Program::build(environment, MODEL)?.targets()?);
    }
    if let Some(unknown) = options.targets.iter().find(|name| !known(&targets, name)) {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        bail!("there is no fuzz target {unknown:?}; there are {}", names.join(", "));
    }
    targets.retain(|target| options.targets.is_empty() || options.targets.contains(&target.name));
    let scratch = Scratch::make()?;
    let sessions = sessions(&targets, options.executions, &folder, &scratch.0);
    eprintln!("fuzz: {} targets, {} executions; logs in {}", targets.len(), options.executions, folder.display());
    let start = Instant::now();
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let n_workers = std::thread::available_parallelism().map_or(1, usize::from).min(sessions.len());
    std::thread::scope(|scope| {
        for _ in 0..n_workers {
            scope.spawn(|| {
                while let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = session.run();
                    eprintln!("fuzz: {}", line(session, &outcome));
                    outcomes.lock().expect("no worker panics").push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no worker panics");
    let total: u64 = outcomes.iter().flatten().sum();
    println!("fuzz: {total} executions of {} targets in {:.0} s", outcomes.len(), start.elapsed().as_secs_f64());
    match outcomes.iter().filter(|outcome| outcome.is_err()).count() {
        0 => Ok(()),
        n => bail!("{n} targets failed; each crash becomes a test of the ordinary suite and a fix"),
    }
}

/// The executions of all targets by their shares.
fn sessions(targets: &[Target], executions: u64, folder: &std::path::Path, scratch: &std::path::Path) -> Vec<Session> {
    let shares: u64 = targets.iter().map(|target| target.share).sum();
    let session = |target: &Target| {
        let runs = (executions * target.share).div_ceil(shares.max(1));
        Session { target: target.clone(), runs, folder: folder.to_owned(), scratch: scratch.to_owned() }
    };
    targets.iter().map(session).collect()
}

fn line(session: &Session, outcome: &Result<u64>) -> String {
    let name = &session.target.name;
    match outcome {
        Ok(executions) => format!("{name}: {executions} executions, nothing found"),
        Err(error) => format!("{name}: FAILED: {error:#}"),
    }
}

/// A folder in memory, if the system has one, for readers that want a path.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Scratch> {
        let memory = PathBuf::from("/dev/shm");
        let root = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let dir = root.join(format!("pace-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&dir).with_context(|| format!("could not make {}", dir.display()))?;
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_at_least_what_was_asked_for() {
        let target = |share| Target { name: "a".to_owned(), share, max_len: 1, program: PathBuf::new() };
        let sessions = sessions(&[target(20), target(1), target(7)], 1000, "".as_ref(), "".as_ref());
        let runs: Vec<u64> = sessions.iter().map(|session| session.runs).collect();
        assert_eq!(runs, [715, 36, 250]);
    }
}
