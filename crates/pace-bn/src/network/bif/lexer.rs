//! The tokens of BIF.

use crate::error::Error;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a number or a keyword; or text in quotes.
    Word(String),
    /// One of `{}()[]|;`. Commas separate what blanks separate, too, so they are skipped.
    Sign(char),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(word) => write!(f, "'{}'", word.chars().take(40).collect::<String>()),
            Token::Sign(sign) => write!(f, "'{sign}'"),
        }
    }
}

/// Cuts text into tokens.
pub(super) struct Lexer<'a> {
    left: &'a str,
    file: &'a str,
    /// The line of the next token.
    line: u64,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, file: &'a str) -> Lexer<'a> {
        Lexer { left: text.trim_start_matches('\u{feff}'), file, line: 1 }
    }

    pub(super) fn wrong(&self, reason: String) -> Error {
        Error::Network { file: self.file.to_owned(), line: self.line, reason }
    }

    /// The next token; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token>, Error> {
        self.skip()?;
        let Some(first) = self.left.chars().next() else { return Ok(None) };
        if is_sign(first) {
            self.advance(first.len_utf8());
            return Ok(Some(Token::Sign(first)));
        }
        if first == '"' {
            return self.quoted().map(Some);
        }
        // Names of real networks hold almost any letter, such as `<5`, `12+` and `Asy/Patch`.
        let ends = |letter: char| letter.is_whitespace() || is_sign(letter) || letter == ',' || letter == '"';
        let n = self.left.find(ends).unwrap_or(self.left.len());
        let word = self.left[..n].to_owned();
        self.advance(n);
        Ok(Some(Token::Word(word)))
    }

    /// Text up to the next semicolon, which is taken, too.
    pub(super) fn skip_property(&mut self) -> Result<(), Error> {
        match self.left.find(';') {
            Some(n) => {
                self.advance(n + 1);
                Ok(())
            }
            None => Err(self.wrong("the property has no end; put a ';' behind it".to_owned())),
        }
    }

    fn quoted(&mut self) -> Result<Token, Error> {
        let mut word = String::new();
        let mut letters = self.left.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.advance(at + 1);
                    return Ok(Token::Word(word));
                }
                '\\' => match letters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => word.push(escaped),
                    Some((_, other)) => word.extend(['\\', other]),
                    None => break,
                },
                _ => word.push(letter),
            }
        }
        Err(self.wrong("the text in quotes has no end; close it with '\"'".to_owned()))
    }

    /// Skips blanks, commas and comments.
    fn skip(&mut self) -> Result<(), Error> {
        loop {
            let n = self.left.find(|letter: char| !letter.is_whitespace() && letter != ',').unwrap_or(self.left.len());
            self.advance(n);
            if self.left.starts_with("//") {
                let n = self.left.find('\n').unwrap_or(self.left.len());
                self.advance(n);
            } else if self.left.starts_with("/*") {
                match self.left.find("*/") {
                    Some(n) => self.advance(n + 2),
                    None => return Err(self.wrong("the comment has no end; close it with '*/'".to_owned())),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn advance(&mut self, n: usize) {
        self.line += self.left[..n].matches('\n').count() as u64;
        self.left = &self.left[n..];
    }
}

fn is_sign(letter: char) -> bool {
    "{}()[]|;".contains(letter)
}
