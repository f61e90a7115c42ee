//! [`Python`]: functions in Python sources, each a syntax tree.
//!
//! ```text
//! def area(self):            Module > FunctionDef > arguments, Return > BinOp > ...
//!     return self.a * self.b
//! ```
//!
//! Every function is a graph, methods and nested functions, too: the tree that CPython's `ast` gives, see [`pace_code`]. Edges go from
//! parent to child. The operation is the class of the node, e.g. `BinOp`, and its attribute `type`; names, numbers and texts are its
//! attribute `attribute`, which not all nodes have. Siblings keep their numbers but have no order in the graph: `a - b` and `b - a` are
//! the same one. A graph is called by the function and its line, e.g. `area:12`. There is nothing to write: a tree is no source.

use std::io::{BufRead, Read, Write};

use pace_code::{Extractor, Function};
use pace_graph::Named;

use super::GraphFormat;
use crate::collector::{Collector, Described, Node};
use crate::error::{Error, Place};
use crate::options::ReadOptions;
use crate::summary::Summary;

/// Functions in Python sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Python;

/// Bytes of a source that are looked at: one more than may be parsed.
const MAX_BYTES: u64 = pace_code::MAX_SOURCE_BYTES as u64 + 1;

impl GraphFormat for Python {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut bytes = Vec::new();
        reader.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|source| Error::read(source, file))?;
        let functions = Extractor::default().functions_of_bytes(&bytes);
        let functions = functions.map_err(|reason| match reason {
            pace_code::Error::Empty => Error::NoGraphs.at(file, Place::Whole),
            reason => Error::Python(reason).at(file, Place::Whole),
        })?;
        let mut collector = Collector::new(file, options, sink);
        functions.iter().try_for_each(|function| collector.describe(described(function)))?;
        collector.finish()
    }

    fn write(&self, _: &mut dyn Iterator<Item = &Named>, _: &mut dyn Write) -> Result<(), Error> {
        let what = "Python source cannot be written from graphs".to_owned();
        Err(Error::Unsupported { what, remedy: "choose another format" })
    }
}

fn described(function: &Function) -> Described {
    let node = |(number, node): (usize, pace_code::Node<'_>)| {
        let mut fields = vec![("type".to_owned(), Some(node.kind.to_string()))];
        fields.extend(node.attribute.map(|text| ("attribute".to_owned(), Some(text.to_owned()))));
        Node { name: format!("{} {number}", node.kind), fields, ..Node::default() }
    };
    let parents = function.tree.nodes().enumerate();
    Described {
        name: Some(format!("{}:{}", function.name, function.line)),
        nodes: function.tree.nodes().enumerate().map(node).collect(),
        edges: parents.filter_map(|(child, node)| Some((node.parent?, child))).collect(),
        ..Described::default()
    }
}
