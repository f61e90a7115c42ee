//! Unpacks a zip archive next to itself.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::capture;

/// Unpacks `archive` into the folder `target`, which appears only when it is complete.
///
/// An archive with a single folder at its top loses that folder. python3 does the work: the workspace needs it anyway,
/// and it checks the archive's own checksums.
pub fn unpack(archive: &Path, target: &Path) -> Result<()> {
    if target.is_dir() {
        eprintln!("fetch: {} is already unpacked", target.display());
        return Ok(());
    }
    eprintln!("fetch: unpacking {}", archive.display());
    let partial = target.with_extension("part");
    let _ = std::fs::remove_dir_all(&partial);
    capture(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(&partial)).with_context(|| {
        format!("{} could not be unpacked; delete it and fetch again, or unpack it by hand", archive.display())
    })?;
    let inside: Vec<_> = std::fs::read_dir(&partial)?.collect::<Result<_, _>>()?;
    let content = match inside.as_slice() {
        [only] if only.path().is_dir() => only.path(),
        _ => partial.clone(),
    };
    std::fs::rename(&content, target).with_context(|| format!("could not make {}", target.display()))?;
    let _ = std::fs::remove_dir_all(&partial);
    Ok(())
}
