//! A copy of rayon-core whose waiting ThreadSanitizer can see.
//!
//! Who calls rayon from outside its pool waits on a `Condvar`, which is in the compiled standard library: ThreadSanitizer does not
//! see that the caller goes on after the work, and reports every outcome of every parallel section as a race (2,328 reports
//! where 64 tests passed). The copy waits on an atomic instead, which it sees. Nothing else differs, and only the
//! tests under ThreadSanitizer use it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cargo::{capture, cargo};
use crate::setup::Environment;

const CRATE: &str = "rayon-core";
const LATCH_FILE: &str = "src/latch.rs";
/// The latch of callers outside the pool stands between these two in that file.
const BEGIN: &str = "pub(super) struct LockLatch {";
const END: &str = "/// Once latches are used to implement one-time blocking";

/// The same latch on an atomic, with the trait's own signature.
const LATCH: &str = include_str!("latch.txt");

/// Copies the crate into `folder` and changes the latch; returns where it is.
pub fn copy(environment: &Environment, folder: &Path) -> Result<PathBuf> {
    let text = capture(cargo(environment).args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let manifest =
        packages.iter().find(|package| package["name"] == CRATE).and_then(|found| found["manifest_path"].as_str());
    let source = Path::new(manifest.with_context(|| format!("{CRATE} is not among our dependencies"))?);
    let source = source.parent().context("a manifest lies in a folder")?;
    let target = folder.join(CRATE);
    copy_files(source, &target)
        .with_context(|| format!("could not copy {} to {}", source.display(), target.display()))?;
    let original = source.join(LATCH_FILE);
    let latch = std::fs::read_to_string(&original).with_context(|| format!("could not read {}", original.display()))?;
    let (path, latch) = (target.join(LATCH_FILE), changed(&latch)?);
    // A file that is written again is newer, and cargo builds rayon and all that stands on it again.
    if std::fs::read_to_string(&path).is_ok_and(|present| present == latch) {
        return Ok(target);
    }
    std::fs::write(&path, latch).with_context(|| format!("could not write {}", path.display()))?;
    Ok(target)
}

/// The file with the other latch in it.
fn changed(text: &str) -> Result<String> {
    let (before, rest) =
        text.split_once(BEGIN).context("this version of rayon-core has another latch; look at its latch.rs")?;
    let (_, after) =
        rest.split_once(END).context("this version of rayon-core has another latch; look at its latch.rs")?;
    Ok(format!("{before}{LATCH}{END}{after}").replace("use crate::sync::{Condvar, Mutex};\n", ""))
}

/// Copies a folder. Files that are there already are left alone, so that cargo does not build them again.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_files(&source, &target)?;
        } else if !target.exists() {
            std::fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latch_is_changed() {
        let text = format!("before\n{BEGIN}\n    m: Mutex<bool>,\n}}\n{END}\nafter\n");
        let changed = changed(&text).unwrap();
        assert!(changed.starts_with("before\npub(super) struct LockLatch {\n    is_set"), "{changed}");
        assert!(changed.ends_with(&format!("{END}\nafter\n")) && !changed.contains("Mutex<bool>"), "{changed}");
        assert!(super::changed("another file").is_err());
    }
}
