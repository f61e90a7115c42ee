//! [`Corpus`]: JSON lines, one function each.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use rayon::prelude::*;
use serde::Deserialize;

use super::{Counts, Origin, Part, Sample};
use crate::error::Error;
use crate::extractor::Extractor;
use crate::function::Function;
use crate::parse::utf8;

/// Rows are parsed in blocks of about this many bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// The longest row that is read: room for the largest source with every other byte escaped.
const MAX_ROW_BYTES: usize = 64 << 20;

/// An iterator over the functions of JSON lines, in file order. Made by [`Extractor::corpus`].
///
/// A row is an object with the source of one function in `code`, and if you like `split` (`train`, `valid`, `test`),
/// `project`, `version` and `path`. Other fields are ignored, blank lines skipped.
pub struct Corpus<R> {
    extractor: Extractor,
    reader: R,
    file: String,
    ready: VecDeque<Result<Sample, Error>>,
    counts: Counts,
    n_lines: usize,
    is_finished: bool,
}

#[derive(Deserialize)]
struct Row {
    code: String,
    split: Option<Part>,
    project: Option<String>,
    version: Option<String>,
    path: Option<String>,
}

/// One line of the input.
enum Line {
    Text(Vec<u8>),
    TooLong(u64),
}

impl Extractor {
    /// The functions of JSON lines; `file` is the name that messages use.
    pub fn corpus<R: BufRead>(&self, reader: R, file: &str) -> Corpus<R> {
        Corpus {
            extractor: self.clone(),
            reader,
            file: file.to_owned(),
            ready: VecDeque::new(),
            counts: Counts::default(),
            n_lines: 0,
            is_finished: false,
        }
    }

    fn row(&self, line: &Line) -> Result<Option<Sample>, Error> {
        let bytes = match line {
            Line::Text(bytes) => bytes,
            Line::TooLong(n_bytes) => {
                return Err(Error::TooLarge { n_bytes: *n_bytes, max_bytes: MAX_ROW_BYTES as u64 });
            }
        };
        let text = utf8(bytes)?;
        let row: Row = serde_json::from_str(text).map_err(|error| Error::Json { message: error.to_string() })?;
        let text = Option::unwrap_or_default;
        let origin =
            Origin { path: text(row.path), project: text(row.project), version: text(row.version), part: row.split };
        let function: Option<Function> = self.function(&row.code)?;
        Ok(function.map(|function| Sample { origin, function }))
    }
}

impl<R: BufRead> Corpus<R> {
    /// What has been met so far, including the functions that have been parsed and not yet handed on.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Reads and parses the next block.
    fn fill(&mut self) {
        let (mut rows, mut n_bytes) = (Vec::new(), 0);
        let mut failure = None;
        while n_bytes < BLOCK_BYTES && !self.is_finished {
            match next_line(&mut self.reader) {
                Ok(Some(line)) => {
                    self.n_lines += 1;
                    if let Line::Text(text) = &line {
                        n_bytes += text.len();
                    }
                    rows.push((self.n_lines, line));
                }
                Ok(None) => self.is_finished = true,
                Err(source) => {
                    self.is_finished = true;
                    failure = Some(Error::Io { path: self.file.clone(), source });
                }
            }
        }
        rows.retain(|(_, line)| !matches!(line, Line::Text(text) if text.trim_ascii().is_empty()));
        let parsed: Vec<_> = rows.par_iter().with_min_len(8).map(|(_, line)| self.extractor.row(line)).collect();
        for ((row, _), parsed) in rows.iter().zip(parsed) {
            self.counts.n_sources += 1;
            match parsed {
                Ok(Some(sample)) => {
                    self.counts.n_functions += 1;
                    self.ready.push_back(Ok(sample));
                }
                Ok(None) => self.counts.n_refused += 1,
                Err(reason) => {
                    self.counts.n_errors += 1;
                    self.ready.push_back(Err(reason.at(&self.file, *row)));
                }
            }
        }
        self.counts.n_errors += usize::from(failure.is_some());
        self.ready.extend(failure.map(Err));
    }
}

impl<R: BufRead> Iterator for Corpus<R> {
    type Item = Result<Sample, Error>;

    fn next(&mut self) -> Option<Result<Sample, Error>> {
        while self.ready.is_empty() && !self.is_finished {
            self.fill();
        }
        self.ready.pop_front()
    }
}

/// The next line, or how long it is if that is too long; `None` at the end.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    if read_some(reader, &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() <= MAX_ROW_BYTES {
        return Ok(Some(Line::Text(bytes)));
    }
    let mut n_bytes = bytes.len() as u64;
    while !bytes.ends_with(b"\n") {
        bytes.clear();
        match read_some(reader, &mut bytes)? {
            0 => break,
            n_more => n_bytes += n_more as u64,
        }
    }
    Ok(Some(Line::TooLong(n_bytes)))
}

/// Appends the next line, or as much of it as is more than allowed.
fn read_some(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    reader.take(MAX_ROW_BYTES as u64 + 1).read_until(b'\n', bytes)
}
