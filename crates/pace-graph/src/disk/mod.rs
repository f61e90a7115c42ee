//! What the crates that write files share: [`WriterLock`], one writer at a time; [`write_whole`], never half a file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

mod lock;

pub use lock::{Busy, WriterLock};

/// Writes a file under another name, syncs it, renames it and syncs the folder. A crash at any moment leaves the old file or
/// the new one, whole.
///
/// # Errors
/// The system's. The old file is then as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    stream_whole(path, |file| file.write_all(bytes))
}

/// [`write_whole`] for content that comes piece by piece.
///
/// # Errors
/// Those of `write`, and the system's. The old file is then as it was.
pub fn stream_whole(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let part = with_suffix(path, ".part");
    let mut file = BufWriter::new(File::create(&part)?);
    let synced = write(&mut file).and_then(|()| file.flush()).and_then(|()| file.get_ref().sync_all());
    if let Err(error) = synced.and_then(|()| fs::rename(&part, path)) {
        // On a full disk the part would take the space that the user is about to free.
        fs::remove_file(&part).ok();
        return Err(error);
    }
    sync_folder_of(path);
    Ok(())
}

/// Makes the name of a new or renamed file survive a crash. Some systems cannot sync folders; nothing can be done there.
pub fn sync_folder_of(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        folder.sync_all().ok();
    }
}

/// The file beside `path` whose name ends with `suffix`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = std::env::temp_dir().join(format!("pace-disk-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.json");
        write_whole(&path, b"old").unwrap();
        // A folder in the way of the part.
        fs::create_dir(folder.join("a.json.part")).unwrap();
        assert!(write_whole(&path, b"new").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        fs::remove_dir(folder.join("a.json.part")).unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no part is left");
        fs::remove_dir_all(&folder).unwrap();
    }
}
