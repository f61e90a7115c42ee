//! The wire format of protobuf, as a stream: fields are read or skipped, never held.

use std::io::{self, BufRead, Read};

use crate::error::Error;
use crate::input::{truncated, utf8};

/// The longest name that is read.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A number, which has been read.
    Number,
    /// This many bytes, which come next.
    Bytes(u64),
}

/// A reader of fields.
pub(super) struct Wire<'a> {
    reader: &'a mut dyn BufRead,
    file: &'a str,
    at: u64,
}

impl<'a> Wire<'a> {
    pub(super) fn new(reader: &'a mut dyn BufRead, file: &'a str) -> Wire<'a> {
        Wire { reader, file, at: 0 }
    }

    /// How many bytes have been read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Where a message of this length ends.
    pub(super) fn end(&self, n_bytes: u64) -> u64 {
        self.at.saturating_add(n_bytes)
    }

    /// The next field of a message that ends at `end`, with its number; `None` at its end. The outermost message, which ends with
    /// the file, has `u64::MAX` for an end.
    pub(super) fn field(&mut self, end: u64) -> Result<Option<(u64, Field)>, Error> {
        if self.at == end || (end == u64::MAX && self.fill()?.is_empty()) {
            return Ok(None);
        }
        let key = self.varint()?;
        let field = match key & 7 {
            0 => self.varint().map(|_| Field::Number)?,
            1 => self.skip_bytes(8).map(|()| Field::Number)?,
            2 => Field::Bytes(self.varint()?),
            5 => self.skip_bytes(4).map(|()| Field::Number)?,
            other => {
                return Err(Error::expected("a field of protobuf (is the file ONNX?)", format!("wire type {other}")));
            }
        };
        let n_bytes = if let Field::Bytes(n_bytes) = field { n_bytes } else { 0 };
        if key >> 3 == 0 || self.at.checked_add(n_bytes).is_none_or(|after| after > end) {
            return Err(Error::expected(
                "a field of protobuf (is the file ONNX?)",
                "one that does not fit its message",
            ));
        }
        Ok(Some((key >> 3, field)))
    }

    /// Skips what stands in a field.
    pub(super) fn skip(&mut self, field: Field) -> Result<(), Error> {
        match field {
            Field::Number => Ok(()),
            Field::Bytes(n_bytes) => self.skip_bytes(n_bytes),
        }
    }

    /// The next bytes as text.
    pub(super) fn text(&mut self, n_bytes: u64) -> Result<String, Error> {
        if n_bytes > MAX_TEXT_BYTES {
            let remedy = "is the file ONNX?";
            return Err(Error::TooMuch { what: "bytes in a name", max: MAX_TEXT_BYTES, remedy });
        }
        let mut bytes = Vec::new();
        let read = (&mut *self.reader).take(n_bytes).read_to_end(&mut bytes);
        self.at += read.map_err(|source| Error::read(source, self.file))? as u64;
        if (bytes.len() as u64) < n_bytes { Err(cut()) } else { utf8(bytes) }
    }

    fn skip_bytes(&mut self, mut n_bytes: u64) -> Result<(), Error> {
        while n_bytes > 0 {
            let n_filled = self.fill()?.len();
            if n_filled == 0 {
                return Err(cut());
            }
            let n_taken = usize::try_from(n_bytes).map_or(n_filled, |n_bytes| n_bytes.min(n_filled));
            self.reader.consume(n_taken);
            self.at += n_taken as u64;
            n_bytes -= n_taken as u64;
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.fill()?.first().ok_or_else(cut)?;
            self.reader.consume(1);
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::expected("a number of at most ten bytes (is the file ONNX?)", "a longer one"))
    }

    fn fill(&mut self) -> Result<&[u8], Error> {
        // Twice, as the borrow checker does not let a loop return what it has borrowed.
        while let Err(source) = self.reader.fill_buf() {
            if source.kind() != io::ErrorKind::Interrupted {
                return Err(Error::read(source, self.file));
            }
        }
        self.reader.fill_buf().map_err(|source| Error::read(source, self.file))
    }
}

fn cut() -> Error {
    truncated("in the middle of a field")
}
