//! What the dataset readers share: lines in parallel, Python literals, CSV records, TFRecord frames.
//!
//! Nothing here knows a dataset, and nothing here trusts a number it has read: memory grows with the bytes that really
//! arrive, never with a length that a file claims.

use std::io::{self, BufRead, Read};

use crate::error::Error;

pub(crate) mod csv;
pub(crate) mod cursor;
pub(crate) mod lines;
pub(crate) mod row_file;
pub(crate) mod tfrecord;
pub(crate) mod triangle;

/// How far a reader has come; handed to the progress callback after every block of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows (lines, records or graphs) read so far.
    pub rows: usize,
    /// Bytes read so far, after decompression.
    pub bytes: u64,
}

/// The longest line or record accepted: far above any real one, far below what would hurt.
pub(crate) const MAX_ROW_BYTES: usize = 64 << 20;

/// Appends the next line, line break included, to `line`; 0 at the end of the input.
pub(crate) fn read_raw_line(reader: &mut (impl BufRead + ?Sized), line: &mut Vec<u8>) -> io::Result<usize> {
    let n_bytes = reader.take(MAX_ROW_BYTES as u64 + 1).read_until(b'\n', line)?;
    if n_bytes > MAX_ROW_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a row of over {MAX_ROW_BYTES} bytes")));
    }
    Ok(n_bytes)
}

/// Removes the line break (LF or CR LF).
pub(crate) fn trim_line_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The line as text, without its line break and without a byte order mark.
pub(crate) fn line_text(line: &[u8]) -> Result<&str, Error> {
    let line = trim_line_break(line);
    match std::str::from_utf8(line) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => Err(Error::syntax("UTF-8 text; save the file as UTF-8", &String::from_utf8_lossy(line))),
    }
}

/// Says what a failed read means: cut off, damaged, or refused by the system.
pub(crate) fn read_failed(source: io::Error, file: &str, rows: usize) -> Error {
    if source.kind() == io::ErrorKind::UnexpectedEof {
        let detail = "the compressed data ends early".to_owned();
        return Error::Truncated { file: file.to_owned(), rows, detail };
    }
    // The operating system gives its errors a number; those without come from a decompressor that met damage.
    if source.raw_os_error().is_none() {
        return Error::syntax("undamaged data (fetch the file again)", &source.to_string()).at(file, rows + 1);
    }
    Error::Io { file: file.to_owned(), source }
}

/// What an empty file may mean if it should start with a header.
pub(crate) const BELOW_HEADER: &str = " below the header";

/// Passes rows on if there are any; `hint` says what an empty file may mean.
pub(crate) fn not_empty<T>(rows: Vec<T>, file: &str, hint: &str) -> Result<Vec<T>, Error> {
    match rows.is_empty() {
        true => Err(Error::EmptyDataset { file: file.to_owned(), hint: hint.to_owned() }),
        false => Ok(rows),
    }
}

/// Parses a target value; what is not finite cannot be trained on.
pub(crate) fn parse_target(text: &str) -> Result<f64, Error> {
    let text = text.trim();
    let value: f64 = text.parse().map_err(|_| Error::syntax("a number as target", text))?;
    finite(value).map_err(|_| Error::BadTarget { value: text.to_owned() })
}

/// Passes finite values only.
pub(crate) fn finite(value: f64) -> Result<f64, Error> {
    if value.is_finite() { Ok(value) } else { Err(Error::BadTarget { value: value.to_string() }) }
}
