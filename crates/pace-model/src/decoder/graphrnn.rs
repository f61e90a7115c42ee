//! The decoder of GraphRNN (You et al., 2018, as the baseline of D-VAE, Zhang et al., 2019): a unit over rows, and one over each
//! row.
//!
//! With x_s the row of position s, `[onehot(o_s) ; bits of the edges into it]`:
//!
//! ```text
//! g_s = GRU(x_s, g_{s-1}),  g_{-1} = ReLU(W z + b)         p(type of node s + 1) = softmax(MLP(g_s))
//! e_i = GRU'(bit of edge i - 1 -> s + 1, e_{i-1}),  e_0 = g_s      p(edge i -> s + 1) = sigmoid(MLP'(e_i)),  i = 1..s
//! ```
//!
//! The bit before the first is 0. Rows and bits fed in are the true ones in training, and those drawn in generation. Edges of a
//! node do not know its operation, as in the authors' code. Order is topological. In "GraphRNN (Transformer)" of Table 5 a causal
//! [`LatentTransformer`] over the rows takes the place of the first unit.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::Draft;
use serde::{Deserialize, Serialize};

use super::{DagDecoder, DecoderSettings, Edges, EdgesInTurn, NewNode, Stepper, Turns};
use crate::batch::{DagBatch, Layout, Stream, floats};
use crate::encoder::PaceConfig;
use crate::layers::{
    Dropout, EdgeBits, GruCell, GruConfig, Init, LatentTransformer, NodeEmbedding, Perceptron, StringModel, StringRows,
    edge_nll, op_nll, pairs,
};

/// Configuration of [`GraphRnnDecoder`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphRnnDecoderConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// What runs over the rows.
    pub model: StringModel,
}

impl GraphRnnDecoderConfig {
    /// The authors' decoder.
    pub fn as_published() -> GraphRnnDecoderConfig {
        GraphRnnDecoderConfig { d_hidden: 501, ..GraphRnnDecoderConfig::preset() }
    }

    /// With a Transformer: blocks and width are those of PACE's decoder, since the paper gives none.
    pub fn transformer() -> GraphRnnDecoderConfig {
        let model = StringModel::Transformer(PaceConfig::vae().blocks);
        GraphRnnDecoderConfig { model, ..GraphRnnDecoderConfig::preset() }
    }
}

impl DecoderSettings for GraphRnnDecoderConfig {
    type Decoder = GraphRnnDecoder;

    fn preset() -> GraphRnnDecoderConfig {
        GraphRnnDecoderConfig { d_hidden: 128, model: StringModel::Gru }
    }

    /// # Panics
    /// If the layout has no start symbol, which is the first row.
    fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> GraphRnnDecoder {
        assert!(layout.has_start(), "the decoder starts from a start symbol, and the layout has none");
        let (mut init, d) = (Init::new(seed, device), self.d_hidden);
        let (n, n_ops) = (layout.spec.max_nodes, layout.spec.n_ops());
        let rows = StringRows::new(n_ops, n, EdgeBits::FromPosition);
        let graph = match self.model {
            StringModel::Gru => GraphLevel::Gru(GraphGru {
                initial: init.linear(d_latent, d, true),
                cell: GruConfig { d_input: rows.width(), d_hidden: d }.init(&mut init),
            }),
            StringModel::Transformer(blocks) => GraphLevel::Transformer(GraphTransformer {
                map: init.linear(rows.width(), d, true),
                model: LatentTransformer::new(&blocks, d_latent, n, d, &mut init),
            }),
        };
        GraphRnnDecoder {
            graph,
            op: Perceptron::new(d, d, n_ops, &mut init),
            edge_cell: GruConfig { d_input: 1, d_hidden: d }.init(&mut init),
            edge: Perceptron::new(d, d, 1, &mut init),
            rows,
            layout: layout.clone(),
        }
    }
}

/// A unit over the rows that starts from the latent vector.
#[derive(Module, Debug)]
pub struct GraphGru {
    initial: Linear,
    cell: GruCell,
}

/// A Transformer over the rows that reads the latent vector.
#[derive(Module, Debug)]
pub struct GraphTransformer {
    map: Linear,
    model: LatentTransformer,
}

impl GraphTransformer {
    /// Shapes: z [B, Z], rows [B*S, X] -> [B*S, D].
    fn forward(&self, z: Tensor<2>, rows: Tensor<2>, n_steps: usize, dropout: Dropout) -> Tensor<2> {
        self.model.forward(z, Some(self.map.forward(rows)), n_steps, dropout)
    }
}

/// What runs over the rows.
#[derive(Module, Debug)]
pub enum GraphLevel {
    /// A recurrent unit.
    Gru(GraphGru),
    /// A Transformer.
    Transformer(GraphTransformer),
}

/// The GraphRNN decoder.
///
/// The authors start the unit over rows from a row of 0. Here the first row is the start symbol's, which is as constant. Their
/// loss also covers edges that cannot be; here only those that generation decides count.
#[derive(Module, Debug)]
pub struct GraphRnnDecoder {
    graph: GraphLevel,
    op: Perceptron,
    edge_cell: GruCell,
    edge: Perceptron,
    #[module(skip)]
    rows: StringRows,
    #[module(skip)]
    layout: Layout,
}

