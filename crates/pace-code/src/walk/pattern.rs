//! The cases of a `match` statement.

use ruff_python_ast::{MatchCase, Pattern};

use super::fields::Fields;
use super::{Item, Walker};
use crate::kind::NodeKind as Kind;

impl<'a> Walker<'a> {
    pub(super) fn case(&mut self, case: &'a MatchCase, parent: u32) -> Fields<'_, 'a> {
        self.node(Kind::MatchCase, parent).item(Item::Pattern(&case.pattern)).optional(&case.guard).body(&case.body)
    }

    pub(super) fn pattern(&mut self, pattern: &'a Pattern, parent: u32) -> Fields<'_, 'a> {
        match pattern {
            Pattern::MatchValue(value) => self.node(Kind::MatchValue, parent).expr(&value.value),
            Pattern::MatchSingleton(_) => self.node(Kind::MatchSingleton, parent),
            Pattern::MatchSequence(sequence) => {
                self.node(Kind::MatchSequence, parent).items(sequence.patterns.iter().map(Item::Pattern))
            }
            Pattern::MatchMapping(mapping) => self
                .node(Kind::MatchMapping, parent)
                .exprs(&mapping.keys)
                .items(mapping.patterns.iter().map(Item::Pattern)),
            Pattern::MatchClass(class) => self
                .node(Kind::MatchClass, parent)
                .expr(&class.cls)
                .items(class.arguments.patterns.iter().map(Item::Pattern))
                .items(class.arguments.keywords.iter().map(|keyword| Item::Pattern(&keyword.pattern))),
            Pattern::MatchStar(star) => {
                self.maybe_named(Kind::MatchStar, star.name.as_ref().map(|name| name.as_str()), parent)
            }
            Pattern::MatchAs(capture) => self
                .maybe_named(Kind::MatchAs, capture.name.as_ref().map(|name| name.as_str()), parent)
                .items(capture.pattern.as_deref().map(Item::Pattern)),
            Pattern::MatchOr(or) => self.node(Kind::MatchOr, parent).items(or.patterns.iter().map(Item::Pattern)),
        }
    }
}
