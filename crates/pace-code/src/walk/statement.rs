//! Statements.

use ruff_python_ast::{Decorator, ElifElseClause, Stmt, StmtClassDef, StmtFunctionDef, TypeParams};

use super::expression::operator;
use super::fields::Fields;
use super::{Item, MASK, Walker};
use crate::kind::NodeKind as Kind;

impl<'a> Walker<'a> {
    pub(super) fn statement(&mut self, statement: &'a Stmt, parent: u32) -> Fields<'_, 'a> {
        match statement {
            Stmt::FunctionDef(def) => self.function(def, &def.decorator_list, parent),
            Stmt::ClassDef(def) => self.class(def, parent),
            Stmt::Return(stmt) => self.node(Kind::Return, parent).optional(&stmt.value),
            Stmt::Delete(stmt) => self.node(Kind::Delete, parent).exprs(&stmt.targets),
            Stmt::Assign(stmt) => self.node(Kind::Assign, parent).exprs(&stmt.targets).expr(&stmt.value),
            // Its field `name` is a node: `str` of that is an address, which is no attribute.
            Stmt::TypeAlias(stmt) => self
                .node(Kind::TypeAlias, parent)
                .expr(&stmt.name)
                .type_params(stmt.type_params.as_deref())
                .expr(&stmt.value),
            Stmt::AugAssign(stmt) => {
                self.node(Kind::AugAssign, parent).expr(&stmt.target).leaf(operator(stmt.op)).expr(&stmt.value)
            }
            Stmt::AnnAssign(stmt) => {
                self.node(Kind::AnnAssign, parent).expr(&stmt.target).expr(&stmt.annotation).optional(&stmt.value)
            }
            Stmt::For(stmt) => {
                let kind = if stmt.is_async { Kind::AsyncFor } else { Kind::For };
                self.node(kind, parent).expr(&stmt.target).expr(&stmt.iter).body(&stmt.body).body(&stmt.orelse)
            }
            Stmt::While(stmt) => self.node(Kind::While, parent).expr(&stmt.test).body(&stmt.body).body(&stmt.orelse),
            Stmt::If(stmt) => {
                self.node(Kind::If, parent).expr(&stmt.test).body(&stmt.body).orelse(&stmt.elif_else_clauses)
            }
            Stmt::With(stmt) => {
                let kind = if stmt.is_async { Kind::AsyncWith } else { Kind::With };
                self.node(kind, parent).items(stmt.items.iter().map(Item::With)).body(&stmt.body)
            }
            Stmt::Match(stmt) => {
                self.node(Kind::Match, parent).expr(&stmt.subject).items(stmt.cases.iter().map(Item::Case))
            }
            Stmt::Raise(stmt) => self.node(Kind::Raise, parent).optional(&stmt.exc).optional(&stmt.cause),
            Stmt::Try(stmt) => {
                let kind = if stmt.is_star { Kind::TryStar } else { Kind::Try };
                let handlers = stmt.handlers.iter().map(Item::Handler);
                self.node(kind, parent).body(&stmt.body).items(handlers).body(&stmt.orelse).body(&stmt.finalbody)
            }
            Stmt::Assert(stmt) => self.node(Kind::Assert, parent).expr(&stmt.test).optional(&stmt.msg),
            Stmt::Import(stmt) => self.node(Kind::Import, parent).items(stmt.names.iter().map(Item::Alias)),
            Stmt::ImportFrom(stmt) => self.node(Kind::ImportFrom, parent).items(stmt.names.iter().map(Item::Alias)),
            Stmt::Global(_) => self.node(Kind::Global, parent),
            Stmt::Nonlocal(_) => self.node(Kind::Nonlocal, parent),
            Stmt::Expr(stmt) => self.node(Kind::Expr, parent).expr(&stmt.value),
            Stmt::Pass(_) => self.node(Kind::Pass, parent),
            Stmt::Break(_) => self.node(Kind::Break, parent),
            Stmt::Continue(_) => self.node(Kind::Continue, parent),
            Stmt::IpyEscapeCommand(_) => unreachable!("modules are not parsed as notebooks"),
        }
    }

    /// A function with the given decorators, which may be fewer than its own.
    pub(super) fn function(
        &mut self,
        def: &'a StmtFunctionDef,
        decorators: &'a [Decorator],
        parent: u32,
    ) -> Fields<'_, 'a> {
        let kind = if def.is_async { Kind::AsyncFunctionDef } else { Kind::FunctionDef };
        let name = if self.masked == Some(&*def.name) { MASK } else { &*def.name };
        self.named(kind, name, parent)
            .item(Item::Arguments(Some(&def.parameters)))
            .body(&def.body)
            .decorators(decorators)
            .optional(&def.returns)
            .type_params(def.type_params.as_deref())
    }

    fn class(&mut self, def: &'a StmtClassDef, parent: u32) -> Fields<'_, 'a> {
        self.named(Kind::ClassDef, &def.name, parent)
            .exprs(def.bases())
            .items(def.keywords().iter().map(Item::Keyword))
            .body(&def.body)
            .decorators(&def.decorator_list)
            .type_params(def.type_params.as_deref())
    }

    /// The `If` that CPython makes of an `elif`.
    pub(super) fn elif(&mut self, clauses: &'a [ElifElseClause], parent: u32) -> Fields<'_, 'a> {
        let node = self.node(Kind::If, parent);
        match clauses.split_first() {
            Some((clause, rest)) => node.exprs(&clause.test).body(&clause.body).orelse(rest),
            None => node,
        }
    }
}

impl<'a> Fields<'_, 'a> {
    /// What remains of an `if`: one nested `If`, or the statements of `else`.
    fn orelse(self, clauses: &'a [ElifElseClause]) -> Self {
        match clauses.first() {
            Some(clause) if clause.test.is_some() => self.item(Item::Elif(clauses)),
            Some(clause) => self.body(&clause.body),
            None => self,
        }
    }

    fn decorators(self, decorators: &'a [Decorator]) -> Self {
        self.exprs(decorators.iter().map(|decorator| &decorator.expression))
    }

    fn type_params(self, params: Option<&'a TypeParams>) -> Self {
        self.items(params.into_iter().flat_map(|params| params.iter().map(Item::TypeParam)))
    }
}