impl GraphRnnDecoder {
    /// The states g of all steps under teacher forcing. Shapes: z [B, Z], batch [B, N] -> [B, N - 1, D].
    fn graph_states(&self, z: Tensor<2>, batch: &DagBatch) -> Tensor<3> {
        let ([b, n], width) = (batch.dims(), self.rows.width());
        // The last row is followed by nothing.
        let rows = self.rows.of_batch(batch).reshape([b, n, width]).slice([0..b, 0..n - 1]);
        match &self.graph {
            GraphLevel::Gru(GraphGru { initial, cell }) => {
                let mut state = relu(initial.forward(z));
                let step = |step: usize| {
                    let row = rows.clone().slice([0..b, step..step + 1]).reshape([b, width]);
                    state = cell.forward(row, Some(state.clone()));
                    state.clone()
                };
                Tensor::stack((0..n - 1).map(step).collect(), 1)
            }
            GraphLevel::Transformer(level) => {
                let dropout = batch.pass.dropout(level.model.dropout(), Stream::DecoderBlocks);
                let states = level.forward(z, rows.reshape([b * (n - 1), width]), n - 1, dropout);
                states.reshape([b as i32, n as i32 - 1, -1])
            }
        }
    }

    /// The logits of all edges under teacher forcing, in the order of [`pairs`]. Shapes: g [B, N - 1, D], batch [B, N] -> [B, P].
    fn edge_logits(&self, g: Tensor<3>, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], [_, n_steps, d]) = (batch.dims(), g.dims());
        // Step after step: turn i is about the nodes after position i, whose rows are then the last ones.
        let mut states = g.swap_dims(0, 1).reshape([n_steps * b, d]);
        let bits = batch.edges().swap_dims(0, 1); // [N, B, N], target first
        let mut turns = Vec::with_capacity(n_steps);
        for source in 1..n - 1 {
            let [rows, _] = states.dims();
            let rows_left = rows - b;
            let bit = match source {
                1 => Tensor::zeros([rows_left, 1], &batch.device()),
                _ => bits.clone().slice([source + 1..n, 0..b, source - 1..source]).reshape([rows_left, 1]),
            };
            states = self.edge_cell.forward(bit, Some(states.slice([b..rows, 0..d])));
            turns.push(states.clone());
        }
        let logits = self.edge.forward(Tensor::cat(turns, 0)); // [P*B, 1]
        logits.reshape([-1, b as i32]).transpose()
    }
}

impl DagDecoder for GraphRnnDecoder {
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, _shared: Option<&NodeEmbedding>) -> Tensor<1> {
        let [_, n] = batch.dims();
        let g = self.graph_states(z, batch);
        let [b, n_steps, d] = g.dims();
        let ops = op_nll(self.op.forward(g.clone().reshape([b * n_steps, d])), batch);
        let pairs = pairs(n);
        if pairs.is_empty() { ops } else { ops + edge_nll(self.edge_logits(g, batch), &pairs, batch) }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn stepper<'a>(&'a self, z: Tensor<2>, _shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a> {
        let device = z.device();
        let run = match &self.graph {
            GraphLevel::Gru(level) => Run::Gru { level, state: relu(level.initial.forward(z)) },
            GraphLevel::Transformer(level) => Run::Transformer { level, z, rows: Vec::new() },
        };
        Box::new(Steps { decoder: self, run, t: 0, state: None, device })
    }
}

/// The rows so far.
enum Run<'a> {
    Gru {
        level: &'a GraphGru,
        /// [B, D].
        state: Tensor<2>,
    },
    Transformer {
        level: &'a GraphTransformer,
        z: Tensor<2>,
        /// [B, X] each. Strings are short: every step runs over all of them again.
        rows: Vec<Tensor<2>>,
    },
}

impl Run<'_> {
    /// The state after another row. Shapes: [B, X] -> [B, D].
    fn push(&mut self, row: Tensor<2>) -> Tensor<2> {
        match self {
            Run::Gru { level, state } => {
                *state = level.cell.forward(row, Some(state.clone()));
                state.clone()
            }
            Run::Transformer { level, z, rows } => {
                let [b, width] = row.dims();
                rows.push(row);
                let t = rows.len();
                let all = Tensor::stack::<3>(rows.clone(), 1).reshape([b * t, width]);
                let states = level.forward(z.clone(), all, t, Dropout::NONE);
                let [_, d] = states.dims();
                states.reshape([b, t, d]).slice([0..b, t - 1..t]).reshape([b, d])
            }
        }
    }
}

/// Graphs being decoded in step.
struct Steps<'a> {
    decoder: &'a GraphRnnDecoder,
    run: Run<'a>,
    /// Rows read so far.
    t: usize,
    /// Of the new node: g, then e after each edge, [B, D].
    state: Option<Tensor<2>>,
    device: Device,
}

impl Stepper for Steps<'_> {
    fn ops(&mut self, drafts: &[Draft]) -> Tensor<2> {
        let g = self.run.push(self.decoder.rows.of_drafts(drafts, self.t, &self.device));
        self.t += 1;
        self.state = Some(g.clone());
        self.decoder.op.forward(g)
    }

    fn edges(&mut self) -> Edges<'_> {
        Edges::InTurn(self)
    }
}

impl EdgesInTurn for Steps<'_> {
    fn turns(&self) -> Turns {
        Turns::OldestFirst
    }

    fn logits(&mut self, _drafts: &[Draft], new: &[Option<NewNode>], source: usize) -> Tensor<1> {
        let before = |new: &NewNode| source.checked_sub(1).is_some_and(|before| new.sources.contains(&before));
        let bits = new.iter().map(|new| if new.as_ref().is_some_and(before) { 1.0 } else { 0.0 }).collect();
        let state = self.state.take().expect("edges are asked for after the operation");
        let bits = floats(bits, [new.len(), 1], &self.device);
        let state = self.decoder.edge_cell.forward(bits, Some(state));
        self.state = Some(state.clone());
        self.decoder.edge.forward(state).reshape([new.len()])
    }
}
