//! [`GraphMl`]: the XML of networkx, igraph, Gephi and yEd.
//!
//! Keys, defaults and any number of graphs are read, event by event with [quick-xml](https://docs.rs/quick-xml), which keeps no tree
//! and expands no entities of the document. Data of nodes and graphs are attributes, by the name of their key. Data with elements
//! inside, as yEd writes, have the text of these elements. Ports are ignored. Undirected graphs and edges, hyperedges, and graphs
//! inside nodes are errors: a DAG has none of them.

use std::io::{BufRead, Write};

use pace_graph::Named;

use super::GraphFormat;
use crate::check::check_written;
use crate::collector::Collector;
use crate::error::{Error, Place, shortened};
use crate::options::ReadOptions;
use crate::summary::Summary;

mod element;
mod graph;
mod read;

/// GraphML.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphMl;

const HEADER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="op" for="node" attr.name="op" attr.type="string"/>
  <key id="id" for="graph" attr.name="id" attr.type="string"/>
  <key id="target" for="graph" attr.name="target" attr.type="double"/>"#;

impl GraphFormat for GraphMl {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        read::read(reader, Collector::new(file, options, sink))
    }

    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        writeln!(writer, "{HEADER}")?;
        for (index, graph) in graphs.enumerate() {
            check_written(graph, index + 1)?;
            write_one(graph, writer).map_err(|reason| match reason {
                Error::Write { .. } => reason,
                _ => reason.at("the graphs to write", Place::Graph(index + 1, graph.id.clone())),
            })?;
        }
        writeln!(writer, "</graphml>")?;
        Ok(())
    }
}

fn write_one(graph: &Named, writer: &mut dyn Write) -> Result<(), Error> {
    writeln!(writer, "  <graph edgedefault=\"directed\">")?;
    if let Some(id) = &graph.id {
        writeln!(writer, "    <data key=\"id\">{}</data>", escaped(id)?)?;
    }
    if let Some(target) = graph.target {
        writeln!(writer, "    <data key=\"target\">{target}</data>")?;
    }
    for (node, op) in graph.ops.iter().enumerate() {
        writeln!(writer, "    <node id=\"{node}\"><data key=\"op\">{}</data></node>", escaped(op)?)?;
    }
    for (from, to) in &graph.edges {
        writeln!(writer, "    <edge source=\"{from}\" target=\"{to}\"/>")?;
    }
    writeln!(writer, "  </graph>")?;
    Ok(())
}

/// Text of an element. XML has no way to write some letters.
fn escaped(text: &str) -> Result<String, Error> {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // A reader makes a line feed of it.
            '\r' => escaped.push_str("&#13;"),
            '\n' | '\t' | ' '..='\u{fffd}' | '\u{10000}'.. => escaped.push(letter),
            _ => {
                return Err(Error::Unsupported {
                    what: format!("'{}' has a letter that XML cannot hold", shortened(text)),
                    remedy: "rename the operation or the graph, or choose another format",
                });
            }
        }
    }
    Ok(escaped)
}
