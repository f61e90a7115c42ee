//! [`Propagation`] and [`GraphState`]: how DeepGMG spreads states over a graph, and sums them up.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use serde::{Deserialize, Serialize};

use super::gru::{GruCell, GruConfig};
use super::init::Init;
use super::message::EdgeList;
use crate::batch::floats;

/// Configuration of a [`Propagation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropagationConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// Rounds, T.
    pub n_rounds: usize,
}

impl PropagationConfig {
    /// Initialises.
    pub fn init(&self, init: &mut Init<'_>) -> Propagation {
        let d = self.d_hidden;
        let cell = GruConfig { d_input: 2 * d, d_hidden: d };
        Propagation {
            message: init.linear(2 * d + 1, 2 * d, true),
            cells: (0..self.n_rounds).map(|_| cell.init(init)).collect(),
        }
    }
}

/// T rounds of messages along edges in both directions, with a recurrent unit for each round (Li et al., 2018, section 3.1):
///
/// ```text
/// a_v  = sum over u -> v of (W [h_u ; 1 ; h_v] + b) + sum over v -> u of (W [h_u ; 0 ; h_v] + b)
/// h_v <- GRU_t(a_v, h_v)
/// ```
///
/// In D-VAE's code a node without neighbours is left alone, unless another graph of the batch has an edge there: then its unit runs
/// on a message of 0. Here it always does.
#[derive(Module, Debug)]
pub struct Propagation {
    /// 2D + 1 to 2D.
    message: Linear,
    cells: Vec<GruCell>,
}

impl Propagation {
    /// The states after all rounds. `edges` run in both directions, and `along` says how many of the edges that each row hears are
    /// incoming edges of the graph. Shapes: [R, D] -> [R, D].
    pub fn forward(&self, h: Tensor<2>, edges: &EdgeList, along: &[usize]) -> Tensor<2> {
        let (rows, device) = (along.len(), h.device());
        let column = |counts: &[usize]| floats(counts.iter().map(|&count| count as f32).collect(), [rows, 1], &device);
        let (along, degrees) = (column(along), column(&edges.segments().counts()));
        let bias = self.message.bias.as_ref().expect("made with a bias").val().unsqueeze();
        // The message is linear, so states are summed first: one product per node instead of one per edge.
        let offsets = degrees.clone() * bias;
        self.cells.iter().fold(h, |h, cell| {
            let heard = edges.segments().sum(edges.of_sources(h.clone()));
            let parts = vec![heard, along.clone(), h.clone() * degrees.clone()];
            let a = Tensor::cat(parts, 1).matmul(self.message.weight.val()) + offsets.clone();
            cell.forward(a, Some(h))
        })
    }
}

/// What nodes contribute to the state of their graph, a gated sum of twice their width (Li et al., 2018, section 3.1):
///
/// ```text
/// h_G = sum over v of sigmoid(G h_v + g) * (M h_v)
/// ```
#[derive(Module, Debug)]
pub struct GraphState {
    gate: Linear,
    map: Linear,
}

impl GraphState {
    /// Of nodes of width `d`.
    pub fn new(d: usize, init: &mut Init<'_>) -> GraphState {
        GraphState { gate: init.linear(d, 2 * d, true), map: init.linear(d, 2 * d, false) }
    }

    /// The terms of the sum. Shapes: [R, D] -> [R, 2D].
    pub fn terms(&self, h: Tensor<2>) -> Tensor<2> {
        sigmoid(self.gate.forward(h.clone())) * self.map.forward(h)
    }
}
