//! [`shared_encoder`]: a stack of encoder blocks on graphs of which many nodes have equal vectors, and [`concat_linear`], a
//! linear map of all nodes of a graph at once.

#[cfg(feature = "flex")]
use burn::backend::Flex;
use burn::tensor::Tensor;

use super::blocks::sparse_encoder;
#[cfg(feature = "flex")]
use super::blocks::{constants, views};
#[cfg(feature = "flex")]
use super::check;
#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input, values},
    inference,
};
use super::pair_lists::PairLists;
use super::params::{BlockConfig, EncoderParams};
use super::pasts::Pasts;
use super::plain;

/// [`encoder`](super::encoder) under the mask that `pasts` was made from. It computes equal pasts once, and the first projection
/// once per distinct input. Dropout must be off: it would make equal rows differ. [`Pasts::expand`] gives each row the vector of
/// its past.
///
/// # Shapes
///
/// - x: [U, D], the distinct inputs; `pasts` refers to them by row
/// - output: [pasts, D]. With `rows`, of 0..B*N and ascending, the last block is computed for the pasts of these rows only, and
///   the vectors of other pasts mean nothing
///
/// # Panics
///
/// If the shapes do not fit together, the rows are not ascending, or dropout is on.
pub fn shared_encoder(
    x: Tensor<2>,
    pasts: &Pasts,
    rows: Option<&[u32]>,
    layers: Vec<EncoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    assert!(!config.dropout.site(0).is_on(), "dropout makes rows with equal pasts differ");
    let [count, _] = x.dims();
    assert!(pasts.inputs.iter().all(|&input| (input as usize) < count), "an input beyond the {count} given");
    assert!(rows.is_none_or(<[u32]>::is_sorted), "rows are read in ascending order");
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !x.is_autodiff() && inference::serves(config) && !layers.is_empty() {
        let [_, d] = x.dims();
        check::encoder(&layers, d);
        let (x, layers) = (Input::constant(x), constants(layers));
        let y = inference::shared_encoder(values(&x), d, pasts, rows, views(&layers), config);
        return Tensor::from_primitive::<Flex>(autodiff::primitive(y, [pasts.len(), d]));
    }
    by_pasts(x, pasts, |x, lists| sparse_encoder(x, lists, layers, config))
}

/// One row per past through `blocks`, along the lists of the pasts. Shapes: [U, D] -> [pasts, D].
pub(super) fn by_pasts(
    x: Tensor<2>,
    pasts: &Pasts,
    blocks: impl FnOnce(Tensor<2>, &PairLists) -> Tensor<2>,
) -> Tensor<2> {
    let device = x.device();
    let lists = PairLists::new(pasts.keys.offsets().to_vec(), pasts.keys.items().to_vec(), &device);
    blocks(pasts.of_inputs(x), &lists)
}

/// The vectors of the N rows of each graph side by side, times a matrix: sum over the positions p of y_p W_p, plus bias. Each past
/// is multiplied once for each position at which it stands.
///
/// # Shapes
///
/// - y: [pasts, D]; weight: [N*D, Z]; bias: `[Z]`; output: [B, Z]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn concat_linear(y: Tensor<2>, pasts: &Pasts, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    let ([count, d], [height, width]) = (y.dims(), weight.dims());
    assert!(count == pasts.len(), "{count} vectors for {} pasts", pasts.len());
    assert!(height == pasts.n() * d, "weight of {height} rows for {} positions of width {d}", pasts.n());
    assert_eq!(bias.dims(), [width], "bias of a map to {width}");
    #[cfg(feature = "flex")]
    if autodiff::serves(&y) && ![y.is_autodiff(), weight.is_autodiff(), bias.is_autodiff()].contains(&true) {
        let [y, weight, bias] = [Input::constant(y), Input::constant(weight), Input::constant(bias)];
        let graphs = inference::concat_linear(values(&y), pasts, values(&weight), values(&bias));
        return Tensor::from_primitive::<Flex>(autodiff::primitive(graphs, [pasts.n_rows() / pasts.n(), width]));
    }
    plain::concat_linear(y, pasts, weight, bias)
}
