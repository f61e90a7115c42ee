//! [`pair_logits`]: a classifier of pairs of rows, of which each row's part is computed once.

use std::sync::Arc;

use burn::tensor::Tensor;

#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input},
    pair_logits::{PairLogitsOp, PairView},
};
use super::plain;

/// P pairs of a target row and a source row.
#[derive(Clone, Debug)]
pub struct RowPairs {
    pub(crate) targets: Arc<[u32]>,
    pub(crate) sources: Arc<[u32]>,
}

impl RowPairs {
    /// Pairs `(target, source)`; those of one target stand together.
    ///
    /// # Panics
    /// If the pairs are not sorted by target.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>) -> RowPairs {
        let (targets, sources): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        assert!(targets.is_sorted(), "pairs are not sorted by target");
        RowPairs { targets: targets.into(), sources: sources.into() }
    }

    /// The same pairs with the sources renumbered.
    pub fn with_sources(&self, number: impl Fn(u32) -> u32) -> RowPairs {
        RowPairs { targets: self.targets.clone(), sources: self.sources.iter().map(|&source| number(source)).collect() }
    }

    /// How many pairs, P.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

/// The logits of a two-layer perceptron on pairs of rows, from the halves of its first layer:
///
/// ```text
/// l_p = out . ReLU(target_t(p) + source_s(p)) + out_bias
/// ```
///
/// # Shapes
///
/// - target: [T, F], source: [S, F]
/// - out: [F, 1], out_bias: `[1]`
/// - output: [P, 1]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn pair_logits(
    target: Tensor<2>,
    source: Tensor<2>,
    pairs: &RowPairs,
    out: Tensor<2>,
    out_bias: Tensor<1>,
) -> Tensor<2> {
    let ([n_targets, width], [n_sources, other]) = (target.dims(), source.dims());
    assert_eq!((width, out.dims(), out_bias.dims()), (other, [width, 1], [1]), "halves and output of different widths");
    let inside = |rows: &[u32], count: usize| rows.iter().all(|&row| (row as usize) < count);
    assert!(
        inside(&pairs.targets, n_targets) && inside(&pairs.sources, n_sources),
        "a pair names a row that is not there"
    );
    #[cfg(feature = "flex")]
    if autodiff::serves(&target) {
        let inputs = PairView {
            target: Input::new(target),
            source: Input::new(source),
            out: Input::new(out),
            out_bias: Input::new(out_bias),
        };
        return autodiff::run::<4, _>(PairLogitsOp { pairs: pairs.clone() }, inputs);
    }
    plain::pair_logits(target, source, pairs, out, out_bias)
}
