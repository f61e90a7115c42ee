//! Recursions along edges: the state of a node is a GRU step from the states of those before it. D-VAE and DAGNN are made of
//! these.
//!
//! [`Recursion`] is the recursion in one direction. [`Visits`] says which nodes it computes, equal ones once. [`TwoWay`] runs it over
//! the graphs of a batch, in one direction or in both.

mod layer;
mod two_way;
mod visits;

use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::init::Init;

use layer::RecursionLayer;
pub(crate) use layer::Told;
pub use two_way::{Read, TwoWay, TwoWayConfig};
pub(crate) use visits::{Visits, VisitsBuilder, predecessors};

/// What a node hears of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hearing {
    /// The sum of their gated states: D-VAE.
    ///
    /// ```text
    /// s_v = sum over u of sigmoid(G [h_u ; id_u] + b) * (M [h_u ; id_u])
    /// ```
    GatedStates,
    /// Their states, weighted by attention: DAGNN.
    ///
    /// ```text
    /// s_v = sum over u of softmax_u(w . [h_u ; id_u]) h_u
    /// ```
    ///
    /// The paper's scores have a second part, `w' . q_v + b` with the query q_v of the node that hears. It is the same for all u, so
    /// the softmax cancels it: w' and b change nothing and are never trained. They are left out.
    AttendedStates,
    /// The sum of their gated operations, x one-hot: D-VAE on Bayesian networks.
    ///
    /// ```text
    /// s_v = sum over u of sigmoid(G x_u + b) * (M x_u)
    /// ```
    GatedOps,
}

/// Configuration of a [`Recursion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecursionConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// How many recursions are stacked, L.
    pub n_layers: usize,
    /// What a node hears.
    pub hearing: Hearing,
    /// Whether nodes are told apart by their positions, id one-hot; unused by [`Hearing::GatedOps`].
    pub vertex_ids: bool,
}

/// L stacked recursions along the edges, x one-hot operations:
///
/// ```text
/// h_v^0 = GRU_0(x_v, s_v^0)      h_v^l = GRU_l(h_v^(l-1), s_v^l)
/// ```
///
/// s_v^l is what v hears of the states h_u^l, as [`Hearing`] says; 0 if it hears nothing.
#[derive(Module, Debug)]
pub struct Recursion {
    layers: Vec<RecursionLayer>,
    #[module(skip)]
    config: RecursionConfig,
}

impl Recursion {
    /// For `n_tokens` operations and `n_positions` positions.
    ///
    /// # Panics
    /// If there is no layer.
    pub fn new(config: &RecursionConfig, n_tokens: usize, n_positions: usize, init: &mut Init<'_>) -> Recursion {
        assert!(config.n_layers > 0, "a recursion of no layers");
        let layer = |layer: usize| {
            let d_input = if layer == 0 { n_tokens } else { config.d_hidden };
            RecursionLayer::new(config, d_input, n_tokens, n_positions, init)
        };
        Recursion { layers: (0..config.n_layers).map(layer).collect(), config: *config }
    }

    /// For nodes that are vectors of width `d_input`, without positions.
    ///
    /// # Panics
    /// If there is no layer, or nodes are to hear operations.
    pub fn over_vectors(config: &RecursionConfig, d_input: usize, init: &mut Init<'_>) -> Recursion {
        assert_ne!(config.hearing, Hearing::GatedOps, "vectors are no operations");
        // One-hot operations are a case of vectors.
        Recursion::new(&RecursionConfig { vertex_ids: false, ..*config }, d_input, 0, init)
    }

    /// The configuration this was made from.
    pub fn config(&self) -> &RecursionConfig {
        &self.config
    }

    /// How many messages of operations are given before any others: all T if it is operations that are heard, else none.
    pub(crate) fn n_ops(&self) -> usize {
        self.layers[0].n_ops()
    }

    /// The layers, for callers that go node by node.
    pub(crate) fn layers(&self) -> &[RecursionLayer] {
        &self.layers
    }

    /// The states of all rows of a walk, by layer. `roots` are messages that nodes without predecessors hear, if any.
    ///
    /// Shapes: roots [B, D] -> [R, D] for each layer.
    pub(crate) fn forward(&self, visits: &Visits, roots: Option<&Tensor<2>>) -> Vec<Tensor<2>> {
        self.stacked(None, visits, roots)
    }

    /// The same where nodes are vectors, x in the order of the rows. Shapes: [R, D_in] -> [R, D] for each layer.
    pub(crate) fn forward_over(&self, x: &Tensor<2>, visits: &Visits) -> Vec<Tensor<2>> {
        self.stacked(Some(x), visits, None)
    }

    fn stacked(&self, x: Option<&Tensor<2>>, visits: &Visits, roots: Option<&Tensor<2>>) -> Vec<Tensor<2>> {
        let mut states: Vec<Tensor<2>> = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let below = states.last().or(x);
            states.push(layer.forward(below, visits, roots));
        }
        states
    }
}
