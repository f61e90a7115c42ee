//! Two processes on one folder, and on one journal.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::Bed;
use super::compare::same;
use super::table::Table;
use crate::cargo::capture;

/// A second process on the folder of a run is sent away, by the number of the first; the first is not disturbed.
pub fn two_runs(bed: &Bed, table: &mut Table) -> Result<()> {
    let (work, dir, calm) = (bed.training(), bed.root.join("two-runs"), bed.root.join("training/calm"));
    let mut first = work.start(&dir)?;
    first.wait_for("\"epoch\":1,")?;
    let second = work.finish(&dir)?;
    let first_ended = first.wait()?.success();
    let check = || -> Result<String> {
        let Err(complaint) = second else { bail!("the second process was let in") };
        let holder = format!("process {}", first.id());
        for part in [holder.as_str(), &dir.display().to_string(), "wait until it has ended"] {
            ensure!(complaint.contains(part), "the error does not say {part:?}: {}", complaint.trim());
        }
        ensure!(first_ended, "the first process failed");
        same(&calm, &dir)?;
        Ok("the second is sent away by the number of the first, which ends undisturbed".to_owned())
    };
    table.add("two processes on one run", 1, check());
    Ok(())
}

/// Other processes (shells) give second, wrong answers to every query while the search runs: the first ones hold.
pub fn late_answers(bed: &Bed, table: &mut Table) -> Result<()> {
    let (work, dir, calm) = (bed.search(), bed.root.join("late"), bed.root.join("search/calm"));
    let mut running = work.start(&dir)?;
    let (mut n_late, mut given) = (0, std::collections::BTreeSet::new());
    // Some seconds of the search; the verdict is over all that came in time.
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(20));
        for journal in journals(&dir) {
            let text = fs::read_to_string(&journal).unwrap_or_default();
            let Some(id) = text.lines().rev().find_map(answered) else { continue };
            if given.insert((journal.clone(), id)) {
                let line = format!("echo '{{\"tell\": {id}, \"score\": 12345}}' >> '{}'", journal.display());
                capture(Command::new("sh").args(["-c", &line]))?;
                n_late += 1;
            }
        }
    }
    let ended = running.wait()?.success();
    let check = || -> Result<String> {
        ensure!(ended, "the search failed: {}", fs::read_to_string(super::work::errors_of(&dir))?.trim());
        ensure!(n_late > 0, "the search ended before anybody could answer");
        for journal in journals(&dir) {
            let text = fs::read_to_string(&journal)?;
            let own: String =
                text.lines().filter(|line| !line.contains("12345")).map(|line| format!("{line}\n")).collect();
            fs::write(&journal, own)?;
        }
        same(&calm, &dir)?;
        Ok("the first answers hold, and the search ends as undisturbed".to_owned())
    };
    table.add("two processes answer one journal", n_late, check());
    Ok(())
}

fn answered(line: &str) -> Option<usize> {
    serde_json::from_str::<serde_json::Value>(line).ok()?.get("tell")?.as_u64().map(|id| id as usize)
}

fn journals(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_journal = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension == "jsonl") && !path.ends_with("events.jsonl")
    };
    entries.filter(is_journal).collect()
}
