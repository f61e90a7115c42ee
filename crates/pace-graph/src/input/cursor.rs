//! A cursor over one line of Python-like text: numbers, names, brackets.

use crate::error::Error;

/// What is left of a line.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { rest: text }
    }

    /// What is left, blanks in front removed.
    pub(crate) fn rest(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    /// Takes `token` if it comes next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        match self.rest().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes `token`, or says that `what` was expected.
    pub(crate) fn expect(&mut self, token: &str, what: &str) -> Result<(), Error> {
        if self.eat(token) { Ok(()) } else { Err(Error::syntax(format!("'{token}' {what}"), self.rest)) }
    }

    /// Takes one of two tokens; true for the first.
    pub(crate) fn either(&mut self, first: &str, second: &str, what: &str) -> Result<bool, Error> {
        match self.eat(first) {
            true => Ok(true),
            false if self.eat(second) => Ok(false),
            false => Err(Error::syntax(format!("'{first}' or '{second}' {what}"), self.rest)),
        }
    }

    /// Takes an integer that is at least 0.
    pub(crate) fn number(&mut self, what: &str) -> Result<usize, Error> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let value = rest[..end].parse().map_err(|_| Error::syntax(what, rest))?;
        self.rest = &rest[end..];
        Ok(value)
    }

    /// Takes a string in single or double quotes; escapes are not part of any name here.
    pub(crate) fn quoted(&mut self, what: &str) -> Result<&'a str, Error> {
        let rest = self.rest();
        let body = ['\'', '"'].into_iter().find_map(|quote| rest.strip_prefix(quote)?.split_once(quote));
        let (text, rest) = body.ok_or_else(|| Error::syntax(what, rest))?;
        self.rest = rest;
        Ok(text)
    }

    /// Makes sure that nothing is left.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        if self.rest().is_empty() { Ok(()) } else { Err(Error::syntax("the end of the line", self.rest)) }
    }
}
