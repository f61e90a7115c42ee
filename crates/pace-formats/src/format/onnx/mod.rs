//! [`Onnx`]: neural networks. Nodes are operators, edges follow the tensors from the operator that makes them to those that read them.
//!
//! - The operation is `op_type`. `domain_op_type`, if asked for by [`ReadOptions::op`], puts the domain before it, e.g.
//!   `com.microsoft::FusedConv`.
//! - Initialisers, `Constant` nodes, what is computed from these alone, and the inputs and outputs of the graph are left out, unless
//!   [`ReadOptions::keep_constants`] and [`ReadOptions::keep_ends`] ask for them. They are then `Initializer`, `Constant`, `Input` and `Output`.
//! - Several tensors between two nodes are one edge.
//! - Graphs inside a node (the branches of `If`, the body of `Loop`) and functions of the model are not entered. What the inner graph
//!   takes from the outer one is no edge.
//! - `metadata_props` of the model are attributes of the graph.
//!
//! The file is read as a stream: weights are skipped and never held, so that a model of gigabytes takes little memory. That is why the
//! wire format of protobuf is read here (`wire.rs`): prost decodes whole messages, weights and all.

use std::io::{BufRead, Write};

use pace_graph::Named;

use super::GraphFormat;
use crate::check::check_written;
use crate::collector::Collector;
use crate::error::{Error, Place};
use crate::options::ReadOptions;
use crate::summary::Summary;

mod graph;
mod message;
mod wire;
mod write;

/// Neural networks in ONNX, one per file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Onnx;

impl GraphFormat for Onnx {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut wire = wire::Wire::new(reader, file);
        let model = message::model(&mut wire).map_err(|reason| reason.at(file, Place::Byte(wire.at())))?;
        let mut collector = Collector::new(file, options, sink);
        let place = Place::Graph(1, model.name.clone());
        collector.describe(graph::described(model, options).map_err(|reason| reason.at(file, place))?)?;
        collector.finish()
    }

    /// Writes the one graph. The nodes keep their order; ONNX' own checker wants a topological one.
    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        let Some(graph) = graphs.next() else { return Err(Error::NoGraphs) };
        check_written(graph, 1)?;
        if graphs.next().is_some() {
            let what = "several graphs, and an ONNX file holds one".to_owned();
            return Err(Error::Unsupported { what, remedy: "write a file per graph, or choose another format" });
        }
        writer.write_all(&write::model(graph))?;
        Ok(())
    }
}
