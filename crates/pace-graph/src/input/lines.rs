//! Line files: read in blocks, parsed in parallel, handed on in order.

use std::io::{self, BufRead};

use rayon::prelude::*;

use super::{BELOW_HEADER, Progress, line_text, not_empty, read_failed, read_raw_line};
use crate::error::Error;

/// Lines are parsed in parallel in blocks of about this many bytes.
const BLOCK_BYTES: usize = 1 << 20;

/// What a last line without a line break means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLine {
    /// The file is cut off: rows end in a number, so half a row would pass for a whole one with another value.
    Cut,
    /// Nothing, if it parses: rows end in a closing bracket, so half a row never parses.
    MayBeOpen,
}

/// One line file on its way in.
pub(crate) struct Lines<'a> {
    /// Where the bytes come from.
    pub(crate) reader: &'a mut dyn BufRead,
    /// The name used in messages.
    pub(crate) file: &'a str,
    /// Told after every block.
    pub(crate) progress: &'a mut dyn FnMut(Progress),
    /// Lines to drop unread, e.g. a header. They count as rows in messages.
    pub(crate) skip: usize,
    /// How to take a last line without a line break.
    pub(crate) last_line: LastLine,
}

/// Some whole lines, and what stopped the reading if it was not the size of the block.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    /// Where each line ends.
    ends: Vec<usize>,
    failure: Option<io::Error>,
}

impl Block {
    fn read(reader: &mut dyn BufRead) -> Block {
        let mut block = Block::default();
        while block.bytes.len() < BLOCK_BYTES {
            match read_raw_line(reader, &mut block.bytes) {
                Ok(0) => break,
                Ok(_) => block.ends.push(block.bytes.len()),
                Err(failure) => {
                    block.failure = Some(failure);
                    break;
                }
            }
        }
        block
    }

    fn line(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// Whether the last line lacks its line break.
    fn is_open(&self) -> bool {
        self.failure.is_none() && !self.ends.is_empty() && !self.bytes.ends_with(b"\n")
    }
}

impl Lines<'_> {
    /// Calls `parse` on every line that is not blank, in parallel, and `consume` on each result, in order; both get the
    /// row counted from 1. The first error by row wins, whatever the threads do. Returns the number of lines.
    pub(crate) fn read<T: Send>(
        self,
        parse: impl Fn(usize, &str) -> Result<T, Error> + Sync,
        mut consume: impl FnMut(usize, T) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let mut done = Progress::default();
        loop {
            let block = Block::read(self.reader);
            let n_lines = block.ends.len();
            let parse_line = |index: usize| {
                let row = done.rows + index + 1;
                let text = if row <= self.skip { Ok("") } else { line_text(block.line(index)) };
                match text {
                    Ok(text) if text.trim().is_empty() => None,
                    text => Some(text.and_then(|text| parse(row, text))),
                }
            };
            let parsed: Vec<Option<Result<T, Error>>> =
                (0..n_lines).into_par_iter().with_min_len(32).map(parse_line).collect();
            for (index, result) in parsed.into_iter().enumerate() {
                let row = done.rows + index + 1;
                let Some(result) = result else { continue };
                if block.is_open() && index + 1 == n_lines {
                    self.check_open_end(row, &result)?;
                }
                if let Err(reason) = result.and_then(|value| consume(row, value)) {
                    // Where the file itself is known to be damaged, a row that makes no sense is not the news.
                    return Err(match block.failure {
                        Some(failure) => read_failed(failure, self.file, row - 1),
                        None => self.place(reason, row),
                    });
                }
            }
            done.rows += n_lines;
            done.bytes += block.bytes.len() as u64;
            if let Some(failure) = block.failure {
                return Err(read_failed(failure, self.file, done.rows));
            }
            if n_lines == 0 {
                return Ok(done.rows);
            }
            (self.progress)(done);
        }
    }

    /// [`Lines::read`] into a list, which must not stay empty. A `header` is the first line and no row.
    pub(crate) fn collect<T: Send>(
        self,
        header: Option<&str>,
        parse: impl Fn(usize, &str) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let (file, mut rows) = (self.file, Vec::new());
        let parse = |row, text: &str| match header.filter(|_| row == 1) {
            Some(header) if text == header => Ok(None),
            Some(header) => Err(Error::syntax(format!("the header {header}"), text)),
            None => parse(row, text).map(Some),
        };
        self.read(parse, |_, row| {
            rows.extend(row);
            Ok(())
        })?;
        not_empty(rows, file, if header.is_some() { BELOW_HEADER } else { "" })
    }

    fn place(&self, reason: Error, row: usize) -> Error {
        match reason {
            // These name file and row themselves.
            Error::Row { .. } | Error::Checksum { .. } | Error::Truncated { .. } => reason,
            _ => reason.at(self.file, row),
        }
    }

    fn check_open_end<T>(&self, row: usize, result: &Result<T, Error>) -> Result<(), Error> {
        let detail = match result {
            Err(Error::Syntax { expected, found }) => format!("in row {row}, expected {expected}, found {found}"),
            Ok(_) if self.last_line == LastLine::Cut => {
                format!("row {row} has no line break, so its last number may miss digits (if it is whole, add one)")
            }
            _ => return Ok(()),
        };
        Err(Error::Truncated { file: self.file.to_owned(), rows: row - 1, detail })
    }
}
