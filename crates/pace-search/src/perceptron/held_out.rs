//! [`HeldOut`]: how good a surrogate is on graphs that it was not trained on.

use crate::metrics::{pearson, rmse, spearman};

/// The agreement with the truth on held-out rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldOut {
    /// Root mean squared error in units of the standard deviation of the training targets.
    pub rmse: f64,
    /// Pearson's correlation.
    pub pearson: f64,
    /// Spearman's correlation. Equal values share their mean rank.
    pub spearman: f64,
    /// The number of rows.
    pub n_rows: usize,
}

impl HeldOut {
    /// Compares predictions with the truth, both standardised.
    pub(crate) fn measure(predicted: &[f64], wanted: &[f64]) -> HeldOut {
        HeldOut {
            rmse: rmse(predicted, wanted),
            pearson: pearson(predicted, wanted),
            spearman: spearman(predicted, wanted),
            n_rows: wanted.len(),
        }
    }

    /// As [`HeldOut::measure`], from pairs of prediction and truth.
    pub(crate) fn of_pairs(pairs: &[[f64; 2]]) -> HeldOut {
        let column = |which: usize| pairs.iter().map(|pair| pair[which]).collect::<Vec<f64>>();
        HeldOut::measure(&column(0), &column(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monotone_but_crooked_guess() {
        let found = HeldOut::measure(&[0.0, 1.0, 8.0], &[0.0, 1.0, 2.0]);
        assert_eq!((found.spearman, found.n_rows), (1.0, 3));
        assert!((found.rmse - 12.0_f64.sqrt()).abs() < 1e-12 && found.pearson < 1.0);
    }
}
