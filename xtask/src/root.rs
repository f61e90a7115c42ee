//! Where the workspace lies.

use std::path::{Path, PathBuf};

/// The root of the workspace.
///
/// Cargo tells the running process; the path of the build is only the fall-back, because a checkout may have moved.
pub fn workspace_root() -> PathBuf {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let xtask = xtask.filter(|dir| dir.ends_with("xtask")).unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    xtask.parent().map(Path::to_path_buf).unwrap_or(xtask)
}

/// Writes a file so that a reader sees the old content or the new one, never half of it.
pub fn write_atomically(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let partial = path.with_file_name(name);
    std::fs::write(&partial, content)?;
    std::fs::rename(&partial, path)
}

/// A fresh folder for one test, below the temporary folder of the machine.
#[cfg(test)]
pub fn test_dir(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("pace-xtask-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the temporary folder is writable");
    dir
}
