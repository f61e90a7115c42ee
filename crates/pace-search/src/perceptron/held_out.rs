//! [`HeldOut`]: how good a surrogate is on graphs it was not trained on.

/// Agreement with the truth on the held-out rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldOut {
    /// Root mean squared error in units of the standard deviation of the training targets.
    pub rmse: f64,
    /// Pearson's correlation.
    pub pearson: f64,
    /// Spearman's: Pearson's of the ranks, equal values sharing their mean rank.
    pub spearman: f64,
    /// How many rows.
    pub n_rows: usize,
}

impl HeldOut {
    /// Compares predictions with the truth, both standardised.
    pub(crate) fn measure(predicted: &[f64], wanted: &[f64]) -> HeldOut {
        let n_rows = wanted.len();
        let squares: f64 = predicted.iter().zip(wanted).map(|(a, b)| (a - b).powi(2)).sum();
        HeldOut {
            rmse: (squares / n_rows as f64).sqrt(),
            pearson: pearson(predicted, wanted),
            spearman: pearson(&ranks(predicted), &ranks(wanted)),
            n_rows,
        }
    }

    /// As [`HeldOut::measure`], from pairs of prediction and truth.
    pub(crate) fn of_pairs(pairs: &[[f64; 2]]) -> HeldOut {
        let column = |which: usize| pairs.iter().map(|pair| pair[which]).collect::<Vec<f64>>();
        HeldOut::measure(&column(0), &column(1))
    }
}

fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        ab += (a - mean_a) * (b - mean_b);
        aa += (a - mean_a).powi(2);
        bb += (b - mean_b).powi(2);
    }
    ab / (aa * bb).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = before as f64 + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|&row| ranks[row] = rank);
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    }

    #[test]
    fn a_monotone_but_crooked_guess() {
        let found = HeldOut::measure(&[0.0, 1.0, 8.0], &[0.0, 1.0, 2.0]);
        assert_eq!((found.spearman, found.n_rows), (1.0, 3));
        assert!((found.rmse - 12.0_f64.sqrt()).abs() < 1e-12 && found.pearson < 1.0);
    }
}
