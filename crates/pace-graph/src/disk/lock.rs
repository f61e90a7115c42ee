//! [`WriterLock`]: one process at a time writes a folder or a file.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A lock file with the number of the process that holds it. Dropping it removes the file.
///
/// The system releases the lock when the process ends, however it ends, so a file that a killed process leaves behind keeps
/// nobody out. On a file system without locks everybody gets the lock.
#[derive(Debug)]
pub struct WriterLock {
    path: PathBuf,
    file: File,
}

/// Who holds a lock; `None` if the lock file does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// The process.
    pub process: Option<u32>,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "process {process}"),
            None => f.write_str("another process"),
        }
    }
}

impl WriterLock {
    /// Takes the lock, or says who holds it. Does not wait.
    ///
    /// # Errors
    /// If the lock file cannot be opened or written.
    pub fn take(path: &Path) -> io::Result<Result<WriterLock, Busy>> {
        loop {
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    file.read_to_string(&mut text).ok();
                    return Ok(Err(Busy { process: text.trim().parse().ok() }));
                }
                // The holder before may have removed the file after we opened it: then another one is the lock.
                Ok(()) if !is_at(&file, path) => {}
                Ok(()) | Err(TryLockError::Error(_)) => {
                    file.set_len(0)?;
                    file.rewind()?;
                    writeln!(file, "{}", std::process::id())?;
                    return Ok(Ok(WriterLock { path: path.to_owned(), file }));
                }
            }
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Removed while it is locked. Whoever opened it meanwhile finds it gone and opens another.
        if cfg!(unix) && is_at(&self.file, &self.path) {
            fs::remove_file(&self.path).ok();
        }
        self.file.unlock().ok();
    }
}

/// Whether `path` still leads to this open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata().map(place), fs::metadata(path).map(place)), (Ok(ours), Ok(theirs)) if ours == theirs)
}

/// Lock files stay there on other systems.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn the_holder_is_named_and_only_one_holds_it() {
        let path = std::env::temp_dir().join(format!("pace-lock-{}", std::process::id()));
        let lock = WriterLock::take(&path).unwrap().unwrap();
        assert_eq!(WriterLock::take(&path).unwrap().unwrap_err().process, Some(std::process::id()));
        drop(lock);
        assert!(!path.exists());
        // Threads that take it, drop it and so remove its file all the time never hold it together.
        let (holders, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        if let Ok(_lock) = WriterLock::take(&path).unwrap() {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            turns.fetch_add(1, Ordering::SeqCst);
                            assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1);
                        }
                    }
                });
            }
        });
        assert!(turns.load(Ordering::SeqCst) > 0 && !path.exists());
    }
}
