//! The tokens of DOT.

use std::io::BufRead;

use crate::error::Error;
use crate::input::{Letters, truncated, utf8};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a number, quoted text or HTML. Only bare names can be keywords.
    Id {
        /// The text, without quotes.
        text: String,
        /// How it was written.
        kind: IdKind,
    },
    /// One of `{}[]=;,:+`.
    Sign(u8),
    /// `->`.
    Arrow,
    /// `--`.
    Line,
}

/// How an identifier was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdKind {
    Bare,
    Number,
    Quoted,
    Html,
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
            let is_line_start = self.letters.is_line_start();
            let Some(byte) = self.letters.next()? else { return Ok(None) };
            return Ok(Some(match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0c => continue,
                b'#' if is_line_start => {
                    self.letters.skip_line()?;
                    continue;
                }
                b'/' => match self.letters.skip_comment()? {
                    true => continue,
                    false => return Err(Error::syntax("a comment", "/")),
                },
                b'{' | b'}' | b'[' | b']' | b'=' | b';' | b',' | b':' | b'+' => Token::Sign(byte),
                b'"' => Token::Id { text: self.quoted()?, kind: IdKind::Quoted },
                b'<' => Token::Id { text: self.html()?, kind: IdKind::Html },
                b'-' => self.minus()?,
                b'.' | b'0'..=b'9' => self.number(vec![byte])?,
                _ if is_name(byte) => {
                    let mut bytes = vec![byte];
                    self.letters.take_while(&mut bytes, |byte| is_name(byte) || byte.is_ascii_digit())?;
                    Token::Id { text: utf8(bytes)?, kind: IdKind::Bare }
                }
                _ => return Err(Error::syntax("a name, a value or a sign of DOT", &char::from(byte).to_string())),
            }));
        }
    }

    fn minus(&mut self) -> Result<Token, Error> {
        match self.letters.peek()? {
            Some(b'>') => self.letters.next().map(|_| Token::Arrow),
            Some(b'-') => self.letters.next().map(|_| Token::Line),
            Some(b'.' | b'0'..=b'9') => self.number(vec![b'-']),
            _ => Err(Error::syntax("-> or a number", "-")),
        }
    }

    fn number(&mut self, mut bytes: Vec<u8>) -> Result<Token, Error> {
        self.letters.take_while(&mut bytes, |byte| byte == b'.' || byte.is_ascii_digit() || is_name(byte))?;
        let text = utf8(bytes)?;
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let is_number = digits.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit())
            && digits.bytes().any(|byte| byte.is_ascii_digit())
            && digits.bytes().filter(|&byte| byte == b'.').count() <= 1;
        match is_number {
            true => Ok(Token::Id { text, kind: IdKind::Number }),
            false => Err(Error::syntax("a number, or a name that begins with a letter (else put it in quotes)", &text)),
        }
    }

    fn quoted(&mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let mut next = || self.letters.next()?.ok_or_else(|| truncated("in the middle of quoted text"));
        loop {
            match next()? {
                b'"' => return utf8(bytes),
                b'\\' => match next()? {
                    byte @ (b'"' | b'\\') => bytes.push(byte),
                    b'\n' => {}
                    byte => bytes.extend([b'\\', byte]),
                },
                byte => bytes.push(byte),
            }
        }
    }

    /// HTML between balanced angle brackets, the outer ones left away.
    fn html(&mut self) -> Result<String, Error> {
        let (mut bytes, mut depth) = (Vec::new(), 1_u64);
        loop {
            let byte = self.letters.next()?.ok_or_else(|| truncated("in the middle of HTML"))?;
            match byte {
                b'<' => depth += 1,
                b'>' if depth == 1 => return utf8(bytes),
                b'>' => depth -= 1,
                _ => {}
            }
            bytes.push(byte);
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}
