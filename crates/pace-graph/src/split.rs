//! Train/test splits, exactly as the reference code makes them.

use rand_mt::Mt;

/// Row numbers of the two parts of a dataset, in the order in which the reference code would meet them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<usize>,
    /// Rows held out.
    pub test: Vec<usize>,
}

impl Split {
    fn at(mut order: Vec<usize>, train_fraction: f64) -> Split {
        assert!((0.0..=1.0).contains(&train_fraction), "a fraction lies in 0..=1, not {train_fraction}");
        // Python's int(n * fraction): a product of doubles, cut off.
        let n_train = (order.len() as f64 * train_fraction) as usize;
        let test = order.split_off(n_train);
        Split { train: order, test }
    }
}

/// NA and BN: shuffle with CPython's `random.Random(0)`, then the first `train_fraction` (paper: 0.9) is train.
///
/// ```
/// let split = pace_graph::split_reference(19_020, 0.9);
/// assert_eq!((split.train.len(), split.test.len()), (17_118, 1_902));
/// assert_eq!(split.train[..5], [5410, 2213, 4853, 10021, 10604]);
/// ```
///
/// # Panics
/// If the fraction is outside 0..=1, or `n` does not fit 32 bits.
pub fn split_reference(n: usize, train_fraction: f64) -> Split {
    Split::at(python_shuffle(n, 0), train_fraction)
}

/// NAS-Bench-101 and 301: no shuffle, the first `train_fraction` (paper: 0.95) is train.
///
/// # Panics
/// If the fraction is outside 0..=1.
pub fn split_in_order(n: usize, train_fraction: f64) -> Split {
    Split::at((0..n).collect(), train_fraction)
}

/// `x = list(range(n)); random.Random(seed).shuffle(x)`, as CPython 3 does it.
///
/// MT19937 seeded by `init_by_array` with the one-word key `[seed]`; Fisher-Yates from the end, each j in 0..=i drawn
/// from the top bits of one output, rejected while too large.
///
/// # Panics
/// If `n` does not fit 32 bits: CPython would then draw two outputs at a time.
pub fn python_shuffle(n: usize, seed: u32) -> Vec<usize> {
    assert!(u32::try_from(n).is_ok(), "{n} rows are too many for one 32-bit draw");
    let mut rng = Mt::new_with_key([seed]);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let bound = i as u32 + 1;
        let j = loop {
            let draw = rng.next_u32() >> bound.leading_zeros();
            if draw < bound {
                break draw;
            }
        };
        order.swap(i, j as usize);
    }
    order
}
