//! One file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::Error;
use crate::extractor::{Extracted, Extractor};
use crate::function::Function;
use crate::parse::MAX_SOURCE_BYTES;

impl Extractor {
    /// The functions of a file; see [`Extractor::functions`].
    ///
    /// # Errors
    /// If the file cannot be read or is no Python source, with its path.
    pub fn file(&self, path: &Path) -> Result<Vec<Function>, Error> {
        Ok(self.extract_file(path)?.functions)
    }

    pub(super) fn extract_file(&self, path: &Path) -> Result<Extracted, Error> {
        let name = path.display().to_string();
        let bytes = read(path).map_err(|source| Error::Io { path: name.clone(), source })?;
        // Of a longer file only so much has been read: what it says about its size is not asked.
        self.extract_bytes(&bytes).map_err(|reason| reason.in_file(&name))
    }
}

/// The bytes of a file, one more than allowed at most.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
