//! [`DvaeHeads`]: what the states of a growing graph say about its next node: its operation and its in-edges.

use std::sync::Arc;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::{Int, Tensor};

use super::forced::Forced;
use super::{DvaeDecoderConfig, GraphState};
use crate::batch::{floats, ints};
use crate::kernel::{LinearParams, linear, pair_logits};
use crate::layers::{Init, Segments};

/// The two classifiers; F is the hidden width of edges. See [the module](super).
#[derive(Module, Debug)]
pub(super) struct DvaeHeads {
    /// D to hidden.
    op_hidden: Linear,
    /// Hidden to T.
    op_out: Linear,
    /// The new node's part of the first edge layer, D to F, with its bias.
    edge_target: Linear,
    /// The source's part, D to F.
    edge_source: Linear,
    /// The part of H0, D to F.
    edge_latent: Option<Linear>,
    /// F to 1.
    edge_out: Linear,
    #[module(skip)]
    graph_state: GraphState,
}

impl DvaeHeads {
    pub fn new(config: &DvaeDecoderConfig, n_ops: usize, init: &mut Init<'_>) -> DvaeHeads {
        let (d, f) = (config.recursion.d_hidden, config.d_edge);
        // The first edge layer is one map of [source ; target ; H0], in parts so that each is computed once per state and not
        // once per pair. The bound is that of the whole.
        let n_parts = if config.latent_in_edges { 3 } else { 2 };
        let bound = 1.0 / ((n_parts * d) as f64).sqrt();
        let mut part = || Linear { weight: init.uniform([d, f], bound), bias: None };
        let (edge_source, edge_target, edge_latent) = (part(), part(), config.latent_in_edges.then(&mut part));
        DvaeHeads {
            edge_source,
            edge_target: Linear { bias: Some(init.uniform([f], bound)), ..edge_target },
            edge_latent,
            edge_out: init.linear(f, 1, true),
            op_hidden: init.linear(d, config.d_op, true),
            op_out: init.linear(config.d_op, n_ops, true),
            graph_state: config.graph_state,
        }
    }

    /// Logits of the next operation. Shapes: [R, D] -> [R, T].
    pub fn op_logits(&self, states: Tensor<2>) -> Tensor<2> {
        self.op_logits_of(states, None)
    }

    /// The same for some of the states. Shapes: [R, D] -> [rows, T].
    fn op_logits_of(&self, states: Tensor<2>, rows: Option<Arc<[u32]>>) -> Tensor<2> {
        mapped(&self.op_out, mapped(&self.op_hidden, states, rows, true), None, false)
    }

    /// The new node's part of the first edge layer. Shapes: [R, D] -> [R, F].
    pub fn target(&self, states: Tensor<2>) -> Tensor<2> {
        mapped(&self.edge_target, states, None, false)
    }

    /// The sources' part, with that of H0 of their graphs. Shapes: [B, D], [B, D] -> [B, F].
    pub fn source(&self, states: Tensor<2>, start: Tensor<2>) -> Tensor<2> {
        let source = mapped(&self.edge_source, states, None, false);
        match &self.edge_latent {
            Some(latent) => source + mapped(latent, start, None, false),
            None => source,
        }
    }

    /// Logits of edges, row by row. Shapes: [B, F], [B, F] -> `[B]`.
    pub fn edge_logits(&self, target: Tensor<2>, source: Tensor<2>) -> Tensor<1> {
        let [rows, _] = target.dims();
        self.edge_out.forward(relu(target + source)).reshape([rows])
    }

    /// The negative log-likelihood of all operations of each graph. Shapes: start [B, D], states [R, D] -> `[B]`.
    pub fn ops_nll(&self, forced: &Forced, start: Tensor<2>, states: Tensor<2>) -> Tensor<1> {
        let device = states.device();
        let ([b, _], count) = (start.dims(), forced.speakers.len());
        let logits = match self.graph_state {
            GraphState::Latest => {
                let rows = forced.speakers.iter().map(|speaker| speaker.place(b)).collect();
                self.op_logits_of(Tensor::cat(vec![start, states], 0), Some(rows))
            }
            GraphState::Sum => self.op_logits(sums(forced, start, states)),
        };
        let next = forced.speakers.iter().map(|speaker| speaker.next as i32).collect();
        let log_p = log_softmax(logits, 1).gather(1, ints(next, [count, 1], &device));
        let graphs = forced.speakers.iter().map(|speaker| speaker.graph).collect();
        Segments::new(graphs, b, &device).sum(log_p).neg().reshape([b])
    }

