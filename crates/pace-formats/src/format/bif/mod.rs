//! [`Bif`]: Bayesian networks in the Bayesian Interchange Format, version 0.15.
//!
//! ```text
//! network asia { }
//! variable smoke { type discrete [ 2 ] { yes, no }; }
//! variable lung { type discrete [ 2 ] { yes, no }; }
//! probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }
//! ```
//!
//! Variables are operations, parents are edges. States and probabilities are skipped. A property `name = value` of the network is
//! an attribute of the graph. A graph is written with two states per variable and even chances, as BIF has no structure without
//! numbers; its operations must differ. There is no crate for BIF; the parser is our own, and does not recurse.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use pace_graph::Named;

use super::GraphFormat;
use crate::check::check_written;
use crate::collector::Collector;
use crate::error::{Error, Place, shortened};
use crate::options::ReadOptions;
use crate::summary::Summary;

mod lexer;
mod parser;

/// Bayesian networks in BIF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bif;

/// What a network without a name is called in the file.
const NAMELESS: &str = "unknown";

impl GraphFormat for Bif {
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
            match parser.network() {
                Ok(Some(graph)) => collector.describe(graph)?,
                Ok(None) => return collector.finish(),
                Err(reason) => return Err(reason.at(file, Place::Line(parser.line()))),
            }
        }
    }

    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        for (index, graph) in graphs.enumerate() {
            check_written(graph, index + 1)?;
            check_distinct(graph)
                .map_err(|reason| reason.at("the graphs to write", Place::Graph(index + 1, graph.id.clone())))?;
            write_one(graph, writer)?;
        }
        Ok(())
    }
}

fn check_distinct(graph: &Named) -> Result<(), Error> {
    let mut seen = HashMap::new();
    match graph.ops.iter().enumerate().find_map(|(node, op)| Some((seen.insert(op, node)?, node, op))) {
        None => Ok(()),
        Some((first, second, op)) => Err(Error::Unsupported {
            what: format!("nodes {first} and {second} are both '{}', and variables of BIF differ", shortened(op)),
            remedy: "choose another format",
        }),
    }
}

fn write_one(graph: &Named, writer: &mut dyn Write) -> Result<(), Error> {
    let name = graph.id.as_deref().map_or_else(|| NAMELESS.to_owned(), quoted);
    match graph.target {
        None => writeln!(writer, "network {name} {{\n}}")?,
        Some(target) => writeln!(writer, "network {name} {{\n  property \"target = {target}\" ;\n}}")?,
    }
    let mut parents = vec![Vec::new(); graph.ops.len()];
    graph.edges.iter().for_each(|&(from, to)| parents[to].push(word(&graph.ops[from])));
    for op in &graph.ops {
        writeln!(writer, "variable {} {{\n  type discrete [ 2 ] {{ no, yes }};\n}}", word(op))?;
    }
    for (op, parents) in graph.ops.iter().zip(parents) {
        let bar = if parents.is_empty() { String::new() } else { format!("| {} ", parents.join(", ")) };
        let key = if parents.is_empty() { "table" } else { "default" };
        writeln!(writer, "probability ( {} {bar}) {{\n  {key} 0.5, 0.5;\n}}", word(op))?;
    }
    Ok(())
}

/// A name as BIF has it, in quotes only if it needs them.
fn word(text: &str) -> String {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
