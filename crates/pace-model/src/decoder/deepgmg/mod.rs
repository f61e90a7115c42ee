//! The decoder of DeepGMG (Li et al., 2018, as the baseline of D-VAE, Zhang et al., 2019): nodes and edges one by one, with
//! messages before every decision.
//!
//! States live as long as the graph grows. Before each decision T rounds of [`Propagation`] update them, and h_G sums them up:
//!
//! ```text
//! h_0 = W [onehot(start) ; tanh(F z + f)] + b
//! p(type of node v) = softmax(A h_G + a)                 h_v = W [onehot(o_v) ; h'_G] + b,  h'_G a gated sum of its own
//! p(another edge to v) = sigmoid(E [h_G ; h_v] + e)      p(its source is u) = softmax over u of S h_u
//! ```
//!
//! The likelihood is that of the edges of each node picked from the newest source to the oldest, as the authors train.

mod script;
mod steps;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{DagDecoder, DecoderSettings, Stepper};
use crate::batch::{DagBatch, Layout};
use crate::layers::{
    EdgeList, GraphState, Init, NodeEmbedding, Propagation, PropagationConfig, Segments, binary_nll, category_nll,
};
use script::Script;
use steps::Steps;

/// What is added to the score of a source that cannot be picked. Its weight is then exactly 0, and its logit is finite.
const NEVER: f32 = -1e4;

/// Configuration of [`DeepGmgDecoder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeepGmgDecoderConfig {
    /// Width of a state, and rounds of messages before a decision.
    pub propagation: PropagationConfig,
}

impl DeepGmgDecoderConfig {
    /// The authors' width.
    pub fn as_published() -> DeepGmgDecoderConfig {
        let preset = DeepGmgDecoderConfig::preset();
        DeepGmgDecoderConfig { propagation: PropagationConfig { d_hidden: 501, ..preset.propagation } }
    }
}

impl DecoderSettings for DeepGmgDecoderConfig {
    type Decoder = DeepGmgDecoder;

    fn preset() -> DeepGmgDecoderConfig {
        DeepGmgDecoderConfig { propagation: PropagationConfig { d_hidden: 128, n_rounds: 3 } }
    }

    /// # Panics
    /// If the layout has no start symbol, which is the first node.
    fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> DeepGmgDecoder {
        assert!(layout.has_start(), "the decoder starts from a start symbol, and the layout has none");
        let (mut init, d, n_ops) = (Init::new(seed, device), self.propagation.d_hidden, layout.spec.n_ops());
        // One map of operation and graph state, in two parts: the bound is that of the whole.
        let bound = 1.0 / ((n_ops + 2 * d) as f64).sqrt();
        DeepGmgDecoder {
            latent: init.linear(d_latent, 2 * d, true),
            node_op: init.uniform([n_ops, d], bound),
            node_state: Linear { weight: init.uniform([2 * d, d], bound), bias: Some(init.uniform([d], bound)) },
            propagation: self.propagation.init(&mut init),
            state: GraphState::new(d, &mut init),
            state_before: GraphState::new(d, &mut init),
            op: init.linear(2 * d, n_ops, true),
            another: init.linear(3 * d, 1, true),
            source: init.linear(d, 1, false),
            layout: layout.clone(),
        }
    }
}

/// The DeepGMG decoder.
///
/// Differences from D-VAE's code: a graph that has all edges of its node is not updated while other graphs of the batch pick
/// theirs; the same source is not picked twice, so if all are picked there is nothing to decide; the map that scores a source
/// does not read the new node, whose share is the same for all sources and cancels in the softmax; the start symbol is no source.
#[derive(Module, Debug)]
pub struct DeepGmgDecoder {
    /// F, Z to 2D.
    latent: Linear,
    /// The part of W for operations, [T, D].
    node_op: Param<Tensor<2>>,
    /// The part of W for graph states, 2D to D.
    node_state: Linear,
    propagation: Propagation,
    state: GraphState,
    state_before: GraphState,
    /// A, 2D to T.
    op: Linear,
    /// E, 3D to 1.
    another: Linear,
    /// S, D to 1.
    source: Linear,
    #[module(skip)]
    layout: Layout,
}

