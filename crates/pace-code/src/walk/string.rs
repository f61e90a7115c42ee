//! f-strings and t-strings.
//!
//! CPython joins neighbouring pieces of text, also across implicitly concatenated strings, drops empty ones, and puts what
//! `{x=}` prints before the value into the text.

use ruff_python_ast::{FStringPart, FStringValue, InterpolatedElement, InterpolatedStringElement, TStringValue};

use super::fields::Fields;
use super::{Item, Walker};
use crate::kind::NodeKind as Kind;
use crate::tree::Span;

impl<'a> Walker<'a> {
    pub(super) fn f_string(&mut self, value: &'a FStringValue, parent: u32) -> Fields<'_, 'a> {
        let mut pieces = Pieces::below(self.node(Kind::JoinedStr, parent), Kind::FormattedValue);
        for part in value {
            match part {
                FStringPart::Literal(literal) => pieces.text(literal),
                FStringPart::FString(f_string) => pieces.elements(&f_string.elements),
            }
        }
        pieces.finish()
    }

    pub(super) fn t_string(&mut self, value: &'a TStringValue, parent: u32) -> Fields<'_, 'a> {
        let mut pieces = Pieces::below(self.node(Kind::TemplateStr, parent), Kind::Interpolation);
        value.iter().for_each(|part| pieces.elements(&part.elements));
        pieces.finish()
    }

    pub(super) fn interpolation(
        &mut self,
        kind: Kind,
        element: &'a InterpolatedElement,
        parent: u32,
    ) -> Fields<'_, 'a> {
        self.node(kind, parent).expr(&element.expression).items(element.format_spec.as_deref().map(Item::FormatSpec))
    }

    /// A piece of text that stands in the tree already.
    pub(super) fn text(&mut self, span: Span, parent: u32) -> Fields<'_, 'a> {
        let kind = self.constant(Kind::Str);
        let fields = self.node(kind, parent);
        fields.walker.tree.set_attribute(fields.node, span);
        fields
    }
}

impl<'a> Fields<'_, 'a> {
    /// The pieces of a format specification.
    pub(super) fn pieces(self, elements: &'a [InterpolatedStringElement]) -> Self {
        let mut pieces = Pieces::below(self, Kind::FormattedValue);
        pieces.elements(elements);
        pieces.finish()
    }
}

/// The pieces of a string, text joined as far as it goes.
struct Pieces<'w, 'a> {
    fields: Fields<'w, 'a>,
    /// What a value between braces is.
    interpolation: Kind,
    /// Where the text that is being joined starts.
    start: u32,
}

impl<'w, 'a> Pieces<'w, 'a> {
    fn below(fields: Fields<'w, 'a>, interpolation: Kind) -> Pieces<'w, 'a> {
        let start = fields.walker.tree.text_end();
        Pieces { fields, interpolation, start }
    }

    fn elements(&mut self, elements: &'a [InterpolatedStringElement]) {
        for element in elements {
            match element {
                InterpolatedStringElement::Literal(literal) => self.text(literal),
                InterpolatedStringElement::Interpolation(element) => {
                    if let Some(debug) = &element.debug_text {
                        self.text(debug.as_str());
                    }
                    self.end_text();
                    self.item(Item::Interpolation(self.interpolation, element));
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.fields.walker.tree.text_mut().push_str(text);
    }

    fn end_text(&mut self) {
        let end = self.fields.walker.tree.text_end();
        if end > self.start {
            self.item(Item::Text(self.fields.walker.tree.span_from(self.start)));
            self.start = end;
        }
    }

    fn item(&mut self, item: Item<'a>) {
        self.fields.walker.stack.push((item, self.fields.node));
    }

    fn finish(mut self) -> Fields<'w, 'a> {
        self.end_text();
        self.fields
    }
}
