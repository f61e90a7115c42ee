//! [`Claims`]: which worker evaluates which query.
//!
//! A claim is a lock on a file named after the query. The system lets go of it when the process ends, however it ends, so a query is
//! never lost with its worker, and never evaluated by two at once.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The claims of a search on one file system.
#[derive(Clone, Debug)]
pub struct Claims {
    dir: PathBuf,
}

/// A claim, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    _file: File,
}

impl Claims {
    /// The claims in a folder, which is made.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn in_folder(dir: &Path) -> Result<Claims> {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(Claims { dir: dir.to_owned() })
    }

    /// Claims a query; `None` if another worker has it. Afterwards the journal must be read: the query may have been answered
    /// just before.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn take(&self, id: usize) -> Result<Option<Claim>> {
        let path = self.dir.join(id.to_string());
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        Ok(file.try_lock().is_ok().then_some(Claim { _file: file }))
    }

    /// Forgets an answered query.
    pub fn forget(&self, id: usize) {
        fs::remove_file(self.dir.join(id.to_string())).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn a_query_has_one_worker_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let claims = Claims::in_folder(&dir.path().join("claims")).unwrap();
        let first = claims.take(3).unwrap();
        assert!(first.is_some() && claims.take(3).unwrap().is_none() && claims.take(4).unwrap().is_some());
        drop(first);
        assert!(claims.take(3).unwrap().is_some());
        claims.forget(3);
        assert!(claims.take(3).unwrap().is_some());
    }
}
