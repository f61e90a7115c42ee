//! S-VAE: a recurrent unit over a graph read as a string (Bowman et al., 2016, as the baseline of D-VAE, Zhang et al., 2019).
//!
//! Each node is a row of its operation and the edges into it, in topological order:
//!
//! ```text
//! x_j = [onehot(o_j) ; bits of the edges i -> j]      h_j = GRU(x_j, h_{j-1}),  h_{-1} = 0
//! ```
//!
//! The state of the last node is the graph's vector. It depends on the order of the nodes.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose};
use crate::batch::{DagBatch, Layout, Order, Stream};
use crate::layers::{EdgeBits, GruCell, GruConfig, Init, Readout, StringRows};

/// Configuration of [`Svae`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvaeConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Order of the string; the authors take the stored one.
    pub order: Order,
    /// Which bit stands for which edge.
    pub bits: EdgeBits,
    /// Width of a state, D.
    pub d_hidden: usize,
    /// Dropout in training, on what a row adds to the gates. The authors have none.
    pub dropout: f64,
}

impl SvaeConfig {
    /// The authors' width, without dropout.
    pub fn as_published() -> SvaeConfig {
        SvaeConfig { d_hidden: 501, dropout: 0.0, ..SvaeConfig::preset(Purpose::Vae) }
    }
}

impl EncoderSettings for SvaeConfig {
    type Encoder = Svae;

    fn preset(purpose: Purpose) -> SvaeConfig {
        SvaeConfig { purpose, order: Order::Stored, bits: EdgeBits::FromPosition, d_hidden: 128, dropout: 0.1 }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { order: self.order, ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// If the dropout is not from 0 to below 1.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Svae {
        assert!((0.0..1.0).contains(&self.dropout), "dropout {} is not from 0 to below 1", self.dropout);
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let rows = StringRows::new(self.purpose.n_tokens(&layout), layout.spec.max_nodes, self.bits);
        let cell = GruConfig { d_input: rows.width(), d_hidden: self.d_hidden }.init(&mut init);
        Svae { cell, rows, config: self.clone(), layout }
    }
}

/// The S-VAE encoder.
///
/// The authors leave the first node out of the string: it is always the input. Here it is read, because every node gets a vector;
/// with a start symbol its row is as constant as an initial state. The authors also read padding, up to the largest size of a
/// graph. Here the string ends with the graph.
#[derive(Module, Debug)]
pub struct Svae {
    cell: GruCell,
    #[module(skip)]
    rows: StringRows,
    #[module(skip)]
    config: SvaeConfig,
    #[module(skip)]
    layout: Layout,
}

impl Svae {
    /// The state after each node, all graphs in step. Shapes: batch [B, N] -> [B*N, D].
    fn nodes(&self, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], dropout) = (batch.dims(), batch.pass.dropout(self.config.dropout, Stream::EncoderEmbedding));
        let width = self.rows.width();
        let rows = self.rows.of_batch(batch).reshape([b, n, width]);
        let mut states: Vec<Tensor<2>> = Vec::with_capacity(n);
        for position in 0..n {
            // Rows are constants. Mapped all at once and then cut, each piece would cost a gradient of the whole.
            let row = rows.clone().slice([0..b, position..position + 1]).reshape([b, width]);
            let gates = dropout.apply(position, self.cell.project(row));
            states.push(self.cell.step(gates, states.last().cloned()));
        }
        Tensor::stack::<3>(states, 1).reshape([b * n, self.config.d_hidden])
    }
}

impl DagEncoder for Svae {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let nodes = self.nodes(batch);
        let graph = Readout::Output.forward(nodes.clone(), self.layout.spec.n_ops(), batch);
        Encoding { nodes, graph }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.config.d_hidden
    }

    fn d_graph(&self) -> usize {
        self.config.d_hidden
    }
}
