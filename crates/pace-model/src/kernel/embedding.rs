//! [`node_embedding`]: the operation and the dag2seq position of a node as one vector, which the first block reads.

use burn::tensor::{Int, Tensor};

use super::dropout::Dropout;
#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input},
    embedding::{EmbeddingOp, EmbeddingView},
};
use super::plain;

/// The parameters of [`node_embedding`]: T operations, P labels, widths O and Q of the two parts, F hidden units.
#[derive(Debug, Clone)]
pub struct EmbeddingParams {
    /// [T, O].
    pub weight: Tensor<2>,
    /// `[O]`.
    pub bias: Tensor<1>,
    /// [2P, F].
    pub first: Tensor<2>,
    /// [F, Q].
    pub second: Tensor<2>,
}

/// The dropout sites of the positional encoding.
pub(crate) mod site {
    pub(crate) const HIDDEN: usize = 0;
    pub(crate) const POSITION: usize = 1;
}

/// The vectors of R nodes from their operations o and features f = `[onehot(j) ; sum of onehot(i)]` (equations 1 and 2):
///
/// ```text
/// op = ReLU(weight[o] + bias)      position = Drop(Drop(ReLU(f first)) second)
/// ```
///
/// side by side, or added if `sum`.
///
/// # Shapes
///
/// - tokens: `[R]`; features: [R, 2P], a constant; output: [R, O + Q], or [R, O] if `sum`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn node_embedding(
    tokens: Tensor<1, Int>,
    features: Tensor<2>,
    params: EmbeddingParams,
    sum: bool,
    dropout: Dropout,
) -> Tensor<2> {
    let ([rows], found) = (tokens.dims(), features.dims());
    let ([_, d_op], [labels, hidden], [_, d_position]) =
        (params.weight.dims(), params.first.dims(), params.second.dims());
    assert_eq!(found, [rows, labels], "features of {rows} nodes and {labels} labels and sums");
    let found = (params.bias.dims(), params.second.dims());
    assert_eq!(found, ([d_op], [hidden, d_position]), "bias and second map for widths {d_op} and {hidden}");
    assert!(!sum || d_op == d_position, "parts of width {d_op} and {d_position} cannot be summed");
    #[cfg(feature = "flex")]
    if rows > 0 && autodiff::serves(&params.weight) && !features.is_tracked() {
        let tokens: Vec<u32> = tokens.into_data().iter::<i64>().map(|token| token as u32).collect();
        let [hidden, position] = [site::HIDDEN, site::POSITION].map(|site| dropout.site(site));
        let op = EmbeddingOp { tokens: tokens.into(), features: Input::constant(features), sum, hidden, position };
        let inputs = EmbeddingView {
            weight: Input::new(params.weight),
            bias: Input::new(params.bias),
            first: Input::new(params.first),
            second: Input::new(params.second),
        };
        return autodiff::run::<4, _>(op, inputs);
    }
    plain::node_embedding(tokens, features, params, sum, dropout)
}
