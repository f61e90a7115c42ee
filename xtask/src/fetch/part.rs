//! The file that grows while it arrives: `name.part`, locked by one process, verified before it gets its name.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::manifest::RemoteFile;

/// An unfinished download. No other process writes it as long as this value lives.
pub struct Part {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Part {
    /// Opens or makes the part of `target` and the folder around it.
    pub fn of(target: &Path) -> Result<Part> {
        let remedy = "check the path, the permissions and the free space";
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("could not make {}; {remedy}", folder.display()))?;
        }
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let path = target.with_file_name(name);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("could not open {}; {remedy}", path.display()))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!("another process is downloading {}; wait until it has ended", path.display());
        }
        Ok(Part { path, _file: file })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that have arrived.
    pub fn len(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |meta| meta.len())
    }

    /// Opens it to append.
    pub fn append(&self) -> Result<File> {
        let file = OpenOptions::new().append(true).open(&self.path);
        file.with_context(|| format!("could not open {}", self.path.display()))
    }

    /// Shortens it. It is never removed while it is downloaded: the lock is on it.
    pub fn cut(&self, length: u64) -> Result<()> {
        let cut = OpenOptions::new().write(true).open(&self.path).and_then(|file| file.set_len(length));
        cut.with_context(|| format!("could not shorten {}", self.path.display()))
    }

    /// Compares size and digest with the manifest. Returns the digest, or what is wrong.
    pub fn verify(&self, file: &RemoteFile) -> Result<String> {
        let sha256 = sha256_of(&self.path).with_context(|| format!("could not read {}", self.path.display()))?;
        match (&file.sha256, file.bytes) {
            (Some(wanted), _) if *wanted != sha256 => {
                bail!("{} has sha256 {sha256}, but the manifest says {wanted}", file.path)
            }
            (_, Some(wanted)) if wanted != self.len() => {
                bail!("{} has {} bytes, but the manifest says {wanted}", file.path, self.len())
            }
            _ => Ok(sha256),
        }
    }

    /// Gives it its name, for good.
    pub fn publish(self, target: &Path) -> Result<()> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        synced.and_then(|()| std::fs::rename(&self.path, target)).with_context(|| {
            format!(
                "could not rename {} to {}; check the permissions and the free space",
                self.path.display(),
                target.display()
            )
        })?;
        if let Some(folder) = target.parent().and_then(|folder| File::open(folder).ok()) {
            // Keeps the name through a crash. Some systems cannot sync folders.
            folder.sync_all().ok();
        }
        Ok(())
    }

    /// Removes it: resuming it could never succeed.
    pub fn discard(self) -> Result<()> {
        std::fs::remove_file(&self.path).with_context(|| format!("could not remove {}", self.path.display()))
    }
}

/// Whether `target` is there and is what the manifest says.
pub fn is_complete(file: &RemoteFile, target: &Path) -> bool {
    let size_fits = std::fs::metadata(target).is_ok_and(|meta| file.bytes.is_none_or(|bytes| bytes == meta.len()));
    size_fits && file.sha256.as_ref().is_none_or(|wanted| sha256_of(target).is_ok_and(|seen| seen == *wanted))
}

/// The digest of a file in lower-case hexadecimal.
pub fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n_bytes => hasher.update(&buffer[..n_bytes]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
