//! One of several files that are read side by side, a row at a time.

use std::io::BufRead;

use super::{csv, line_text, read_failed, read_raw_line};
use crate::error::Error;

/// A reader with its name and how far it has come.
pub(crate) struct RowFile<'a> {
    reader: Box<dyn BufRead + 'a>,
    file: String,
    line: Vec<u8>,
    rows: usize,
    bytes: u64,
}

impl<'a> RowFile<'a> {
    pub(crate) fn new(reader: Box<dyn BufRead + 'a>, file: &str) -> RowFile<'a> {
        RowFile { reader, file: file.to_owned(), line: Vec::new(), rows: 0, bytes: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next row as text; `None` at the end. With `quotes`, a row whose quote stays open continues on
    /// the next line.
    pub(crate) fn next(&mut self, quotes: bool) -> Result<Option<&str>, Error> {
        self.line.clear();
        loop {
            let n_bytes = read_raw_line(&mut self.reader, &mut self.line)
                .map_err(|source| read_failed(source, &self.file, self.rows))?;
            self.bytes += n_bytes as u64;
            if self.line.is_empty() {
                return Ok(None);
            }
            let open = quotes && csv::is_open(&self.line);
            if !open && self.line.ends_with(b"\n") {
                break;
            }
            if n_bytes == 0 || self.line.len() > super::MAX_ROW_BYTES {
                return Err(self.cut(format!("row {} has no line break", self.rows + 1)));
            }
        }
        self.rows += 1;
        line_text(&self.line).map(Some).map_err(|reason| reason.at(&self.file, self.rows))
    }

    /// The next row, parsed; `wanted` names what is missing if the file ends first.
    pub(crate) fn parse<T>(
        &mut self,
        wanted: impl FnOnce() -> String,
        parse: impl FnOnce(&str) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.next(false)?.map(parse) {
            Some(Ok(value)) => Ok(value),
            Some(Err(reason)) => Err(reason.at(&self.file, self.rows)),
            None => Err(self.cut(wanted())),
        }
    }

    /// Makes sure that the file ends here.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        match self.next(false)?.map(str::to_owned) {
            None => Ok(()),
            Some(text) => {
                Err(self.at(Error::syntax("the end of the file: the lists of counts ask for no more", &text)))
            }
        }
    }

    /// Puts a reason at the row that was read last.
    pub(crate) fn at(&self, reason: Error) -> Error {
        reason.at(&self.file, self.rows)
    }

    fn cut(&self, detail: String) -> Error {
        Error::Truncated { file: self.file.clone(), rows: self.rows, detail }
    }
}
