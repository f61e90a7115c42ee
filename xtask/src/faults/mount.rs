//! [`Small`]: a file system of a few kilobytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::capture;

/// A tmpfs, unmounted when this is dropped. Only root may mount.
pub struct Small {
    path: PathBuf,
}

impl Small {
    pub fn mount(path: &Path, kilobytes: u64) -> Result<Small> {
        std::fs::create_dir_all(path).with_context(|| format!("could not make {}", path.display()))?;
        let size = format!("size={kilobytes}k");
        capture(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path))?;
        Ok(Small { path: path.to_owned() })
    }

    /// Mounts again with other options, e.g. `size=9000k` or `ro`.
    pub fn remount(&self, options: &str) -> Result<()> {
        capture(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.path)).map(drop)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        if let Err(error) = capture(Command::new("umount").arg(&self.path)) {
            eprintln!("faults: {error:#}");
        }
    }
}
