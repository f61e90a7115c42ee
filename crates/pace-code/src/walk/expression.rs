//! Expressions.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Number, Operator, UnaryOp};

use super::fields::Fields;
use super::{Item, Walker};
use crate::dialect::Dialect;
use crate::kind::NodeKind as Kind;
use crate::literal::{TooManyDigits, push_bytes, push_float, push_imaginary, push_integer};

impl<'a> Walker<'a> {
    pub(super) fn expression(&mut self, expression: &'a Expr, parent: u32) -> Fields<'_, 'a> {
        match expression {
            Expr::BoolOp(expr) => {
                let op = if expr.op == BoolOp::And { Kind::And } else { Kind::Or };
                self.node(Kind::BoolOp, parent).leaf(op).exprs(&expr.values)
            }
            Expr::Named(expr) => self.node(Kind::NamedExpr, parent).expr(&expr.target).expr(&expr.value),
            Expr::BinOp(expr) => {
                self.node(Kind::BinOp, parent).expr(&expr.left).leaf(operator(expr.op)).expr(&expr.right)
            }
            Expr::UnaryOp(expr) => self.node(Kind::UnaryOp, parent).leaf(sign(expr.op)).expr(&expr.operand),
            Expr::Lambda(expr) => {
                self.node(Kind::Lambda, parent).item(Item::Arguments(expr.parameters.as_deref())).expr(&expr.body)
            }
            Expr::If(expr) => self.node(Kind::IfExp, parent).expr(&expr.test).expr(&expr.body).expr(&expr.orelse),
            Expr::Dict(expr) => {
                self.node(Kind::Dict, parent).exprs(expr.iter_keys().flatten()).exprs(expr.iter_values())
            }
            Expr::Set(expr) => self.node(Kind::Set, parent).exprs(&expr.elts),
            Expr::ListComp(expr) => {
                self.node(Kind::ListComp, parent).expr(&expr.elt).items(expr.generators.iter().map(Item::Comprehension))
            }
            Expr::SetComp(expr) => {
                self.node(Kind::SetComp, parent).expr(&expr.elt).items(expr.generators.iter().map(Item::Comprehension))
            }
            Expr::DictComp(expr) => {
                let generators = expr.generators.iter().map(Item::Comprehension);
                self.node(Kind::DictComp, parent).optional(&expr.key).expr(&expr.value).items(generators)
            }
            Expr::Generator(expr) => {
                let generators = expr.generators.iter().map(Item::Comprehension);
                self.node(Kind::GeneratorExp, parent).expr(&expr.elt).items(generators)
            }
            Expr::Await(expr) => self.node(Kind::Await, parent).expr(&expr.value),
            Expr::Yield(expr) => self.node(Kind::Yield, parent).optional(&expr.value),
            Expr::YieldFrom(expr) => self.node(Kind::YieldFrom, parent).expr(&expr.value),
            Expr::Compare(expr) => {
                let ops = expr.ops.iter().map(|&op| Item::Leaf(comparison(op)));
                self.node(Kind::Compare, parent).expr(&expr.left).items(ops).exprs(&expr.comparators)
            }
            Expr::Call(expr) => {
                let keywords = expr.arguments.keywords.iter().map(Item::Keyword);
                self.node(Kind::Call, parent).expr(&expr.func).exprs(&expr.arguments.args).items(keywords)
            }
            Expr::FString(expr) => self.f_string(&expr.value, parent),
            Expr::TString(expr) => self.t_string(&expr.value, parent),
            Expr::StringLiteral(expr) => {
                let kind = self.constant(Kind::Str);
                self.written(kind, parent, |text| expr.value.iter().for_each(|part| text.push_str(part)))
            }
            Expr::BytesLiteral(expr) => {
                let kind = self.constant(Kind::Bytes);
                let bytes = expr.value.as_slice().iter().flat_map(|part| part.iter().copied());
                self.written(kind, parent, |text| push_bytes(text, bytes))
            }
            Expr::NumberLiteral(expr) => self.number(&expr.value, expr.range.start().to_usize(), parent),
            Expr::BooleanLiteral(expr) => {
                self.singleton(Kind::NameConstant, if expr.value { "True" } else { "False" }, parent)
            }
            Expr::NoneLiteral(_) => {
                let kind = self.constant(Kind::NameConstant);
                self.node(kind, parent)
            }
            Expr::EllipsisLiteral(_) => self.singleton(Kind::Ellipsis, "Ellipsis", parent),
            Expr::Attribute(expr) => {
                self.named(Kind::Attribute, &expr.attr, parent).expr(&expr.value).context(expr.ctx)
            }
            Expr::Subscript(expr) => {
                self.node(Kind::Subscript, parent).expr(&expr.value).item(Item::Index(&expr.slice)).context(expr.ctx)
            }
            Expr::Starred(expr) => self.node(Kind::Starred, parent).expr(&expr.value).context(expr.ctx),
            Expr::Name(expr) => self.named(Kind::Name, &expr.id, parent).context(expr.ctx),
            Expr::List(expr) => self.node(Kind::List, parent).exprs(&expr.elts).context(expr.ctx),
            Expr::Tuple(expr) => self.node(Kind::Tuple, parent).exprs(&expr.elts).context(expr.ctx),
            Expr::Slice(expr) => {
                self.node(Kind::Slice, parent).optional(&expr.lower).optional(&expr.upper).optional(&expr.step)
            }
            Expr::IpyEscapeCommand(_) => unreachable!("modules are not parsed as notebooks"),
        }
    }

