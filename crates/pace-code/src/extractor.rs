//! [`Extractor`]: from a source to its functions.

use ruff_python_ast::Stmt;

use crate::dialect::Dialect;
use crate::error::Error;
use crate::filter::Filter;
use crate::function::{Function, Site, definitions};
use crate::parse::{LineCursor, MAX_SOURCE_BYTES, Parsed, utf8, with_parsed};
use crate::tree::Tree;
use crate::walk::module_tree;

/// How sources become functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extractor {
    /// Whose node types the trees have.
    pub dialect: Dialect,
    /// Which functions are taken.
    pub filter: Filter,
}

/// The functions of one source.
#[derive(Debug, Default)]
pub(crate) struct Extracted {
    pub(crate) functions: Vec<Function>,
    /// Functions that the filter refused.
    pub(crate) n_refused: usize,
}

impl Extractor {
    /// The functions of a module, in the order of their `def`: methods and nested functions, too, each as a tree of its own.
    ///
    /// Linear in the source, but for functions inside functions, which are in the trees of both.
    ///
    /// # Errors
    /// If the source is empty, too large, too deep, or not Python.
    pub fn functions(&self, source: &str) -> Result<Vec<Function>, Error> {
        Ok(self.extract(source)?.functions)
    }

    /// [`Extractor::functions`] of the bytes of a file.
    ///
    /// # Errors
    /// As [`Extractor::functions`], and if the bytes are not UTF-8.
    pub fn functions_of_bytes(&self, source: &[u8]) -> Result<Vec<Function>, Error> {
        Ok(self.extract_bytes(source)?.functions)
    }

    pub(crate) fn extract_bytes(&self, source: &[u8]) -> Result<Extracted, Error> {
        match source.len() > MAX_SOURCE_BYTES {
            true => Err(Error::TooLarge { n_bytes: source.len() as u64, max_bytes: MAX_SOURCE_BYTES as u64 }),
            false => self.extract(utf8(source)?),
        }
    }

    pub(crate) fn extract(&self, source: &str) -> Result<Extracted, Error> {
        with_parsed(source, |Parsed { text, module }| {
            if module.body.is_empty() {
                return Err(Error::Empty);
            }
            let mut lines = LineCursor::new(text);
            let mut extracted = Extracted::default();
            for def in definitions(&module.body) {
                let site = Site::new(text, def, &mut lines);
                match self.filter.takes(&site.facts()) {
                    true => extracted.functions.push(site.function(self.dialect)?),
                    false => extracted.n_refused += 1,
                }
            }
            Ok(extracted)
        })
    }

    /// The function of a source that holds one function and nothing else; `None` if the filter refuses it. The functions
    /// inside it are not taken out.
    ///
    /// # Errors
    /// As [`Extractor::functions`], and if the source is something else.
    pub fn function(&self, source: &str) -> Result<Option<Function>, Error> {
        with_parsed(source, |Parsed { text, module }| match &*module.body {
            [] => Err(Error::Empty),
            [Stmt::FunctionDef(def)] => {
                let site = Site::new(text, def, &mut LineCursor::new(text));
                self.filter.takes(&site.facts()).then(|| site.function(self.dialect)).transpose()
            }
            [_] => Err(Error::NotOneFunction { found: "another statement".to_owned() }),
            statements => Err(Error::NotOneFunction { found: format!("{} statements", statements.len()) }),
        })
    }

    /// The tree of a whole module, nothing cut off, masked or filtered: what `ast.parse` gives.
    ///
    /// # Errors
    /// If the source is too large, too deep, or not Python. An empty one is a `Module` alone.
    pub fn module(&self, source: &str) -> Result<Tree, Error> {
        with_parsed(source, |parsed| module_tree(parsed, self.dialect))
    }
}
