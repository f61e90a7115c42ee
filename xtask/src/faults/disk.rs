//! Folders that cannot be written, and disks that are full.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::Bed;
use super::compare::same;
use super::mount::Small;
use super::table::Table;
use super::work::Work;

/// How full the disk is when the work begins: it has room for these shares of what an undisturbed run leaves.
const SHARES: [f64; 6] = [0.02, 0.1, 0.3, 0.5, 0.7, 0.9];

/// Limits of a file's size, in kilobytes. Every work has a larger file.
const SIZES: [u64; 2] = [2, 60];

/// Folders in which nobody can write, not even root: below a file, and on a disk that is mounted for reading.
pub fn unwritable(bed: &Bed, table: &mut Table) -> Result<()> {
    let file = bed.root.join("a-file");
    fs::write(&file, "no folder")?;
    for work in [bed.training(), bed.search(), bed.fetch()?] {
        let dir = file.join("below");
        table.add(format!("folder below a file, {}", work.name), 1, refused(&work, &dir));
    }
    match Small::mount(&bed.root.join("read-only"), 1000) {
        Err(error) => println!("faults: SKIPPED, a disk for reading only: {error:#}; run it as root"),
        Ok(disk) => {
            disk.remount("ro")?;
            for work in [bed.training(), bed.search(), bed.fetch()?] {
                let dir = disk.path().join(work.name);
                table.add(format!("disk for reading only, {}", work.name), 1, refused(&work, &dir));
            }
        }
    }
    Ok(())
}

/// The program ends with an error that names the folder and says what to do.
fn refused(work: &Work, dir: &Path) -> Result<String> {
    let complaint = work.finish(dir)?.err().context("it succeeded")?;
    helps(&complaint, dir)?;
    Ok("the error names the folder and says what to check".to_owned())
}

fn helps(complaint: &str, dir: &Path) -> Result<()> {
    ensure!(!complaint.contains("panicked"), "it panicked: {}", complaint.trim());
    ensure!(complaint.contains(&dir.display().to_string()), "the error names no file: {}", complaint.trim());
    let remedies = ["check the path", "free some space", "check the permissions"];
    ensure!(remedies.iter().any(|remedy| complaint.contains(remedy)), "no remedy: {}", complaint.trim());
    Ok(())
}

/// Files that are not allowed to grow: a full disk for those who may not mount one.
fn limited(bed: &Bed, table: &mut Table) -> Result<()> {
    for (work, folder) in [(bed.training(), "training"), (bed.search(), "search"), (bed.fetch()?, "fetch")] {
        let all = || -> Result<String> {
            for kilobytes in SIZES {
                let dir = bed.root.join(format!("limited-{folder}-{kilobytes}"));
                let complaint = work.finish_within(&dir, kilobytes)?.err().context("no file was large enough")?;
                helps(&complaint, &dir).with_context(|| format!("{kilobytes} kB"))?;
                work.complete(&dir)?;
                same(&bed.root.join(folder).join("calm"), &dir).with_context(|| format!("{kilobytes} kB"))?;
            }
            Ok("the errors name file and remedy; without the limit each ends as undisturbed".to_owned())
        };
        let outcome = all();
        table.add(format!("files of limited size, {}", work.name), SIZES.len(), outcome);
    }
    Ok(())
}

/// Fills the disk at several moments of the work; with more room it ends as undisturbed.
pub fn full(bed: &Bed, table: &mut Table) -> Result<()> {
    limited(bed, table)?;
    let works = [(bed.training(), "training"), (bed.search(), "search"), (bed.fetch()?, "fetch")];
    for (work, folder) in works {
        let calm = bed.root.join(folder).join("calm");
        let needed = size_of(&calm)?;
        let mut n_errors = 0;
        let mut all = || -> Result<String> {
            for (index, share) in SHARES.into_iter().enumerate() {
                let path = bed.root.join(format!("full-{folder}-{index}"));
                let kilobytes = ((needed as f64 * share) as u64 / 1024).max(8);
                let disk = Small::mount(&path, kilobytes)?;
                let dir = disk.path().join("out");
                if let Err(complaint) = work.finish(&dir)? {
                    n_errors += 1;
                    helps(&complaint, &dir).with_context(|| format!("{kilobytes} kB"))?;
                    ensure!(complaint.contains("No space left"), "another error: {}", complaint.trim());
                }
                // Checkpoints of two moments, and what is being written beside them.
                disk.remount(&format!("size={}k", 4 * needed / 1024 + 4096))?;
                work.complete(&dir)?;
                same(&calm, &dir).with_context(|| format!("{kilobytes} kB"))?;
            }
            match n_errors {
                0 => bail!("no disk was small enough"),
                n => Ok(format!("{n} errors name file and remedy; with more room each ends as undisturbed")),
            }
        };
        let outcome = all();
        if let Err(error) = &outcome
            && format!("{error:#}").contains("mount -t")
        {
            println!("faults: SKIPPED, a full disk: {error:#}; run it as root");
            continue;
        }
        table.add(format!("full disk, {}", work.name), SHARES.len(), outcome);
    }
    Ok(())
}

fn size_of(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir).with_context(|| format!("could not read {}", dir.display()))? {
        let path = entry?.path();
        bytes += if path.is_dir() { size_of(&path)? } else { fs::metadata(&path)?.len() };
    }
    Ok(bytes)
}
