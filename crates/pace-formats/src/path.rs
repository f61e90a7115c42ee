//! [`read_path`]: a file, a folder of files, or the standard input. The only place of this crate that touches files.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use pace_graph::Named;
use pace_graph::dataset::{Progress, decompressed};

use crate::error::Error;
use crate::format::{Format, GraphFormat};
use crate::options::ReadOptions;
use crate::summary::Summary;

/// The callback is told after every so many bytes.
const STEP_BYTES: u64 = 1 << 20;

/// Reads the graphs of a path: a file, a folder, or `-` for the standard input. Files may be compressed by gzip or xz.
///
/// Without a `format` the extension of each file says what it is. Of a folder and the folders in it, the files are read in the
/// order of their paths; those with another extension are counted in [`Summary::skipped_files`]. Links to folders are not followed.
///
/// A graph without a name gets that of its file, without extensions and relative to `path`. From the second graph of a file on, its
/// number stands behind, e.g. `nets/small:2`. The functions of a Python source keep their names behind that of the file, e.g.
/// `pkg/shapes:area:12`; sources of a folder that hold none, or are broken, are counted in the summary. `progress` hears of graphs and bytes, after decompression, over all files.
///
/// # Errors
/// What is wrong with a file, with its path, or the sink's.
pub fn read_path(
    path: &Path,
    format: Option<Format>,
    options: &ReadOptions,
    progress: &mut dyn FnMut(Progress),
    sink: &mut dyn FnMut(Named) -> Result<(), Error>,
) -> Result<Summary, Error> {
    let mut walk = Walk { options, progress, sink, done: Progress::default() };
    if path == Path::new("-") {
        let known = Format::NAMES.join(", ");
        let format = format.ok_or(Error::UnknownFormat { name: "-".to_owned(), known })?;
        return walk.read(BufReader::new(io::stdin()), "the standard input", None, format);
    }
    let file = path.display().to_string();
    let kind = fs::metadata(path).map_err(|source| Error::Io { file: file.clone(), source })?;
    if !kind.is_dir() {
        let format = format.or_else(|| Format::of(path)).ok_or_else(|| unknown(path))?;
        let stem = path.file_name().map(|name| stem(Path::new(name)));
        return walk.open(path, stem, format);
    }
    let mut summary = Summary { target: options.target.clone(), ..Summary::default() };
    let (root, mut first_broken) = (path, None);
    for path in files_below(root)? {
        match Format::of(&path).filter(|found| format.is_none_or(|format| format == *found)) {
            None => summary.skipped_files += 1,
            Some(format) => {
                let relative = path.strip_prefix(root).unwrap_or(&path);
                match walk.open(&path, Some(stem(relative)), format) {
                    Err(Error::At { reason, .. }) if format.is_source() && matches!(*reason, Error::NoGraphs) => {
                        summary.empty_files += 1;
                    }
                    Err(error @ Error::At { .. }) if format.is_source() => {
                        summary.broken_files.push(error.to_string());
                        first_broken = first_broken.or(Some(error));
                    }
                    outcome => summary.merge(outcome?),
                }
            }
        }
    }
    match summary.rows {
        0 => Err(first_broken.unwrap_or_else(|| Error::At {
            file,
            place: crate::Place::Whole,
            reason: Box::new(Error::NoGraphs),
        })),
        _ => Ok(summary),
    }
}

/// What stays the same from file to file.
struct Walk<'a> {
    options: &'a ReadOptions,
    progress: &'a mut dyn FnMut(Progress),
    sink: &'a mut dyn FnMut(Named) -> Result<(), Error>,
    done: Progress,
}

impl Walk<'_> {
    fn open(&mut self, path: &Path, stem: Option<String>, format: Format) -> Result<Summary, Error> {
        let file = path.display().to_string();
        let opened = File::open(path).map_err(|source| Error::Io { file: file.clone(), source })?;
        self.read(BufReader::with_capacity(1 << 16, opened), &file, stem, format)
    }

    fn read(
        &mut self,
        reader: impl BufRead + Send,
        file: &str,
        stem: Option<String>,
        format: Format,
    ) -> Result<Summary, Error> {
        let reader = decompressed(reader).map_err(|source| Error::read(source, file))?;
        let (rows, sink, mut n_of_file) = (Cell::new(self.done.rows), &mut *self.sink, 0);
        let mut named = |mut graph: Named| {
            n_of_file += 1;
            rows.set(rows.get() + 1);
            if let Some(stem) = &stem {
                graph.id = match graph.id {
                    None if n_of_file == 1 => Some(stem.clone()),
                    None => Some(format!("{stem}:{n_of_file}")),
                    Some(part) if format.is_source() => Some(format!("{stem}:{part}")),
                    own => own,
                };
            }
            sink(graph)
        };
        let told = self.done.bytes;
        let mut counted = Counted { reader, rows: &rows, bytes: told, told, progress: &mut *self.progress };
        let summary = format.read(&mut counted, file, self.options, &mut named);
        self.done = counted.progress();
        (self.progress)(self.done);
        summary
    }
}

/// A reader that tells how far it has come.
struct Counted<'a, R> {
    reader: R,
    rows: &'a Cell<usize>,
    bytes: u64,
    told: u64,
    progress: &'a mut dyn FnMut(Progress),
}

impl<R> Counted<'_, R> {
    fn progress(&self) -> Progress {
        Progress { rows: self.rows.get(), bytes: self.bytes }
    }
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.fill_buf()?.read(bytes)?;
        self.consume(n_bytes);
        Ok(n_bytes)
    }
}

impl<R: BufRead> BufRead for Counted<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, n_bytes: usize) {
        self.reader.consume(n_bytes);
        self.bytes += n_bytes as u64;
        if self.bytes - self.told >= STEP_BYTES {
            self.told = self.bytes;
            let now = self.progress();
            (self.progress)(now);
        }
    }
}

/// All files below a folder, sorted by path.
fn files_below(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let refused = |source| Error::Io { file: folder.display().to_string(), source };
        for entry in fs::read_dir(&folder).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(refused)?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() || !fs::metadata(&path).is_ok_and(|target| !target.is_file()) {
                // A link that leads nowhere stays: opening it says so.
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// The path without `.gz` or `.xz`.
pub(crate) fn without_compression(path: &Path) -> PathBuf {
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz" || extension == "xz");
    if is_compressed { path.with_extension("") } else { path.to_owned() }
}

/// The path without extensions, as a name.
pub fn stem(path: &Path) -> String {
    without_compression(path).with_extension("").display().to_string()
}

fn unknown(path: &Path) -> Error {
    Error::UnknownFormat { name: path.display().to_string(), known: Format::NAMES.join(", ") }
}
