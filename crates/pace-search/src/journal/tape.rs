//! The file of a [`Journal`](super::Journal), read and written in whole lines.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;

/// How long to wait for an unfinished last line, before its writer counts as dead.
const PATIENCE: Duration = Duration::from_millis(10);
const N_WAITS: usize = 20;

#[derive(Debug)]
pub(super) struct Tape {
    path: PathBuf,
    file: File,
    /// Bytes read, up to the end of a line.
    read: u64,
    n_lines: usize,
}

impl Tape {
    /// Opens the file for the one process that asks, or creates it with `header`.
    pub(super) fn open(path: &Path, header: &str) -> Result<Tape, Error> {
        let mut tape = Tape::new(path, OpenOptions::new().read(true).append(true).create(true).open(path))?;
        // A file system without locks must not prevent a search.
        if let Err(TryLockError::WouldBlock) = tape.file.try_lock() {
            return Err(Error::JournalBusy { path: tape.path() });
        }
        let start = tape.unread()?;
        if !start.contains(&b'\n') && header.as_bytes().starts_with(&start) {
            // New, or killed while the header was written.
            tape.cut(0)?;
            tape.write(&format!("{header}\n"))?;
            if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
                // Keeps the name of the file through a crash. Some systems cannot sync folders.
                folder.sync_all().ok();
            }
        }
        Ok(tape)
    }

    pub(super) fn join(path: &Path) -> Result<Tape, Error> {
        Tape::new(path, OpenOptions::new().read(true).append(true).open(path))
    }

    fn new(path: &Path, file: io::Result<File>) -> Result<Tape, Error> {
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Tape { path, file, read: 0, n_lines: 0 }),
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

    /// Appends lines in one write and waits until they are on the disk.
    pub(super) fn append(&mut self, lines: &[String]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        self.mend(N_WAITS)?;
        self.write(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    /// Cuts off an unfinished last line. Call it only after the header has shown that this is our file.
    pub(super) fn repair(&mut self) -> Result<(), Error> {
        self.mend(0)
    }

    /// Makes the file end with a whole line. An unfinished one is cut off after its writer had time to finish it.
    fn mend(&mut self, n_waits: usize) -> Result<(), Error> {
        for wait in 0..=n_waits {
            let unread = self.unread()?;
            let whole = unread.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            let last = &unread[whole..];
            if last.is_empty() {
                return Ok(());
            }
            if super::line::parse(last).is_ok() {
                // Only the line break is missing, as after `echo -n`.
                return self.write("\n");
            }
            if wait == n_waits {
                self.cut(self.read + whole as u64)?;
            } else {
                std::thread::sleep(PATIENCE);
            }
        }
        Ok(())
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

    fn cut(&mut self, length: u64) -> Result<(), Error> {
        let result = self.file.set_len(length).and_then(|()| self.file.sync_data());
        result.map_err(|reason| self.failure(reason))
    }

    fn failure(&self, reason: io::Error) -> Error {
        Error::Io { path: self.path(), reason }
    }
}
