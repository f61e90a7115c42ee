//! [`Letters`]: a reader byte by byte, with a line number, for the tokens of DOT and BIF. And [`skip_space`], for JSON.

use std::io::{self, BufRead};

use crate::error::Error;

/// A reader byte by byte that knows its line.
pub(crate) struct Letters<'a> {
    reader: &'a mut dyn BufRead,
    file: &'a str,
    /// The line of the next byte, counted from 1.
    pub(crate) line: u64,
    ahead: Option<u8>,
    is_line_start: bool,
}

impl<'a> Letters<'a> {
    pub(crate) fn new(reader: &'a mut dyn BufRead, file: &'a str) -> Result<Letters<'a>, Error> {
        skip_mark(reader).map_err(|source| Error::read(source, file))?.ok_or(Error::NotUtf8)?;
        Ok(Letters { reader, file, line: 1, ahead: None, is_line_start: true })
    }

    /// The next byte, left in its place.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Error> {
        if self.ahead.is_none() {
            self.ahead = next_byte(self.reader).map_err(|source| Error::read(source, self.file))?;
        }
        Ok(self.ahead)
    }

    /// The next byte.
    pub(crate) fn next(&mut self) -> Result<Option<u8>, Error> {
        let byte = self.peek()?;
        self.ahead = None;
        self.line += u64::from(byte == Some(b'\n'));
        self.is_line_start = byte == Some(b'\n');
        Ok(byte)
    }

    /// Whether the next byte is the first of its line.
    pub(crate) fn is_line_start(&self) -> bool {
        self.is_line_start
    }

    /// Skips the rest of the line.
    pub(crate) fn skip_line(&mut self) -> Result<(), Error> {
        while self.peek()?.is_some_and(|byte| byte != b'\n') {
            self.next()?;
        }
        Ok(())
    }

    /// Skips a comment, whose first slash has been taken; `false` if it was no comment.
    pub(crate) fn skip_comment(&mut self) -> Result<bool, Error> {
        match self.peek()? {
            Some(b'/') => self.skip_line()?,
            Some(b'*') => {
                self.next()?;
                let mut last = b' ';
                loop {
                    let byte = self.next()?.ok_or_else(|| truncated("in the middle of a comment"))?;
                    if (last, byte) == (b'*', b'/') {
                        break;
                    }
                    last = byte;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes bytes as long as they please.
    pub(crate) fn take_while(&mut self, bytes: &mut Vec<u8>, pleases: impl Fn(u8) -> bool) -> Result<(), Error> {
        while let Some(byte) = self.peek()?.filter(|&byte| pleases(byte)) {
            self.next()?;
            bytes.push(byte);
        }
        Ok(())
    }
}

/// The end of the file at a place where it may not be.
pub(crate) fn truncated(place: &str) -> Error {
    Error::Truncated { place: place.to_owned() }
}

/// Bytes as text.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| Error::NotUtf8)
}

/// Skips a byte order mark and white space, and returns the byte that follows.
pub(crate) fn skip_space(reader: &mut dyn BufRead, file: &str) -> Result<Option<u8>, Error> {
    let failed = |source| Error::read(source, file);
    skip_mark(reader).map_err(failed)?.ok_or(Error::NotUtf8)?;
    loop {
        match peek_byte(reader).map_err(failed)? {
            Some(byte) if byte.is_ascii_whitespace() => reader.consume(1),
            other => return Ok(other),
        }
    }
}

/// Skips UTF-8's byte order mark; `None` if the text is UTF-16 or the mark is cut off.
fn skip_mark(reader: &mut dyn BufRead) -> io::Result<Option<()>> {
    match peek_byte(reader)? {
        Some(0xfe | 0xff) => return Ok(None),
        Some(0xef) => reader.consume(1),
        _ => return Ok(Some(())),
    }
    for expected in [0xbb, 0xbf] {
        if next_byte(reader)? != Some(expected) {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

fn next_byte(reader: &mut dyn BufRead) -> io::Result<Option<u8>> {
    let byte = peek_byte(reader)?;
    reader.consume(usize::from(byte.is_some()));
    Ok(byte)
}

fn peek_byte(reader: &mut dyn BufRead) -> io::Result<Option<u8>> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            found => return Ok(found?.first().copied()),
        }
    }
}