impl DeepGmgDecoder {
    /// The start symbols. Shapes: [B, Z] -> [B, D].
    fn start(&self, z: Tensor<2>) -> Tensor<2> {
        let ([b, _], device) = (z.dims(), z.device());
        let op = i32::from(self.layout.spec.start.expect("checked when it was made"));
        self.new_nodes(Tensor::full([b], op, &device), tanh(self.latent.forward(z)))
    }

    /// The states of new nodes before any message. Shapes: ops `[R]`, states of their graphs [R, 2D] -> [R, D].
    fn new_nodes(&self, ops: Tensor<1, Int>, graphs: Tensor<2>) -> Tensor<2> {
        self.node_op.val().select(0, ops) + self.node_state.forward(graphs)
    }

    /// The states that new nodes start from. Shapes: rows [R, D] of A graphs, ops `[A]` -> [A, D].
    fn grow(&self, rows: Tensor<2>, graphs: &Segments, ops: Tensor<1, Int>) -> Tensor<2> {
        self.new_nodes(ops, graphs.sum(self.state_before.terms(rows)))
    }

    /// One propagation and the states of the graphs after it. Shapes: rows [R, D] of A graphs -> [R, D], [A, 2D].
    fn decide(&self, rows: Tensor<2>, edges: &EdgeList, along: &[usize], graphs: &Segments) -> (Tensor<2>, Tensor<2>) {
        let rows = self.propagation.forward(rows, edges, along);
        let states = graphs.sum(self.state.terms(rows.clone()));
        (rows, states)
    }

    /// Logits of another edge. Shapes: graphs [R, 2D], new nodes [R, D] -> `[R]`.
    fn another(&self, graphs: Tensor<2>, nodes: Tensor<2>) -> Tensor<1> {
        let [rows, _] = nodes.dims();
        self.another.forward(Tensor::cat(vec![graphs, nodes], 1)).reshape([rows])
    }
}

impl DagDecoder for DeepGmgDecoder {
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, _shared: Option<&NodeEmbedding>) -> Tensor<1> {
        let script = Script::new(batch);
        let mut h = self.start(z);
        let (mut rows, mut states) = (Vec::with_capacity(script.rounds.len()), Vec::with_capacity(script.rounds.len()));
        for round in &script.rounds {
            let (all, graphs) =
                self.decide(h.select(0, round.inputs.clone()), &round.edges, &round.along, &round.graphs);
            h = match &round.grown {
                Some(grown) => {
                    let own = all.clone().select(0, grown.rows.clone());
                    Tensor::cat(vec![all.clone(), self.grow(own, &grown.graphs, grown.ops.clone())], 0)
                }
                None => all.clone(),
            };
            rows.push(all);
            states.push(graphs);
        }
        // The heads see the decisions of all rounds at once.
        let (rows, states) = (Tensor::cat(rows, 0), Tensor::cat(states, 0));
        let ops = &script.ops;
        let logits = self.op.forward(states.clone().select(0, ops.states.clone()));
        let mut nll = ops.by_graph(category_nll(logits, ops.truth.clone()));
        if let Some(asked) = &script.another {
            let nodes = rows.clone().select(0, asked.nodes.clone());
            let logits = self.another(states.select(0, asked.states.clone()), nodes);
            nll = nll + asked.by_graph(binary_nll(logits, asked.truth.clone()));
        }
        if let Some(picks) = &script.picks {
            let scores = self.source.forward(rows).select(0, picks.sources.clone());
            let scores = scores.reshape(picks.barred.dims()) + picks.barred.clone();
            nll = nll + picks.by_graph(category_nll(scores, picks.truth.clone()));
        }
        nll
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn stepper<'a>(&'a self, z: Tensor<2>, _shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a> {
        Box::new(Steps::new(self, z))
    }
}
