//! Parts of statements and calls: parameters, keywords, handlers, type parameters.

use ruff_python_ast::{ExceptHandler, Keyword, Parameters, TypeParam};

use super::fields::Fields;
use super::{Item, Walker};
use crate::kind::NodeKind as Kind;

impl<'a> Walker<'a> {
    /// CPython has this node even if there are no parameters. Defaults stand after all names.
    pub(super) fn arguments(&mut self, parameters: Option<&'a Parameters>, parent: u32) -> Fields<'_, 'a> {
        let node = self.node(Kind::Arguments, parent);
        let Some(parameters) = parameters else { return node };
        let positional = || parameters.posonlyargs.iter().chain(&parameters.args);
        node.items(positional().map(|arg| Item::Arg(&arg.parameter)))
            .items(parameters.vararg.as_deref().map(Item::Arg))
            .items(parameters.kwonlyargs.iter().map(|arg| Item::Arg(&arg.parameter)))
            .exprs(parameters.kwonlyargs.iter().filter_map(|arg| arg.default()))
            .items(parameters.kwarg.as_deref().map(Item::Arg))
            .exprs(positional().filter_map(|arg| arg.default()))
    }

    pub(super) fn keyword(&mut self, keyword: &'a Keyword, parent: u32) -> Fields<'_, 'a> {
        let name = keyword.arg.as_ref().map(|arg| arg.as_str());
        self.maybe_named(Kind::Keyword, name, parent).expr(&keyword.value)
    }

    pub(super) fn handler(&mut self, handler: &'a ExceptHandler, parent: u32) -> Fields<'_, 'a> {
        let ExceptHandler::ExceptHandler(handler) = handler;
        let name = handler.name.as_ref().map(|name| name.as_str());
        self.maybe_named(Kind::ExceptHandler, name, parent).optional(&handler.type_).body(&handler.body)
    }

    pub(super) fn type_param(&mut self, param: &'a TypeParam, parent: u32) -> Fields<'_, 'a> {
        match param {
            TypeParam::TypeVar(var) => {
                self.named(Kind::TypeVar, &var.name, parent).optional(&var.bound).optional(&var.default)
            }
            TypeParam::ParamSpec(spec) => self.named(Kind::ParamSpec, &spec.name, parent).optional(&spec.default),
            TypeParam::TypeVarTuple(tuple) => {
                self.named(Kind::TypeVarTuple, &tuple.name, parent).optional(&tuple.default)
            }
        }
    }
}
