//! The grammar of BIF: blocks of networks, variables and probabilities.

use std::collections::{HashMap, HashSet};

use super::NAMELESS;
use super::lexer::{Lexer, Token};
use crate::collector::{Described, Node};
use crate::error::{Error, shortened};
use crate::input::truncated;

/// Reads networks from tokens.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// Whether the keyword `network` of the next network has been read.
    is_begun: bool,
    /// Where the message about a whole network should point.
    line: Option<u64>,
}

/// A network while it is read. A probability may come before its variables.
#[derive(Default)]
struct Building {
    described: Described,
    variables: HashMap<String, usize>,
    /// Child and parents of every probability, with its line.
    families: Vec<(String, Vec<String>, u64)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(lexer: Lexer<'a>) -> Parser<'a> {
        Parser { lexer, is_begun: false, line: None }
    }

    /// The line that an error is about.
    pub(super) fn line(&self) -> u64 {
        self.line.unwrap_or(self.lexer.line)
    }

    /// The next network; `None` at the end of the file.
    pub(super) fn network(&mut self) -> Result<Option<Described>, Error> {
        let mut network = Building::default();
        let mut is_empty = true;
        if std::mem::take(&mut self.is_begun) {
            self.header(&mut network)?;
            is_empty = false;
        }
        loop {
            let Some(token) = self.lexer.token()? else { break };
            match keyword(&token) {
                Some("network") if is_empty => self.header(&mut network)?,
                Some("network") => {
                    self.is_begun = true;
                    break;
                }
                Some("variable") => self.variable(&mut network)?,
                Some("probability") => self.probability(&mut network)?,
                _ if token == Token::Sign(b';') => continue,
                _ => return Err(unexpected("network, variable or probability", &token)),
            }
            is_empty = false;
        }
        if is_empty { Ok(None) } else { self.resolved(network).map(Some) }
    }

    fn header(&mut self, network: &mut Building) -> Result<(), Error> {
        match self.some()? {
            Token::Word(name) if name == NAMELESS => self.sign(b'{')?,
            Token::Word(name) | Token::Quoted(name) => {
                network.described.name = Some(name);
                self.sign(b'{')?;
            }
            Token::Sign(b'{') => {}
            other => return Err(unexpected("the name of the network or {", &other)),
        }
        for property in self.block()? {
            if let Some((key, value)) = property.split_once('=') {
                network.described.fields.push((key.trim().to_owned(), Some(value.trim().to_owned())));
            }
        }
        Ok(())
    }

    fn variable(&mut self, network: &mut Building) -> Result<(), Error> {
        let name = self.name("the name of a variable")?;
        let line = self.lexer.line;
        self.sign(b'{')?;
        self.block()?;
        if network.variables.insert(name.clone(), network.described.nodes.len()).is_some() {
            self.line = Some(line);
            return Err(Error::DuplicateNode { node: shortened(&name) });
        }
        let fields = vec![("name".to_owned(), Some(name.clone()))];
        network.described.nodes.push(Node { name, fields, ..Node::default() });
        Ok(())
    }

    fn probability(&mut self, network: &mut Building) -> Result<(), Error> {
        self.sign(b'(')?;
        let child = self.name("the name of a variable")?;
        let (line, mut parents) = (self.lexer.line, Vec::new());
        match self.some()? {
            Token::Sign(b')') => {}
            Token::Sign(b'|') => loop {
                match self.some()? {
                    Token::Sign(b')') => break,
                    Token::Sign(b',') => {}
                    Token::Word(name) | Token::Quoted(name) => parents.push(name),
                    other => return Err(unexpected("the name of a parent or )", &other)),
                }
            },
            other => return Err(unexpected("| or )", &other)),
        }
        self.sign(b'{')?;
        self.block()?;
        network.families.push((child, parents, line));
        Ok(())
    }

    /// Skips a block up to its closing brace, and returns its properties.
    fn block(&mut self) -> Result<Vec<String>, Error> {
        let (mut depth, mut properties) = (1_u64, Vec::new());
        while depth > 0 {
            let token = self.some()?;
            match token {
                Token::Sign(b'{') => depth += 1,
                Token::Sign(b'}') => depth -= 1,
                // A state of a variable may be called like the keyword, but states stand in braces of their own.
                _ if depth == 1 && keyword(&token) == Some("property") => properties.push(self.lexer.property()?),
                _ => {}
            }
        }
        Ok(properties)
    }

    fn resolved(&mut self, network: Building) -> Result<Described, Error> {
        let Building { mut described, variables, families } = network;
        let mut children = HashSet::new();
        for (child, parents, line) in families {
            self.line = Some(line);
            let node = |name: &String, parent: &str| {
                variables.get(name).copied().ok_or_else(|| Error::DanglingEdge {
                    from: shortened(parent),
                    to: shortened(&child),
                    missing: shortened(name),
                })
            };
            let undeclared = || Error::syntax("a variable that is declared", &child);
            let to = variables.get(&child).copied().ok_or_else(undeclared)?;
            if !children.insert(to) {
                return Err(Error::syntax("one probability per variable", &child));
            }
            for parent in &parents {
                described.edges.push((node(parent, parent)?, to));
            }
        }
        self.line = None;
        Ok(described)
    }

    fn name(&mut self, expected: &str) -> Result<String, Error> {
        match self.some()? {
            Token::Word(name) | Token::Quoted(name) => Ok(name),
            other => Err(unexpected(expected, &other)),
        }
    }

    fn sign(&mut self, sign: u8) -> Result<(), Error> {
        match self.some()? {
            Token::Sign(found) if found == sign => Ok(()),
            other => Err(unexpected(&char::from(sign).to_string(), &other)),
        }
    }

    fn some(&mut self) -> Result<Token, Error> {
        self.lexer.token()?.ok_or_else(|| truncated("in the middle of a block"))
    }
}

fn keyword(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

fn unexpected(expected: &str, found: &Token) -> Error {
    match found {
        Token::Word(text) | Token::Quoted(text) => Error::syntax(expected, text),
        Token::Sign(sign) => Error::syntax(expected, &char::from(*sign).to_string()),
    }
}
