//! Checkpoints of which a part is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Bed;
use super::compare::same;
use super::table::Table;
use super::work::{Work, errors_of};

/// Cuts each file of the last checkpoint in half; then those of both checkpoints.
pub fn checkpoints(bed: &Bed, table: &mut Table) -> Result<()> {
    let (work, calm) = (bed.training(), bed.root.join("training/calm"));
    for name in ["state.json", "weights-", "optimiser-"] {
        let dir = bed.root.join(format!("truncated-{}", name.trim_matches('-')));
        let outcome = last_one(&work, &dir, &calm, name);
        table.add(format!("truncated checkpoint, {name}"), 1, outcome);
    }
    let outcome = both(&work, &bed.root.join("truncated-both"), &calm);
    table.add("truncated checkpoints, the last two", 1, outcome);
    Ok(())
}

/// The run resumes from the checkpoint before, says so, and ends as undisturbed.
fn last_one(work: &Work, dir: &Path, calm: &Path, name: &str) -> Result<String> {
    killed_in_training(work, dir)?;
    let path = files(dir, name)?.pop().context("no such file in the checkpoint")?;
    halve(&path)?;
    work.complete(dir)?;
    let warning = fs::read_to_string(errors_of(dir))?;
    ensure!(warning.contains(&path.display().to_string()), "no warning names {}: {warning}", path.display());
    same(calm, dir)?;
    Ok("a warning names the file, the checkpoint before serves, the end is the undisturbed one".to_owned())
}

/// The error names a file and the folder to delete; without that folder the run ends as undisturbed.
fn both(work: &Work, dir: &Path, calm: &Path) -> Result<String> {
    killed_in_training(work, dir)?;
    files(dir, "weights-")?.iter().try_for_each(|path| halve(path))?;
    let complaint = work.finish(dir)?.err().context("it resumed from half a checkpoint")?;
    let folder = dir.join("checkpoint-1");
    for part in ["weights-", "restore the file", &format!("delete {}", folder.display())] {
        ensure!(complaint.contains(part), "the error does not say {part:?}: {}", complaint.trim());
    }
    fs::remove_dir_all(&folder)?;
    work.complete(dir)?;
    same(calm, dir)?;
    Ok("the error names file and remedy, and the remedy leads to the undisturbed end".to_owned())
}

/// A run that was killed after it had written several checkpoints.
fn killed_in_training(work: &Work, dir: &Path) -> Result<()> {
    let mut running = work.start(dir)?;
    running.wait_for("\"epoch\":2,")?;
    std::thread::sleep(Duration::from_millis(50));
    ensure!(running.kill()?, "it ended before it could be killed");
    Ok(())
}

/// The files of the checkpoint with this beginning, that of the last step last.
fn files(dir: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir.join("checkpoint-1"))?.collect::<Result<Vec<_>, _>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let is_wanted = |path: &PathBuf| {
        path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
            && path.extension().is_none_or(|extension| extension != "part")
    };
    let mut found: Vec<PathBuf> = paths.filter(is_wanted).collect();
    // A kill may leave the weights of a save that was not finished; the checkpoint does not name those.
    let state = fs::read_to_string(dir.join("checkpoint-1/state.json"))?;
    let before = fs::read_to_string(dir.join("checkpoint-1/previous.json"))?;
    let file_name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    found.retain(|path| name == "state.json" || [&state, &before].iter().any(|text| text.contains(&file_name(path))));
    found.sort_by_key(|path| state.contains(&file_name(path)));
    Ok(found)
}

fn halve(path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    fs::write(path, &bytes[..bytes.len() / 2]).with_context(|| format!("could not write {}", path.display()))
}
