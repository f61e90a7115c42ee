//! [`Heads`]: what the decoder's node vectors say about the next node: its operation and its in-edges.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::{Int, Tensor};

use crate::batch::{DagBatch, ints};
use crate::init::Init;

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

    /// Logits of edges from halves picked pair by pair. Shapes: [P, D], [P, D] -> [P].
    pub fn edge_logits(&self, target: Tensor<2>, source: Tensor<2>) -> Tensor<1> {
        let [pairs, _] = target.dims();
        self.edge_out.forward(relu(target + source)).reshape([pairs])
    }

    /// The negative log-likelihood of every graph under teacher forcing. Shapes: o [B*N, D] -> [B].
    ///
    /// Sums the cross-entropy of nodes 1..n and the binary cross-entropy of every pair of nodes 1 <= u < v < n; the start
    /// symbol, node 0, is in no pair. Positions beyond a graph's length do not count.
    pub fn nll(&self, o: Tensor<2>, batch: &DagBatch) -> Tensor<1> {
        let ([b, n], [_, d]) = (batch.dims(), o.dims());
        // The last position speaks for nobody.
        let o = o.reshape([b, n, d]).slice([0..b, 0..n - 1]).reshape([b * (n - 1), d]);
        let next = batch.tokens.clone().slice([0..b, 1..n]).reshape([b * (n - 1), 1]);
        let log_p = log_softmax(self.node_logits(o.clone()), 1).gather(1, next);
        let real = batch.valid.clone().slice([0..b, 1..n]);
        let node_nll = (log_p.reshape([b, n - 1]) * real).sum_dim(1).neg().reshape([b]);

        let pairs = Pairs::new(b, n, batch);
        if pairs.count == 0 {
            return node_nll;
        }
        let (target, source) = self.edge_halves(o);
        let logits = self.edge_logits(target.select(0, pairs.target), source.select(0, pairs.source));
        let edges = batch.edges.clone().reshape([b * n * n]).select(0, pairs.edge);
        let edge_nll = (binary_cross_entropy(logits, edges) * pairs.real).reshape([b, pairs.count]).sum_dim(1);
        node_nll + edge_nll.reshape([b])
    }
}

/// The rows of every pair (j, i), j < i, of positions 0..n-1, graph after graph.
struct Pairs {
    /// Pairs per graph.
    count: usize,
    target: Tensor<1, Int>,
    source: Tensor<1, Int>,
    /// Index of edge j + 1 -> i + 1 in the flat [B, N, N] edges.
    edge: Tensor<1, Int>,
    /// 1 where both nodes exist.
    real: Tensor<1>,
}

impl Pairs {
    fn new(b: usize, n: usize, batch: &DagBatch) -> Pairs {
        let device = batch.device();
        let count = (n - 1) * n.saturating_sub(2) / 2;
        let (mut target, mut source, mut edge, mut real) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for graph in 0..b {
            for i in 1..n - 1 {
                for j in 0..i {
                    target.push((graph * (n - 1) + i) as i32);
                    source.push((graph * (n - 1) + j) as i32);
                    edge.push(((graph * n + i + 1) * n + j + 1) as i32);
                    real.push(if i + 1 < batch.lengths[graph] { 1.0 } else { 0.0 });
                }
            }
        }
        let total = b * count;
        Pairs {
            count,
            target: ints(target, [total], &device),
            source: ints(source, [total], &device),
            edge: ints(edge, [total], &device),
            real: crate::batch::floats(real, [total], &device),
        }
    }
}

/// -y log s(x) - (1 - y) log(1 - s(x)), without overflow: max(x, 0) - x y + log(1 + exp(-|x|)).
fn binary_cross_entropy(logits: Tensor<1>, labels: Tensor<1>) -> Tensor<1> {
    let soft = (logits.clone().abs().neg().exp() + 1.0).log();
    relu(logits.clone()) - logits * labels + soft
}
