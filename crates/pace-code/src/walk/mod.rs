//! From the parser's tree to CPython's, in depth-first order, without recursion.
//!
//! Each visit adds one node and puts its children on a stack, in the order of CPython's `_fields`. What the parser leaves
//! out is added here: contexts, operators and empty `arguments`; what it keeps flat is nested: `elif`.

mod expression;
mod fields;
mod part;
mod pattern;
mod statement;
mod string;

use ruff_python_ast::{
    Alias, Comprehension, ElifElseClause, ExceptHandler, Expr, InterpolatedElement, InterpolatedStringFormatSpec,
    Keyword, MatchCase, Parameter, Parameters, Pattern, Stmt, StmtFunctionDef, TypeParam, WithItem,
};

use self::fields::Fields;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::kind::NodeKind;
use crate::literal::MAX_DIGITS;
use crate::parse::{Parsed, line_at};
use crate::tree::{Span, Tree};

/// What the attribute of a masked name is.
pub(crate) const MASK: &str = "_mask_";

/// The tree of a whole module.
pub(crate) fn module_tree(parsed: Parsed<'_>, dialect: Dialect) -> Result<Tree, Error> {
    let mut walker = Walker::new(parsed.text.len(), dialect, None);
    let root = walker.tree.add_root(NodeKind::Module);
    Fields { walker: &mut walker, node: root }.body(&parsed.module.body);
    walker.finish(parsed.text)
}

/// The tree of a function as if it were alone in its module: without decorators, and with its name masked wherever a
/// function has it.
pub(crate) fn function_tree(text: &str, function: &StmtFunctionDef, dialect: Dialect) -> Result<Tree, Error> {
    let mut walker = Walker::new(function.range.len().to_usize(), dialect, Some(&function.name));
    let root = walker.tree.add_root(NodeKind::Module);
    walker.function(function, &[], root);
    walker.finish(text)
}

/// Something that is one node of CPython's tree.
#[derive(Clone, Copy)]
enum Item<'a> {
    Leaf(NodeKind),
    /// A piece of text inside an f-string.
    Text(Span),
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    /// An `elif` with everything after it: an `If` in the `orelse` of another.
    Elif(&'a [ElifElseClause]),
    Arguments(Option<&'a Parameters>),
    Arg(&'a Parameter),
    Keyword(&'a Keyword),
    Alias(&'a Alias),
    With(&'a WithItem),
    Handler(&'a ExceptHandler),
    Case(&'a MatchCase),
    Pattern(&'a Pattern),
    Comprehension(&'a Comprehension),
    TypeParam(&'a TypeParam),
    /// What stands between square brackets after a value.
    Index(&'a Expr),
    /// What stands between braces in an f-string (`FormattedValue`) or a t-string (`Interpolation`).
    Interpolation(NodeKind, &'a InterpolatedElement),
    FormatSpec(&'a InterpolatedStringFormatSpec),
}

struct Walker<'a> {
    dialect: Dialect,
    /// The name that functions must not show.
    masked: Option<&'a str>,
    tree: Tree,
    /// What is still to be visited, with its parent; the next one last.
    stack: Vec<(Item<'a>, u32)>,
    /// Where the first integer stands that has too many digits.
    huge_integer: Option<usize>,
}

impl<'a> Walker<'a> {
    fn new(n_source_bytes: usize, dialect: Dialect, masked: Option<&'a str>) -> Walker<'a> {
        let tree = Tree::with_capacity(n_source_bytes);
        Walker { dialect, masked, tree, stack: Vec::with_capacity(64), huge_integer: None }
    }

    /// Visits what the root has put on the stack, and everything below.
    fn finish(mut self, text: &str) -> Result<Tree, Error> {
        self.stack.reverse();
        while let Some((item, parent)) = self.stack.pop() {
            let n_waiting = self.stack.len();
            self.visit(item, parent);
            self.stack[n_waiting..].reverse();
        }
        match self.huge_integer {
            None => Ok(self.tree),
            Some(offset) => Err(Error::HugeInteger { line: line_at(text, offset), max_digits: MAX_DIGITS }),
        }
    }

    fn visit(&mut self, item: Item<'a>, parent: u32) -> Fields<'_, 'a> {
        match item {
            Item::Leaf(kind) => self.node(kind, parent),
            Item::Text(span) => self.text(span, parent),
            Item::Stmt(statement) => self.statement(statement, parent),
            Item::Expr(expression) => self.expression(expression, parent),
            Item::Elif(clauses) => self.elif(clauses, parent),
            Item::Arguments(parameters) => self.arguments(parameters, parent),
            Item::Arg(parameter) => self.named(NodeKind::Arg, &parameter.name, parent).optional(&parameter.annotation),
            Item::Keyword(keyword) => self.keyword(keyword, parent),
            Item::Alias(alias) => self.named(NodeKind::Alias, &alias.name, parent),
            Item::With(item) => {
                self.node(NodeKind::WithItem, parent).expr(&item.context_expr).optional(&item.optional_vars)
            }
            Item::Handler(handler) => self.handler(handler, parent),
            Item::Case(case) => self.case(case, parent),
            Item::Pattern(pattern) => self.pattern(pattern, parent),
            Item::Comprehension(part) => {
                self.node(NodeKind::Comprehension, parent).expr(&part.target).expr(&part.iter).exprs(&part.ifs)
            }
            Item::TypeParam(param) => self.type_param(param, parent),
            Item::Index(expression) => self.index(expression, parent),
            Item::Interpolation(kind, element) => self.interpolation(kind, element, parent),
            Item::FormatSpec(spec) => self.node(NodeKind::JoinedStr, parent).pieces(&spec.elements),
        }
    }

    /// Adds a node without attribute.
    fn node(&mut self, kind: NodeKind, parent: u32) -> Fields<'_, 'a> {
        let node = self.tree.add(kind, parent);
        Fields { walker: self, node }
    }

    /// Adds a node with an attribute.
    fn named(&mut self, kind: NodeKind, name: &str, parent: u32) -> Fields<'_, 'a> {
        self.written(kind, parent, |text| text.push_str(name))
    }

    /// Adds a node with an attribute if there is one.
    fn maybe_named(&mut self, kind: NodeKind, name: Option<&str>, parent: u32) -> Fields<'_, 'a> {
        match name {
            Some(name) => self.named(kind, name, parent),
            None => self.node(kind, parent),
        }
    }

    /// Adds a node whose attribute `write` appends.
    fn written(&mut self, kind: NodeKind, parent: u32, write: impl FnOnce(&mut String)) -> Fields<'_, 'a> {
        let node = self.tree.add(kind, parent);
        let start = self.tree.text_end();
        write(self.tree.text_mut());
        self.tree.attribute_from(node, start);
        Fields { walker: self, node }
    }
}
