//! [`Folder`]: the functions of all Python files below a folder.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{Counts, Origin, Sample};
use crate::error::Error;
use crate::extractor::Extractor;

/// Files that are parsed at a time.
const BLOCK: usize = 64;

/// An iterator over the functions of the `.py` files below a folder, in the order of their paths.
///
/// Links to files are read, links to folders are not followed. Made by [`Extractor::folder`].
pub struct Folder {
    extractor: Extractor,
    paths: std::vec::IntoIter<PathBuf>,
    ready: VecDeque<Result<Sample, Error>>,
    counts: Counts,
}

impl Extractor {
    /// The functions of all `.py` files below a folder, or of one file whatever its name.
    ///
    /// # Errors
    /// If the folder cannot be listed. Folders below it that cannot be listed are errors of the iterator.
    pub fn folder(&self, root: &Path) -> Result<Folder, Error> {
        let mut errors = Vec::new();
        let paths = match root.is_file() {
            true => vec![root.to_owned()],
            false => python_files(root, &mut errors)?,
        };
        let counts = Counts { n_errors: errors.len(), ..Counts::default() };
        let ready = errors.into_iter().map(Err).collect();
        Ok(Folder { extractor: self.clone(), paths: paths.into_iter(), ready, counts })
    }
}

impl Folder {
    /// What has been met so far, including the functions that have been parsed and not yet handed on.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Parses the next block; `false` if there is none.
    fn fill(&mut self) -> bool {
        let block: Vec<PathBuf> = self.paths.by_ref().take(BLOCK).collect();
        let read = |path: &PathBuf| self.extractor.extract_file(path);
        let parsed: Vec<_> = block.par_iter().with_max_len(1).map(read).collect();
        for (path, extracted) in block.iter().zip(parsed) {
            self.counts.n_sources += 1;
            match extracted {
                Ok(extracted) => {
                    self.counts.n_functions += extracted.functions.len();
                    self.counts.n_refused += extracted.n_refused;
                    let origin = Origin { path: path.display().to_string(), ..Origin::default() };
                    let sample = |function| Ok(Sample { origin: origin.clone(), function });
                    self.ready.extend(extracted.functions.into_iter().map(sample));
                }
                Err(error) => {
                    self.counts.n_errors += 1;
                    self.ready.push_back(Err(error));
                }
            }
        }
        !block.is_empty()
    }
}

impl Iterator for Folder {
    type Item = Result<Sample, Error>;

    fn next(&mut self) -> Option<Result<Sample, Error>> {
        while self.ready.is_empty() && self.fill() {}
        self.ready.pop_front()
    }
}

/// The Python files below a folder, sorted; folders that cannot be listed go to `errors`.
fn python_files(root: &Path, errors: &mut Vec<Error>) -> Result<Vec<PathBuf>, Error> {
    let refused = |path: &Path, source| Error::Io { path: path.display().to_string(), source };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    list(root, &mut files, &mut folders).map_err(|source| refused(root, source))?;
    while let Some(folder) = folders.pop() {
        if let Err(source) = list(&folder, &mut files, &mut folders) {
            errors.push(refused(&folder, source));
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_python = path.extension().is_some_and(|extension| extension == "py");
        if kind.is_dir() {
            folders.push(path);
        } else if is_python && (kind.is_file() || (kind.is_symlink() && !leads_elsewhere(&path))) {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a link leads to something that is no file. One that leads nowhere is kept: reading it says so.
fn leads_elsewhere(link: &Path) -> bool {
    std::fs::metadata(link).is_ok_and(|target| !target.is_file())
}
