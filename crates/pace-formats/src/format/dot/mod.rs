//! [`Dot`]: GraphViz' language, `digraph { a [op=conv]; a -> b -> c }`.
//!
//! The grammar is that of the [GraphViz documentation](https://graphviz.org/doc/info/lang.html): several graphs per file, `strict`,
//! subgraphs, chains and groups of edges, defaults, ports, quoted, HTML and numeric values, comments. The parser is our own: of the
//! crates, dot-parser is under the GPL, and graphviz-rust recurses without a bound on nested subgraphs.
//!
//! What is particular:
//! - attributes of subgraphs are ignored, and so are ports;
//! - a default holds for nodes that are made after it, in its braces;
//! - in quoted text `\"` is a quote and `\\` a backslash; other backslashes stay, as GraphViz does;
//! - only `strict` graphs may name an edge twice.

use std::io::{BufRead, Write};

use pace_graph::Named;

use super::GraphFormat;
use crate::check::check_written;
use crate::collector::Collector;
use crate::error::{Error, Place};
use crate::options::ReadOptions;
use crate::summary::Summary;

mod graph;
mod lexer;
mod parser;

/// Directed graphs of GraphViz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dot;

impl GraphFormat for Dot {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut collector = Collector::new(file, options, sink);
        let lexer = lexer::Lexer::new(reader, file).map_err(|reason| reason.at(file, Place::Line(1)))?;
        let mut parser = parser::Parser::new(lexer);
        loop {
            match parser.graph() {
                Ok(Some(graph)) => collector.describe(graph)?,
                Ok(None) => return collector.finish(),
                Err(reason) => return Err(reason.at(file, Place::Line(parser.line()))),
            }
        }
    }

    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        for (index, graph) in graphs.enumerate() {
            check_written(graph, index + 1)?;
            let name = graph.id.as_deref().map(|id| format!("{} ", quoted(id))).unwrap_or_default();
            writeln!(writer, "digraph {name}{{")?;
            if let Some(target) = graph.target {
                writeln!(writer, "  target=\"{target}\"")?;
            }
            for (node, op) in graph.ops.iter().enumerate() {
                writeln!(writer, "  {node} [op={}]", quoted(op))?;
            }
            for (from, to) in &graph.edges {
                writeln!(writer, "  {from} -> {to}")?;
            }
            writeln!(writer, "}}")?;
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
