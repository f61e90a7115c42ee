//! [`Claims`]: which process evaluates which query of a journal.
//!
//! A claim is a lock on a file named after the query. The system releases it when the process ends, however it ends. So a query is
//! never lost with its worker, and never evaluated by two workers at once.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pace_graph::disk::with_suffix;

use crate::error::Error;
use crate::study::Claim;

/// The claims that this process holds, by query.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// The folder of the locks; `None` for a journal in memory, which no other process sees.
    dir: Option<PathBuf>,
    held: HashMap<usize, (Claim, Option<File>)>,
}

impl Claims {
    /// Claims on the queries of the journal at `path`. Makes no folder before the first claim.
    pub(super) fn beside(path: &Path) -> Claims {
        Claims { dir: Some(with_suffix(path, ".claims")), held: HashMap::new() }
    }

    /// Claims a query; `None` if somebody has it. Afterwards the journal must be read: the query may have been answered before.
    pub(super) fn take(&mut self, id: usize, worker: &str) -> Result<Option<Claim>, Error> {
        if self.held.contains_key(&id) {
            return Ok(None);
        }
        let file = match &self.dir {
            None => None,
            Some(dir) => {
                let path = dir.join(id.to_string());
                let locked = fs::create_dir_all(dir).and_then(|()| lock(&path, worker));
                let locked = locked.map_err(|reason| Error::Io { path: path.display().to_string(), reason })?;
                if locked.is_none() {
                    return Ok(None);
                }
                locked
            }
        };
        let claim = Claim::new(id);
        self.held.insert(id, (claim.clone(), file));
        Ok(Some(claim))
    }

    /// Whether this claim is held.
    pub(super) fn holds(&self, claim: &Claim) -> bool {
        self.held.get(&claim.id).is_some_and(|(held, _)| held == claim)
    }

    /// Gives a query back.
    pub(super) fn release(&mut self, claim: &Claim) {
        if self.holds(claim) {
            self.held.remove(&claim.id);
        }
    }

    /// Forgets an answered query. Its file goes first: whoever has opened it meanwhile finds the answer after the lock.
    pub(super) fn forget(&mut self, id: usize) {
        if let (Some(_), Some(dir)) = (self.held.get(&id), &self.dir) {
            fs::remove_file(dir.join(id.to_string())).ok();
        }
        self.held.remove(&id);
    }
}

/// Locks a file and writes the name of its holder into it; `None` if another one holds it.
fn lock(path: &Path, worker: &str) -> io::Result<Option<File>> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // A file system without locks must not prevent a search. Two may evaluate a query there; the first answer holds.
        Ok(()) | Err(TryLockError::Error(_)) => {
            file.set_len(0)?;
            writeln!(file, "{worker}")?;
            Ok(Some(file))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn a_query_has_one_worker_at_a_time() {
        let path = std::env::temp_dir().join(format!("pace-claims-{}", std::process::id()));
        let (mut ours, mut theirs) = (Claims::beside(&path), Claims::beside(&path));
        let claim = ours.take(3, "a").unwrap().unwrap();
        assert!(ours.take(3, "a").unwrap().is_none() && theirs.take(3, "b").unwrap().is_none());
        assert!(theirs.take(4, "b").unwrap().is_some() && ours.holds(&claim));
        ours.release(&claim);
        let next = theirs.take(3, "b").unwrap().unwrap();
        assert!(!ours.holds(&claim) && theirs.holds(&next) && next != claim);
        theirs.forget(3);
        assert!(ours.take(3, "a").unwrap().is_some());
        std::fs::remove_dir_all(super::with_suffix(&path, ".claims")).unwrap();
    }
}
