//! [`Fields`]: the children of a node, named in the order of CPython's `_fields`.

use ruff_python_ast::{Expr, ExprContext, Stmt};

use super::{Item, Walker};
use crate::kind::NodeKind;

/// A node that has just been added, and whose children are being put on the stack.
pub(super) struct Fields<'w, 'a> {
    pub(super) walker: &'w mut Walker<'a>,
    pub(super) node: u32,
}

impl<'a> Fields<'_, 'a> {
    /// One child.
    pub(super) fn item(self, item: Item<'a>) -> Self {
        self.walker.stack.push((item, self.node));
        self
    }

    /// A list of children.
    pub(super) fn items(self, items: impl IntoIterator<Item = Item<'a>>) -> Self {
        let node = self.node;
        self.walker.stack.extend(items.into_iter().map(|item| (item, node)));
        self
    }

    /// A child without children: a context or an operator.
    pub(super) fn leaf(self, kind: NodeKind) -> Self {
        self.item(Item::Leaf(kind))
    }

    /// An expression.
    pub(super) fn expr(self, expression: &'a Expr) -> Self {
        self.item(Item::Expr(expression))
    }

    /// A list of expressions.
    pub(super) fn exprs(self, expressions: impl IntoIterator<Item = &'a Expr>) -> Self {
        self.items(expressions.into_iter().map(Item::Expr))
    }

    /// An expression that may be absent.
    pub(super) fn optional(self, expression: &'a Option<Box<Expr>>) -> Self {
        self.exprs(expression.as_deref())
    }

    /// A list of statements.
    pub(super) fn body(self, statements: &'a [Stmt]) -> Self {
        self.items(statements.iter().map(Item::Stmt))
    }

    /// Whether a name is read, written or deleted.
    pub(super) fn context(self, context: ExprContext) -> Self {
        self.leaf(match context {
            ExprContext::Store => NodeKind::Store,
            ExprContext::Del => NodeKind::Del,
            // The parser marks what it could not parse, and then there is no tree to walk.
            ExprContext::Load | ExprContext::Invalid => NodeKind::Load,
        })
    }
}
