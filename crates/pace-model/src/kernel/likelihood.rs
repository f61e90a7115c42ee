//! [`graph_nll`]: how unlikely graphs are under the two classifiers of the decoder (appendix D).

use burn::tensor::Tensor;
use pace_graph::Op;

#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input},
    likelihood::{LikelihoodOp, LikelihoodView},
};
use super::plain;

/// The parameters of the decoder's heads; F is the hidden width of the node head, T the number of operations.
#[derive(Debug, Clone)]
pub struct HeadParams {
    /// [D, F].
    pub w1: Tensor<2>,
    /// `[F]`.
    pub b1: Option<Tensor<1>>,
    /// [F, T].
    pub w2: Tensor<2>,
    /// `[T]`.
    pub b2: Option<Tensor<1>>,
    /// [D, D], the target's part of the first edge layer.
    pub target: Tensor<2>,
    /// `[D]`, its bias.
    pub bias: Tensor<1>,
    /// [D, D], the source's part.
    pub source: Tensor<2>,
    /// [D, 1].
    pub out: Tensor<2>,
    /// `[1]`.
    pub out_bias: Tensor<1>,
}

/// The graphs whose likelihood is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Truth<'a> {
    /// Operations, row after row, [B, N].
    pub tokens: &'a [Op],
    /// Nodes of each graph, start symbol included.
    pub lengths: &'a [usize],
    /// `[b, j, i] = 1` iff the edge i -> j exists, [B, N, N].
    pub edges: &'a Tensor<3>,
}

/// The negative log-likelihood of every graph under teacher forcing. With o_i the vector at position i:
///
/// ```text
/// p(type of node i + 1)  = softmax(w2 ReLU(w1 o_i + b1) + b2)
/// p(edge j + 1 -> i + 1) = sigmoid(out ReLU(target o_i + bias + source o_j) + out_bias)      for 0 <= j < i
/// ```
///
/// Sums the cross-entropy of nodes 1..n and the binary cross-entropy of every pair of nodes 1 <= u < v < n; the start symbol,
/// node 0, is in no pair. Positions beyond a graph's length do not count.
///
/// # Shapes
///
/// - o: [B*N, D]; output: `[B]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn graph_nll(o: Tensor<2>, truth: Truth<'_>, params: HeadParams) -> Tensor<1> {
    let ([b, n, _], [rows, d]) = (truth.edges.dims(), o.dims());
    let sizes = (truth.lengths.len(), truth.tokens.len(), rows);
    assert!(sizes == (b, b * n, b * n) && n > 1, "{sizes:?} lengths, tokens and rows for {b} graphs of {n} positions");
    let [_, f] = params.w1.dims();
    let [_, n_ops] = params.w2.dims();
    let found = [params.w1.dims(), params.w2.dims(), params.target.dims(), params.source.dims(), params.out.dims()];
    assert_eq!(found, [[d, f], [f, n_ops], [d, d], [d, d], [d, 1]], "weights of the heads for vectors of width {d}");
    #[cfg(feature = "flex")]
    if autodiff::serves(&o) {
        let device = o.device();
        let op = LikelihoodOp {
            tokens: truth.tokens.iter().map(|&token| u32::from(token)).collect(),
            lengths: truth.lengths.into(),
            edges: Input::constant(truth.edges.clone()),
        };
        let bias = |bias: Option<Tensor<1>>, d: usize| bias.unwrap_or_else(|| Tensor::zeros([d], &device));
        let inputs = LikelihoodView {
            o: Input::new(o),
            w1: Input::new(params.w1),
            b1: Input::new(bias(params.b1, f)),
            w2: Input::new(params.w2),
            b2: Input::new(bias(params.b2, n_ops)),
            target: Input::new(params.target),
            bias: Input::new(params.bias),
            source: Input::new(params.source),
            out: Input::new(params.out),
            out_bias: Input::new(params.out_bias),
        };
        return autodiff::run::<10, _>(op, inputs).reshape([b]);
    }
    plain::graph_nll(o, truth, params)
}
