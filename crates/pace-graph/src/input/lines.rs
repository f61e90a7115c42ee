//! Line files: read in blocks, parsed in parallel, handed on in order.

use std::io::BufRead;

use rayon::prelude::*;

use super::{Progress, line_text, read_failed, read_raw_line};
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
            let (mut block, mut ends, mut failure) = (Vec::new(), Vec::new(), None);
            while block.len() < BLOCK_BYTES {
                match read_raw_line(self.reader, &mut block) {
                    Ok(0) => break,
                    Ok(_) => ends.push(block.len()),
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                }
            }
            let starts = [0].into_iter().chain(ends.iter().copied());
            let spans: Vec<(usize, usize)> = starts.zip(ends.iter().copied()).collect();
            let first_row = done.rows + 1;
            let parsed: Vec<Option<Result<T, Error>>> = spans
                .par_iter()
                .with_min_len(32)
                .enumerate()
                .map(|(index, &(start, end))| {
                    let row = first_row + index;
                    let line = if row <= self.skip { &[] } else { &block[start..end] };
                    match line_text(line) {
                        Ok(text) if text.trim().is_empty() => None,
                        Ok(text) => Some(parse(row, text)),
                        Err(error) => Some(Err(error)),
                    }
                })
                .collect();
            let open_end = !block.is_empty() && !block.ends_with(b"\n") && failure.is_none();
            let n_lines = parsed.len();
            for (index, result) in parsed.into_iter().enumerate() {
                let row = first_row + index;
                let Some(result) = result else { continue };
                if open_end && index + 1 == n_lines {
                    self.check_open_end(row, &result)?;
                }
                result.and_then(|value| consume(row, value)).map_err(|reason| self.place(reason, row))?;
            }
            if let Some(error) = failure {
                return Err(read_failed(error, self.file, done.rows + n_lines));
            }
            if n_lines == 0 {
                return Ok(done.rows);
            }
            done.rows += n_lines;
            done.bytes += block.len() as u64;
            (self.progress)(done);
        }
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
