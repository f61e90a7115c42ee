//! The grammar of DOT, by recursive descent with a bounded depth.

use std::rc::Rc;

use super::graph::{Building, MAX_DEFAULTS, MAX_FIELDS, Scope, distinct, set};
use super::lexer::{IdKind, Lexer, Token};
use crate::collector::{Described, Fields};
use crate::error::{Error, shortened};
use crate::input::truncated;

/// Subgraphs inside subgraphs; hostile braces must not exhaust the stack.
const MAX_DEPTH: u64 = 100;

/// Reads graphs from tokens.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Token>,
    depth: u64,
}

impl<'a> Parser<'a> {
    pub(super) fn new(lexer: Lexer<'a>) -> Parser<'a> {
        Parser { lexer, ahead: None, depth: 0 }
    }

    /// The line of the last token.
    pub(super) fn line(&self) -> u64 {
        self.lexer.line
    }

    /// The next graph; `None` at the end of the file.
    pub(super) fn graph(&mut self) -> Result<Option<Described>, Error> {
        // GraphViz' own grammar does not allow it, but files have it.
        while self.takes_sign(b';')? {}
        let Some(first) = self.next()? else { return Ok(None) };
        let is_strict = is_keyword(&first, "strict");
        let kind = if is_strict { self.some()? } else { first };
        if is_keyword(&kind, "graph") {
            return Err(undirected("a graph whose edges have no direction"));
        }
        if !is_keyword(&kind, "digraph") {
            return Err(unexpected("digraph", &kind));
        }
        let name = match self.some()? {
            Token::Id { text, .. } => {
                self.sign(b'{')?;
                Some(text)
            }
            Token::Sign(b'{') => None,
            other => return Err(unexpected("a name or {", &other)),
        };
        let (mut graph, mut scope) = (Building::new(name), Scope::default());
        self.depth = 0;
        self.statements(&mut graph, &mut scope)?;
        Ok(Some(graph.finish(is_strict)))
    }

    /// Statements up to the closing brace.
    fn statements(&mut self, graph: &mut Building, scope: &mut Scope) -> Result<(), Error> {
        loop {
            match self.some()? {
                Token::Sign(b'}') => return Ok(()),
                // A comma between statements is no DOT, but GraphViz' `;` is optional, so only that is skipped.
                Token::Sign(b';') => {}
                token => self.statement(token, graph, scope)?,
            }
        }
    }

    fn statement(&mut self, first: Token, graph: &mut Building, scope: &mut Scope) -> Result<(), Error> {
        for kind in ["graph", "node", "edge"] {
            if is_keyword(&first, kind) {
                if !self.sees_sign(b'[')? {
                    let found = self.some()?;
                    return Err(unexpected(&format!("[ after {kind} (to use it as a name, put it in quotes)"), &found));
                }
                let fields = self.attributes()?;
                return match kind {
                    "graph" if self.depth == 0 => graph.set_graph(fields),
                    "node" => set(Rc::make_mut(&mut scope.node_defaults), fields, MAX_DEFAULTS),
                    "edge" => {
                        graph.set_edges(fields);
                        Ok(())
                    }
                    _ => Ok(()),
                };
            }
        }
        if let Token::Id { text, .. } = &first
            && !is_keyword(&first, "subgraph")
            && self.sees_sign(b'=')?
        {
            self.next()?;
            let (key, value) = (text.clone(), self.text("a value")?);
            if self.depth == 0 {
                graph.set_graph(vec![(key, Some(value))])?;
            }
            return Ok(());
        }
        let is_node = matches!(first, Token::Id { .. }) && !is_keyword(&first, "subgraph");
        let mut from = self.operand(first, graph, scope)?;
        let mut is_chain = false;
        while self.sees_arrow()? {
            self.next()?;
            let token = self.some()?;
            let to = self.operand(token, graph, scope)?;
            graph.connect(&from, &to)?;
            (from, is_chain) = (to, true);
        }
        if self.sees_sign(b'[')? {
            let fields = self.attributes()?;
            match is_chain {
                true => graph.set_edges(fields),
                false if is_node => graph.set_node(from[0], fields)?,
                false => return Err(Error::syntax("a statement after a subgraph", "[")),
            }
        }
        Ok(())
    }

    /// One side of an arrow: a node with or without a port, or the nodes of a subgraph.
    fn operand(&mut self, first: Token, graph: &mut Building, scope: &mut Scope) -> Result<Vec<usize>, Error> {
        let mut name = None;
        match first {
            Token::Sign(b'{') => {}
            _ if is_keyword(&first, "subgraph") => {
                if !self.sees_sign(b'{')? {
                    name = Some(self.text("the name of a subgraph or {")?);
                }
                self.sign(b'{')?;
            }
            Token::Id { ref text, kind } if !is_reserved(&first) => {
                let text = if kind == IdKind::Html { format!("<{text}>") } else { self.joined(text.clone(), kind)? };
                while self.takes_sign(b':')? {
                    self.text("a port")?;
                }
                return Ok(vec![graph.node(text, scope)]);
            }
            other => return Err(unexpected("a node or a subgraph", &other)),
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let remedy = "draw fewer subgraphs inside one another";
            return Err(Error::TooMuch { what: "levels of subgraphs", max: MAX_DEPTH, remedy });
        }
        let mut inner = Scope { node_defaults: Rc::clone(&scope.node_defaults), members: Vec::new() };
        self.statements(graph, &mut inner)?;
        self.depth -= 1;
        let members = distinct(inner.members);
        let members = match name {
            Some(name) => graph.reopen(name, members)?,
            None => members,
        };
        scope.members.extend_from_slice(&members);
        Ok(members)
    }

    /// Any number of attribute lists.
    fn attributes(&mut self) -> Result<Fields, Error> {
        let mut fields = Fields::new();
        while self.takes_sign(b'[')? {
            while !self.takes_sign(b']')? {
                let key = self.text("an attribute or ]")?;
                // GraphViz takes an attribute without a value for a true one.
                let value = if self.takes_sign(b'=')? { self.text("a value")? } else { "true".to_owned() };
                set(&mut fields, vec![(key, Some(value))], MAX_FIELDS)?;
                let _ = self.takes_sign(b',')? || self.takes_sign(b';')?;
            }
        }
        Ok(fields)
    }

    /// An identifier that is no keyword.
    fn text(&mut self, expected: &str) -> Result<String, Error> {
        match self.some()? {
            token if is_reserved(&token) => Err(unexpected(&format!("{expected} (keywords in quotes)"), &token)),
            Token::Id { text, kind } => self.joined(text, kind),
            other => Err(unexpected(expected, &other)),
        }
    }

    /// Quoted text goes on after a plus.
    fn joined(&mut self, mut text: String, kind: IdKind) -> Result<String, Error> {
        while kind == IdKind::Quoted && self.takes_sign(b'+')? {
            match self.some()? {
                Token::Id { text: more, kind: IdKind::Quoted } => text.push_str(&more),
                other => return Err(unexpected("quoted text after +", &other)),
            }
        }
        Ok(text)
    }

    fn sign(&mut self, sign: u8) -> Result<(), Error> {
        match self.some()? {
            Token::Sign(found) if found == sign => Ok(()),
            other => Err(unexpected(&char::from(sign).to_string(), &other)),
        }
    }

    fn takes_sign(&mut self, sign: u8) -> Result<bool, Error> {
        let sees = self.sees_sign(sign)?;
        if sees {
            self.next()?;
        }
        Ok(sees)
    }

    fn sees_sign(&mut self, sign: u8) -> Result<bool, Error> {
        Ok(self.peek()? == Some(&Token::Sign(sign)))
    }

    fn sees_arrow(&mut self) -> Result<bool, Error> {
        match self.peek()? {
            Some(Token::Line) => Err(undirected("an edge without direction, --")),
            token => Ok(token == Some(&Token::Arrow)),
        }
    }

    fn peek(&mut self) -> Result<Option<&Token>, Error> {
        if self.ahead.is_none() {
            self.ahead = self.lexer.token()?;
        }
        Ok(self.ahead.as_ref())
    }

    fn next(&mut self) -> Result<Option<Token>, Error> {
        match self.ahead.take() {
            Some(token) => Ok(Some(token)),
            None => self.lexer.token(),
        }
    }

    fn some(&mut self) -> Result<Token, Error> {
        self.next()?.ok_or_else(|| truncated("in the middle of a graph"))
    }
}

/// Keywords may be written in any case.
fn is_keyword(token: &Token, keyword: &str) -> bool {
    matches!(token, Token::Id { text, kind: IdKind::Bare } if text.eq_ignore_ascii_case(keyword))
}

fn is_reserved(token: &Token) -> bool {
    ["strict", "graph", "digraph", "subgraph", "node", "edge"].iter().any(|keyword| is_keyword(token, keyword))
}

fn undirected(what: &str) -> Error {
    Error::Unsupported { what: what.to_owned(), remedy: "write digraph and ->, with edges that close no cycle" }
}

fn unexpected(expected: &str, found: &Token) -> Error {
    Error::expected(
        expected,
        match found {
            Token::Id { text, .. } => format!("'{}'", shortened(text)),
            Token::Sign(sign) => format!("'{}'", char::from(*sign)),
            Token::Arrow => "'->'".to_owned(),
            Token::Line => "'--'".to_owned(),
        },
    )
}
