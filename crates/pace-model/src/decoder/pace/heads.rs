//! [`Heads`]: what the decoder's node vectors say about the next node: its operation and its in-edges.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::batch::DagBatch;
use crate::kernel::{HeadParams, Truth, graph_nll};
use crate::layers::Init;

/// The two classifiers of appendix D. With o_i the vector at position i, which speaks for node i + 1:
///
/// ```text
/// p(type of node i + 1)  = softmax(W2 ReLU(W1 o_i))
/// p(edge j + 1 -> i + 1) = sigmoid(w2 ReLU(V1 [o_i ; o_j]))      for 0 <= j < i
/// ```
#[derive(Module, Debug)]
pub struct Heads {
    /// D to hidden.
    node_hidden: Linear,
    /// Hidden to T.
    node_out: Linear,
    /// Target part of the first edge layer, D to D, with its bias.
    edge_target: Linear,
    /// Source part, D to D.
    edge_source: Linear,
    /// D to 1.
    edge_out: Linear,
}

impl Heads {
    /// Heads over vectors of width `d` for `n_ops` operations; the node head's biases are optional (none on BN as published).
    pub fn new(d: usize, d_hidden: usize, n_ops: usize, node_bias: bool, init: &mut Init<'_>) -> Heads {
        // The first edge layer is one Linear(2D, D) applied to the pair; split in two so that each half is computed once
        // per node instead of once per pair. The bound is that of the whole.
        let bound = 1.0 / ((2 * d) as f64).sqrt();
        Heads {
            node_hidden: init.linear(d, d_hidden, node_bias),
            node_out: init.linear(d_hidden, n_ops, node_bias),
            edge_target: Linear { weight: init.uniform([d, d], bound), bias: Some(init.uniform([d], bound)) },
            edge_source: Linear { weight: init.uniform([d, d], bound), bias: None },
            edge_out: init.linear(d, 1, true),
        }
    }

    /// Logits of the next node's operation. Shapes: [R, D] -> [R, T].
    pub fn node_logits(&self, o: Tensor<2>) -> Tensor<2> {
        self.node_out.forward(relu(self.node_hidden.forward(o)))
    }

    /// The halves of the edge head's first layer. Shapes: [R, D] -> target [R, D], source [R, D].
    pub fn edge_halves(&self, o: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        (self.edge_target.forward(o.clone()), self.edge_source.forward(o))
    }

    /// Logits of edges from halves picked pair by pair. Shapes: [P, D], [P, D] -> `[P]`.
    pub fn edge_logits(&self, target: Tensor<2>, source: Tensor<2>) -> Tensor<1> {
        let [pairs, _] = target.dims();
        self.edge_out.forward(relu(target + source)).reshape([pairs])
    }

    /// The negative log-likelihood of every graph under teacher forcing (appendix D). Shapes: o [B*N, D] -> `[B]`.
    pub fn nll(&self, o: Tensor<2>, batch: &DagBatch) -> Tensor<1> {
        let truth = Truth { tokens: &batch.host_tokens, lengths: &batch.lengths, edges: &batch.edges() };
        graph_nll(o, truth, self.params())
    }

    /// The parameters, for the kernel.
    fn params(&self) -> HeadParams {
        let bias = |map: &Linear| map.bias.as_ref().map(|bias| bias.val());
        HeadParams {
            w1: self.node_hidden.weight.val(),
            b1: bias(&self.node_hidden),
            w2: self.node_out.weight.val(),
            b2: bias(&self.node_out),
            target: self.edge_target.weight.val(),
            bias: bias(&self.edge_target).expect("made with a bias"),
            source: self.edge_source.weight.val(),
            out: self.edge_out.weight.val(),
            out_bias: bias(&self.edge_out).expect("made with a bias"),
        }
    }
}