    /// What stands in a subscript. Python 3.7 wraps it.
    pub(super) fn index(&mut self, expression: &'a Expr, parent: u32) -> Fields<'_, 'a> {
        match (self.dialect, expression) {
            (Dialect::Python311, _) | (Dialect::Python37, Expr::Slice(_)) => self.expression(expression, parent),
            (Dialect::Python37, Expr::Tuple(tuple)) if tuple.elts.iter().any(Expr::is_slice_expr) => {
                self.node(Kind::ExtSlice, parent).items(tuple.elts.iter().map(Item::Index))
            }
            (Dialect::Python37, _) => self.node(Kind::Index, parent).expr(expression),
        }
    }

    /// The class of a literal, given that of Python 3.7.
    pub(super) fn constant(&self, legacy: Kind) -> Kind {
        match self.dialect {
            Dialect::Python311 => Kind::Constant,
            Dialect::Python37 => legacy,
        }
    }

    /// `True`, `False` or `...`, whose value is an attribute since Python 3.8.
    fn singleton(&mut self, legacy: Kind, value: &str, parent: u32) -> Fields<'_, 'a> {
        match self.dialect {
            Dialect::Python311 => self.named(Kind::Constant, value, parent),
            Dialect::Python37 => self.node(legacy, parent),
        }
    }

    fn number(&mut self, number: &Number, offset: usize, parent: u32) -> Fields<'_, 'a> {
        let kind = self.constant(Kind::Num);
        let mut pushed = Ok(());
        let fields = self.written(kind, parent, |text| match number {
            Number::Int(value) => pushed = push_integer(text, value),
            Number::Float(value) => push_float(text, *value),
            Number::Complex { imag, .. } => push_imaginary(text, *imag),
        });
        if pushed == Err(TooManyDigits) {
            fields.walker.huge_integer.get_or_insert(offset);
        }
        fields
    }
}

/// The class of a binary operator.
pub(super) fn operator(operator: Operator) -> Kind {
    match operator {
        Operator::Add => Kind::Add,
        Operator::Sub => Kind::Sub,
        Operator::Mult => Kind::Mult,
        Operator::MatMult => Kind::MatMult,
        Operator::Div => Kind::Div,
        Operator::Mod => Kind::Mod,
        Operator::Pow => Kind::Pow,
        Operator::LShift => Kind::LShift,
        Operator::RShift => Kind::RShift,
        Operator::BitOr => Kind::BitOr,
        Operator::BitXor => Kind::BitXor,
        Operator::BitAnd => Kind::BitAnd,
        Operator::FloorDiv => Kind::FloorDiv,
    }
}

fn sign(operator: UnaryOp) -> Kind {
    match operator {
        UnaryOp::Invert => Kind::Invert,
        UnaryOp::Not => Kind::Not,
        UnaryOp::UAdd => Kind::UAdd,
        UnaryOp::USub => Kind::USub,
    }
}

fn comparison(operator: CmpOp) -> Kind {
    match operator {
        CmpOp::Eq => Kind::Eq,
        CmpOp::NotEq => Kind::NotEq,
        CmpOp::Lt => Kind::Lt,
        CmpOp::LtE => Kind::LtE,
        CmpOp::Gt => Kind::Gt,
        CmpOp::GtE => Kind::GtE,
        CmpOp::Is => Kind::Is,
        CmpOp::IsNot => Kind::IsNot,
        CmpOp::In => Kind::In,
        CmpOp::NotIn => Kind::NotIn,
    }
}
