//! The file of a [`Journal`](super::Journal), read and written in whole lines.
//!
//! Two locks, both released by the system when their process ends:
//! - that of the one process that asks, for as long as it has the journal open: the file `<journal>.lock`;
//! - that of whoever appends, for one append: the journal itself. Under it the file is read to its end first.
//!
//! Nothing is ever cut off: half a line that a dead writer left is overwritten with blanks, exactly its bytes. So nobody can
//! erase an answer, not even one that a writer without the lock (a shell's `>>`) appends at that very moment.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pace_graph::disk::{WriterLock, sync_folder_of, with_suffix};

use crate::error::Error;

/// How long to wait for an unfinished last line, before its writer counts as dead.
const PATIENCE: Duration = Duration::from_millis(10);
/// So many times, if the line may still be in the making.
pub(super) const N_WAITS: usize = 20;
/// How long others may hold the lock of an append. It takes them milliseconds.
const MOST_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Tape {
    path: PathBuf,
    file: File,
    /// Bytes read, up to the end of a line.
    read: u64,
    n_lines: usize,
    /// The lock of the process that asks.
    _asker: Option<WriterLock>,
}

impl Tape {
    /// Opens the file for the one process that asks, or creates it with `header`.
    pub(super) fn open(path: &Path, header: &str) -> Result<Tape, Error> {
        let lock = with_suffix(path, ".lock");
        let failure = |reason| Error::Io { path: lock.display().to_string(), reason };
        let busy = |holder| Error::JournalBusy { path: path.display().to_string(), holder };
        let asker = WriterLock::take(&lock).map_err(failure)?.map_err(busy)?;
        let options = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut tape = Tape::new(path, options, Some(asker))?;
        tape.lock()?;
        let start = tape.unread()?;
        if !start.contains(&b'\n') && header.as_bytes().starts_with(&start) {
            // New, or killed while the header was written: the rest of it.
            tape.write(&format!("{}\n", &header[start.len()..]))?;
            sync_folder_of(path);
        }
        tape.unlock();
        Ok(tape)
    }

    pub(super) fn join(path: &Path) -> Result<Tape, Error> {
        Tape::new(path, OpenOptions::new().read(true).append(true).open(path), None)
    }

    fn new(path: &Path, file: io::Result<File>, asker: Option<WriterLock>) -> Result<Tape, Error> {
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Tape { path, file, read: 0, n_lines: 0, _asker: asker }),
            Err(reason) => Err(Error::Io { path: path.display().to_string(), reason }),
        }
    }

    pub(super) fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Lines read so far.
    pub(super) fn n_lines(&self) -> usize {
        self.n_lines
    }

    /// The header.
    pub(super) fn read_first(&mut self) -> Result<String, Error> {
        let unread = self.unread()?;
        let end = unread.iter().position(|&byte| byte == b'\n').unwrap_or(unread.len());
        self.read = (end + 1).min(unread.len()) as u64;
        self.n_lines = 1;
        Ok(String::from_utf8_lossy(&unread[..end]).into_owned())
    }

    /// The whole lines that were not read yet. An unfinished last line is left for later.
    pub(super) fn read_on(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let unread = self.unread()?;
        let Some(end) = unread.iter().rposition(|&byte| byte == b'\n') else { return Ok(Vec::new()) };
        let lines: Vec<Vec<u8>> = unread[..end].split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        self.read += end as u64 + 1;
        self.n_lines += lines.len();
        Ok(lines)
    }

    /// Takes the lock of an append. Call [`unlock`](Self::unlock) soon.
    pub(super) fn lock(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            match self.file.try_lock() {
                Err(TryLockError::WouldBlock) if start.elapsed() < MOST_WAIT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => return Err(Error::JournalStuck { path: self.path() }),
                // A file system without locks must not prevent a search.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
            }
        }
    }

    pub(super) fn unlock(&mut self) {
        self.file.unlock().ok();
    }

    /// Appends lines in one write and waits until they are on the disk. Call it under the lock, after
    /// [`mend`](Self::mend).
    pub(super) fn append(&mut self, lines: &[String]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        self.write(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    /// Makes the file ready for a new line, under the lock: an unfinished last line is blanked out after its writer had time
    /// to finish it.
    pub(super) fn mend(&mut self, n_waits: usize) -> Result<(), Error> {
        for wait in 0..=n_waits {
            let unread = self.unread()?;
            let whole = unread.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            let last = &unread[whole..];
            if last.trim_ascii().is_empty() {
                return Ok(());
            }
            if super::line::parse(last).is_ok() {
                // Only the line break is missing, as after `echo -n`.
                return self.write("\n");
            }
            if wait == n_waits {
                return self.blank(self.read + whole as u64, last.len());
            }
            std::thread::sleep(PATIENCE);
        }
        Ok(())
    }

    /// Overwrites some bytes with blanks. What follows them, now or later, is a line of its own.
    fn blank(&mut self, first: u64, n_bytes: usize) -> Result<(), Error> {
        // Not by the handle that appends: its writes go to the end, wherever they are aimed.
        let file = OpenOptions::new().write(true).open(&self.path);
        let write = |mut file: File| {
            file.seek(SeekFrom::Start(first))?;
            file.write_all(&vec![b' '; n_bytes])?;
            file.sync_data()
        };
        file.and_then(write).map_err(|reason| self.failure(reason))
    }

    fn unread(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let start = SeekFrom::Start(self.read);
        let result = self.file.seek(start).and_then(|_| self.file.read_to_end(&mut bytes));
        result.map_err(|reason| self.failure(reason))?;
        Ok(bytes)
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        let result = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        result.map_err(|reason| self.failure(reason))
    }

    fn failure(&self, reason: io::Error) -> Error {
        Error::Io { path: self.path(), reason }
    }
}
