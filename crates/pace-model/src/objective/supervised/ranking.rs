//! [`pairwise_logistic`]: a loss for scores of which only the order matters.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::batch::floats;

/// The pairwise logistic loss (RankNet, Burges et al. 2005): the sum over all pairs with y_i > y_j of
/// `log(1 + exp(s_j - s_i))`, and the number of those pairs.
///
/// Pairs with equal targets say nothing about the order and are left out; a batch of nothing else has loss 0 over 0 pairs.
/// The targets are read back to the host, which on a GPU waits for the copy.
///
/// # Shapes
///
/// - scores: `[B]`; targets: `[B]`; output: `[1]`
pub fn pairwise_logistic(scores: Tensor<1>, targets: &Tensor<1>) -> (Tensor<1>, usize) {
    let [b] = scores.dims();
    let values: Vec<f32> = targets.to_data().iter::<f32>().collect();
    let better = |i: usize, j: usize| if values[i] > values[j] { 1.0 } else { 0.0 };
    let pairs: Vec<f32> = (0..b * b).map(|pair| better(pair / b, pair % b)).collect();
    let count = pairs.iter().filter(|&&pair| pair > 0.0).count();
    let pairs = floats(pairs, [b, b], &scores.device());
    let margin = scores.clone().reshape([b, 1]) - scores.reshape([1, b]); // [B, B], s_i - s_j
    // log(1 + exp(-m)) without overflow.
    let loss = relu(margin.clone().neg()) + (margin.abs().neg().exp() + 1.0).log();
    ((loss * pairs).sum(), count)
}
