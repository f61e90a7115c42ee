//! [`Function`]: one function with its tree.

use ruff_python_ast::{Stmt, StmtFunctionDef};

use crate::dialect::Dialect;
use crate::error::Error;
use crate::filter::Facts;
use crate::label::sub_tokens;
use crate::parse::{LineCursor, line_at};
use crate::tree::Tree;
use crate::walk::{MASK, function_tree};

/// One Python function: its name, and its tree with the name masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name, which is to be predicted.
    pub name: String,
    /// The line of its `def`, counted from 1.
    pub line: usize,
    /// Lines from `def` to the end of the body.
    pub n_lines: usize,
    /// Whether the body starts with a string.
    pub has_docstring: bool,
    /// The tree. Node 0 is the `Module`, node 1 the function, without decorators. Every function in it that has the name
    /// of this one has the attribute [`Function::MASK`] instead; calls of it keep the name, as in OGB.
    pub tree: Tree,
}

impl Function {
    /// What stands for the name of the function in its tree.
    pub const MASK: &str = MASK;

    /// The words of the name: what OGBG-CODE2 predicts.
    pub fn label(&self) -> Vec<String> {
        sub_tokens(&self.name)
    }
}

/// A function that has been found in a module and not yet walked.
pub(crate) struct Site<'a> {
    text: &'a str,
    def: &'a StmtFunctionDef,
    line: usize,
    n_lines: usize,
    has_docstring: bool,
}

impl<'a> Site<'a> {
    pub(crate) fn new(text: &'a str, def: &'a StmtFunctionDef, lines: &mut LineCursor<'_>) -> Site<'a> {
        // Not the start of the definition, which is that of its first decorator.
        let start = def.name.range.start().to_usize();
        let body = &text[start..def.range.end().to_usize()];
        let has_docstring = is_docstring(def.body.first());
        Site { text, def, line: lines.line_at(start), n_lines: line_at(body, body.len()), has_docstring }
    }

    pub(crate) fn facts(&self) -> Facts<'a> {
        Facts { name: &self.def.name, n_lines: self.n_lines, has_docstring: self.has_docstring }
    }

    pub(crate) fn function(&self, dialect: Dialect) -> Result<Function, Error> {
        Ok(Function {
            name: self.def.name.to_string(),
            line: self.line,
            n_lines: self.n_lines,
            has_docstring: self.has_docstring,
            tree: function_tree(self.text, self.def, dialect)?,
        })
    }
}

fn is_docstring(first: Option<&Stmt>) -> bool {
    matches!(first, Some(Stmt::Expr(statement)) if statement.value.is_string_literal_expr())
}

/// Every function of a module in the order of the source: methods and nested functions, too. Without recursion.
pub(crate) fn definitions(body: &[Stmt]) -> impl Iterator<Item = &StmtFunctionDef> {
    let mut stack: Vec<&Stmt> = body.iter().rev().collect();
    std::iter::from_fn(move || {
        loop {
            let statement = stack.pop()?;
            let n_waiting = stack.len();
            blocks(statement, |block| stack.extend(block));
            stack[n_waiting..].reverse();
            if let Stmt::FunctionDef(def) = statement {
                return Some(def);
            }
        }
    })
}

/// Hands every block of a statement to `each`, in the order of the source.
fn blocks<'a>(statement: &'a Stmt, mut each: impl FnMut(&'a [Stmt])) {
    match statement {
        Stmt::FunctionDef(def) => each(&def.body),
        Stmt::ClassDef(def) => each(&def.body),
        Stmt::For(stmt) => [&stmt.body, &stmt.orelse].into_iter().for_each(|block| each(block)),
        Stmt::While(stmt) => [&stmt.body, &stmt.orelse].into_iter().for_each(|block| each(block)),
        Stmt::If(stmt) => {
            each(&stmt.body);
            stmt.elif_else_clauses.iter().for_each(|clause| each(&clause.body));
        }
        Stmt::With(stmt) => each(&stmt.body),
        Stmt::Match(stmt) => stmt.cases.iter().for_each(|case| each(&case.body)),
        Stmt::Try(stmt) => {
            each(&stmt.body);
            stmt.handlers.iter().filter_map(|handler| handler.as_except_handler()).for_each(|part| each(&part.body));
            [&stmt.orelse, &stmt.finalbody].into_iter().for_each(|block| each(block));
        }
        _ => {}
    }
}