    /// The negative log-likelihood of all edges of each graph; `None` if there is nothing to decide.
    /// Shapes: start [B, D], states [R, D] -> `[B]`.
    pub fn edges_nll(&self, forced: &Forced, start: Tensor<2>, states: Tensor<2>) -> Option<Tensor<1>> {
        if forced.pairs.is_empty() {
            return None;
        }
        let device = states.device();
        let rows = |rows: &mut dyn ExactSizeIterator<Item = u32>| -> Tensor<1, Int> {
            let count = rows.len();
            ints(rows.map(|row| row as i32).collect(), [count], &device)
        };
        let target = mapped(&self.edge_target, states.clone(), Some(forced.target_rows.clone()), false);
        let source = mapped(&self.edge_source, states, Some(forced.source_rows.clone()), false);
        let (source, pairs) = match &self.edge_latent {
            // Pairs read the states of sources where they are.
            None => (source, forced.pairs.with_sources(|source| forced.sources[source as usize].1)),
            Some(latent) => {
                let places = rows(&mut forced.sources.iter().map(|&(_, place)| place));
                let graphs = rows(&mut forced.sources.iter().map(|&(graph, _)| graph));
                (source.select(0, places) + mapped(latent, start, None, false).select(0, graphs), forced.pairs.clone())
            }
        };
        let (out, bias) = (self.edge_out.weight.val(), self.edge_out.bias.as_ref().expect("made with a bias").val());
        let logits = pair_logits(target, source, &pairs, out, bias);
        let labels = forced.truth.iter().map(|&(_, taken)| if taken { 1.0 } else { 0.0 }).collect();
        let nll = binary_cross_entropy(logits, floats(labels, [forced.truth.len(), 1], &device));
        let graphs = forced.truth.iter().map(|&(graph, _)| graph).collect();
        let b = forced.n_graphs;
        Some(Segments::new(graphs, b, &device).sum(nll).reshape([b]))
    }
}

/// A map of all or some rows, and ReLU if asked for.
fn mapped(map: &Linear, x: Tensor<2>, rows: Option<Arc<[u32]>>, relu: bool) -> Tensor<2> {
    linear(x, rows, LinearParams::of(map, relu))
}

/// [`GraphState::Sum`] of every speaker. Shapes: start [B, D], states [R, D] -> [speakers, D].
fn sums(forced: &Forced, start: Tensor<2>, states: Tensor<2>) -> Tensor<2> {
    let (device, [b, d], n) = (states.device(), start.dims(), forced.n);
    // Padding is summed into positions that do not speak.
    let mut rows = vec![0; b * n];
    for speaker in &forced.speakers {
        let place = speaker.graph as usize * n + speaker.position as usize;
        rows[place] = speaker.place(b) as i32;
    }
    let all = Tensor::cat(vec![start, states], 0).select(0, ints(rows, [b * n], &device)).reshape([b, n, d]);
    let before = |to: usize| (0..n).map(move |from| if from == to || (0 < from && from < to) { 1.0 } else { 0.0 });
    let before = floats((0..n).flat_map(before).collect(), [1, n, n], &device).repeat_dim(0, b);
    let sums = before.matmul(all).reshape([b * n, d]); // [B, N, N] x [B, N, D]
    let places = forced.speakers.iter().map(|speaker| (speaker.graph as usize * n + speaker.position as usize) as i32);
    sums.select(0, ints(places.collect(), [forced.speakers.len()], &device))
}

/// -y log s(x) - (1 - y) log(1 - s(x)), without overflow: max(x, 0) - x y + log(1 + exp(-|x|)).
fn binary_cross_entropy(logits: Tensor<2>, labels: Tensor<2>) -> Tensor<2> {
    let soft = (logits.clone().abs().neg().exp() + 1.0).log();
    relu(logits.clone()) - logits * labels + soft
}
