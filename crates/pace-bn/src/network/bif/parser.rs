//! The grammar of BIF: blocks of a network, variables and probabilities.

use std::collections::HashMap;

use super::lexer::{Lexer, Token};
use super::tables::{Line, Table};
use crate::error::Error;
use crate::network::model::Network;
use crate::structure::Structure;

/// Reads the network of a BIF file. Messages name `file`.
///
/// Probabilities may be given by rows `(a, b) 0.1, 0.9;`, as a `table` (with parents: the child changing slowest and the last
/// parent fastest, as in the example of the format's description), or by `default`. Properties and comments are skipped.
///
/// # Errors
/// If the text does not follow the format, or is no Bayesian network.
pub fn parse_bif(text: &str, file: &str) -> Result<Network, Error> {
    let mut parser = Parser { lexer: Lexer::new(text, file), variables: Vec::new(), numbers: HashMap::new() };
    let mut name = String::new();
    let mut tables = Vec::new();
    while let Some(token) = parser.lexer.next()? {
        match &token {
            Token::Word(word) if word == "network" => name = parser.network()?,
            Token::Word(word) if word == "variable" => parser.variable()?,
            Token::Word(word) if word == "probability" => tables.push(parser.probability()?),
            _ => {
                return Err(parser
                    .lexer
                    .wrong(format!("{token} where 'variable' or 'probability' should begin a block")));
            }
        }
    }
    parser.finish(name, tables)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// Name and levels, in the order of the file.
    variables: Vec<(String, Vec<String>)>,
    numbers: HashMap<String, usize>,
}

