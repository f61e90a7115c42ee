//! The tokens of BIF.

use std::io::BufRead;

use crate::error::Error;
use crate::input::{Letters, truncated, utf8};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a number or a keyword.
    Word(String),
    /// Text in quotes, which is no keyword.
    Quoted(String),
    /// One of `{}()[]|,;=`.
    Sign(u8),
}

/// Cuts a file into tokens.
pub(super) struct Lexer<'a> {
    letters: Letters<'a>,
    /// The line where the last token began.
    pub(super) line: u64,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(reader: &'a mut dyn BufRead, file: &'a str) -> Result<Lexer<'a>, Error> {
        Ok(Lexer { letters: Letters::new(reader, file)?, line: 1 })
    }

    /// The next token; `None` at the end of the file.
    pub(super) fn token(&mut self) -> Result<Option<Token>, Error> {
        loop {
            self.line = self.letters.line;
            let Some(byte) = self.letters.next()? else { return Ok(None) };
            if byte.is_ascii_whitespace() || (byte == b'/' && self.letters.skip_comment()?) {
                continue;
            }
            return Ok(Some(match byte {
                b'"' => Token::Quoted(self.quoted()?),
                _ if is_sign(byte) => Token::Sign(byte),
                // Names of real networks hold almost any letter, e.g. `<5` and `x/y`.
                _ => {
                    let mut bytes = vec![byte];
                    let belongs = |byte: u8| !byte.is_ascii_whitespace() && !is_sign(byte) && byte != b'"';
                    self.letters.take_while(&mut bytes, belongs)?;
                    Token::Word(utf8(bytes)?)
                }
            }));
        }
    }

    /// The text up to a semicolon, which is taken, too. Quotes around all of it are left away.
    pub(super) fn property(&mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let mut next = || self.letters.next()?.ok_or_else(|| truncated("in the middle of a property"));
        loop {
            match next()? {
                b';' => break,
                b'"' => loop {
                    match next()? {
                        b'"' => break,
                        byte => bytes.push(byte),
                    }
                },
                byte => bytes.push(byte),
            }
        }
        utf8(bytes)
    }

    fn quoted(&mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let mut next = || self.letters.next()?.ok_or_else(|| truncated("in the middle of quoted text"));
        loop {
            match next()? {
                b'"' => return utf8(bytes),
                b'\\' => match next()? {
                    byte @ (b'"' | b'\\') => bytes.push(byte),
                    byte => bytes.extend([b'\\', byte]),
                },
                byte => bytes.push(byte),
            }
        }
    }
}

fn is_sign(byte: u8) -> bool {
    b"{}()[]|,;=".contains(&byte)
}