impl Parser<'_> {
    fn token(&mut self) -> Result<Token, Error> {
        match self.lexer.next()? {
            Some(token) => Ok(token),
            None => Err(self.lexer.wrong("the file ends in the middle of a block; it is cut off".to_owned())),
        }
    }

    fn word(&mut self, what: &str) -> Result<String, Error> {
        match self.token()? {
            Token::Word(word) => Ok(word),
            other => Err(self.lexer.wrong(format!("{other} where {what} should stand"))),
        }
    }

    fn sign(&mut self, sign: char) -> Result<(), Error> {
        match self.token()? {
            Token::Sign(found) if found == sign => Ok(()),
            other => Err(self.lexer.wrong(format!("{other} where '{sign}' should stand"))),
        }
    }

    fn network(&mut self) -> Result<String, Error> {
        let name = match self.token()? {
            Token::Word(name) => {
                self.sign('{')?;
                name
            }
            Token::Sign('{') => String::new(),
            other => return Err(self.lexer.wrong(format!("{other} where the name of the network should stand"))),
        };
        loop {
            match self.token()? {
                Token::Sign('}') => return Ok(name),
                Token::Word(word) if word == "property" => self.lexer.skip_property()?,
                other => return Err(self.lexer.wrong(format!("{other} where 'property' or '}}' should stand"))),
            }
        }
    }

    fn variable(&mut self) -> Result<(), Error> {
        let name = self.word("the name of a variable")?;
        self.sign('{')?;
        let mut levels = None;
        loop {
            match self.token()? {
                Token::Sign('}') => break,
                Token::Word(word) if word == "property" => self.lexer.skip_property()?,
                Token::Word(word) if word == "type" => levels = Some(self.levels(&name)?),
                other => {
                    return Err(self.lexer.wrong(format!("{other} where 'type', 'property' or '}}' should stand")));
                }
            }
        }
        let levels =
            levels.ok_or_else(|| self.lexer.wrong(format!("variable '{name}' has no type; list its levels")))?;
        if self.numbers.insert(name.clone(), self.variables.len()).is_some() {
            return Err(self.lexer.wrong(format!("variable '{name}' stands here for the second time; rename one")));
        }
        self.variables.push((name, levels));
        Ok(())
    }

    fn levels(&mut self, name: &str) -> Result<Vec<String>, Error> {
        let kind = self.word("'discrete'")?;
        if kind != "discrete" {
            return Err(self.lexer.wrong(format!("variable '{name}' is {kind}; only discrete variables can be read")));
        }
        self.sign('[')?;
        let count = self.word("the number of levels")?;
        self.sign(']')?;
        self.sign('{')?;
        let mut levels: Vec<String> = Vec::new();
        loop {
            match self.token()? {
                Token::Sign('}') => break,
                Token::Word(level) if levels.contains(&level) => {
                    return Err(self.lexer.wrong(format!("level '{level}' of '{name}' stands here twice; rename one")));
                }
                Token::Word(level) => levels.push(level),
                other => return Err(self.lexer.wrong(format!("{other} where a level of '{name}' should stand"))),
            }
        }
        self.sign(';')?;
        if count.parse() != Ok(levels.len()) || levels.is_empty() || levels.len() > usize::from(u16::MAX) {
            let found = levels.len();
            return Err(self.lexer.wrong(format!("variable '{name}' has {found} levels where it says {count}")));
        }
        Ok(levels)
    }

    fn known(&mut self, what: &str) -> Result<usize, Error> {
        let name = self.word(what)?;
        self.numbers
            .get(&name)
            .copied()
            .ok_or_else(|| self.lexer.wrong(format!("'{name}' is no variable; declare it before its probabilities")))
    }

    fn probability(&mut self) -> Result<Table, Error> {
        self.sign('(')?;
        let child = self.known("a variable")?;
        let mut parents = Vec::new();
        loop {
            match self.token()? {
                Token::Sign('|') => {}
                Token::Sign(')') => break,
                Token::Word(name) => match self.numbers.get(&name) {
                    Some(&parent) if parent != child && !parents.contains(&parent) => parents.push(parent),
                    Some(_) => return Err(self.lexer.wrong(format!("'{name}' stands here twice; take one away"))),
                    None => return Err(self.lexer.wrong(format!("'{name}' is no variable; declare it before"))),
                },
                other => return Err(self.lexer.wrong(format!("{other} where a parent or ')' should stand"))),
            }
        }
        self.sign('{')?;
        let mut lines = Vec::new();
        loop {
            match self.token()? {
                Token::Sign('}') => break,
                Token::Sign('(') => {
                    let mut levels = Vec::new();
                    loop {
                        match self.token()? {
                            Token::Sign(')') => break,
                            Token::Word(level) => levels.push(level),
                            other => return Err(self.lexer.wrong(format!("{other} where a level should stand"))),
                        }
                    }
                    let configuration = self.configuration(&parents, &levels)?;
                    lines.push(Line::Row(configuration, self.numbers_to_semicolon()?));
                }
                Token::Word(word) if word == "table" => lines.push(Line::Table(self.numbers_to_semicolon()?)),
                Token::Word(word) if word == "default" => lines.push(Line::Default(self.numbers_to_semicolon()?)),
                Token::Word(word) if word == "property" => self.lexer.skip_property()?,
                other => return Err(self.lexer.wrong(format!("{other} where '(', 'table' or '}}' should stand"))),
            }
        }
        Ok(Table { child, parents, lines })
    }

    /// The numbers of the levels of the parents.
    fn configuration(&self, parents: &[usize], levels: &[String]) -> Result<Vec<usize>, Error> {
        if parents.len() != levels.len() {
            let (found, wanted) = (levels.len(), parents.len());
            return Err(self.lexer.wrong(format!("{found} levels where there are {wanted} parents; give one of each")));
        }
        let number = |(&parent, level): (&usize, &String)| {
            let (name, known) = &self.variables[parent];
            known.iter().position(|known| known == level).ok_or_else(|| {
                self.lexer.wrong(format!("'{name}' has no level '{level}'; it has {}", known.join(", ")))
            })
        };
        parents.iter().zip(levels).map(number).collect()
    }

    fn numbers_to_semicolon(&mut self) -> Result<Vec<f64>, Error> {
        let mut numbers = Vec::new();
        loop {
            match self.token()? {
                Token::Sign(';') => return Ok(numbers),
                Token::Word(word) => match word.parse() {
                    Ok(number) => numbers.push(number),
                    Err(_) => return Err(self.lexer.wrong(format!("'{word}' where a probability should stand"))),
                },
                other => return Err(self.lexer.wrong(format!("{other} where a probability or ';' should stand"))),
            }
        }
    }

    /// Sorts the variables by name and puts the tables in that order.
    fn finish(self, name: String, tables: Vec<Table>) -> Result<Network, Error> {
        if self.variables.is_empty() {
            return Err(self.lexer.wrong("no variables; a network has at least one".to_owned()));
        }
        if self.variables.len() > usize::from(u16::MAX) {
            return Err(self.lexer.wrong(format!("{} variables, more than {}", self.variables.len(), u16::MAX)));
        }
        let mut order: Vec<usize> = (0..self.variables.len()).collect();
        order.sort_by(|&a, &b| self.variables[a].0.cmp(&self.variables[b].0));
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| number[old] = new);
        let mut by_child: Vec<Option<Table>> = order.iter().map(|_| None).collect();
        for table in tables {
            let name = &self.variables[table.child].0;
            if by_child[number[table.child]].replace(table).is_some() {
                return Err(self.lexer.wrong(format!("two blocks of probabilities of '{name}'; take one away")));
            }
        }
        let mut parents = Vec::new();
        let mut cpts = Vec::new();
        for (table, &old) in by_child.into_iter().zip(&order) {
            let name = &self.variables[old].0;
            let table = table.ok_or_else(|| self.lexer.wrong(format!("'{name}' has no probabilities; add a block")))?;
            let numbers = |old: usize| number[old];
            cpts.push(table.cpt(&self.variables, numbers).map_err(|reason| self.lexer.wrong(reason))?);
            parents.push(table.parents.iter().map(|&parent| number[parent] as u16).collect());
        }
        let (names, levels): (Vec<_>, Vec<_>) = order.iter().map(|&old| self.variables[old].clone()).unzip();
        let structure = Structure::new(parents).map_err(|error| match error {
            Error::Cycle { name } => {
                let name = name.parse().ok().and_then(|number: usize| names.get(number)).cloned().unwrap_or(name);
                Error::Cycle { name }
            }
            other => other,
        })?;
        Network::new(name, names, levels, structure, cpts)
    }
}
