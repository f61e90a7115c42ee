//! The covariance: a sum of terms, each over some columns of the vectors.

use std::ops::Range;

use faer::{Mat, MatRef};

use super::AdditiveGpConfig;
use crate::gp::kernel::{Kernel, Scaled};
use crate::gp::median_of_pairs;
use crate::numerics::dense::add_scaled;

/// The terms, and everything that is learnt about them.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    pub(super) kernel: Kernel,
    /// The columns of each term. Nodes whose columns never vary have none.
    pub(super) terms: Vec<Range<usize>>,
    pub(super) log_lengths: Vec<f64>,
    pub(super) log_variances: Vec<f64>,
    pub(super) log_noise: f64,
}

impl Covariance {
    /// The start of a fit to x [n, D] and scores of unit variance. At the median distance a term has lost most of its variance.
    pub(super) fn start(config: &AdditiveGpConfig, x: MatRef<'_, f64>) -> Covariance {
        let AdditiveGpConfig { kernel, whole: whole_share, noise, .. } = *config;
        let nodes: Vec<(Range<usize>, f64)> = config
            .parts
            .columns(x.ncols())
            .into_iter()
            .filter_map(|columns| Some((columns.clone(), typical(x, &columns)?)))
            .collect();
        let all = 0..x.ncols();
        let whole = typical(x, &all).unwrap_or(1.0);
        let node_share = (1.0 - whole_share) / nodes.len().max(1) as f64;
        let log_variances = std::iter::once(whole_share.ln()).chain(nodes.iter().map(|_| node_share.ln())).collect();
        let (terms, lengths): (Vec<_>, Vec<f64>) = std::iter::once((all, whole)).chain(nodes).unzip();
        let log_lengths = lengths.into_iter().map(f64::ln).collect();
        Covariance { kernel, terms, log_lengths, log_variances, log_noise: noise.ln() }
    }

    /// K(x_i, z_j) [n, m] for x [n, D] and z [m, D], without noise.
    pub(super) fn between(&self, x: MatRef<'_, f64>, z: MatRef<'_, f64>) -> Mat<f64> {
        let (n, m) = (x.nrows(), z.nrows());
        let (mut sum, mut part) = (Mat::zeros(n, m), Mat::zeros(n, m));
        for (term, columns) in self.terms.iter().enumerate() {
            let inverse = vec![(-self.log_lengths[term]).exp(); columns.len()];
            let scaled =
                |x: MatRef<'_, f64>| Scaled::new(x.subcols(columns.start, columns.len()), 0..x.nrows(), &inverse);
            scaled(x).covariance(&scaled(z), self.kernel, self.log_variances[term].exp(), part.as_mut());
            (0..m).for_each(|j| add_scaled(sum.col_as_slice_mut(j), 1.0, part.col_as_slice(j)));
        }
        sum
    }

    /// The variance of a graph, without noise.
    pub(super) fn variance(&self) -> f64 {
        self.log_variances.iter().map(|log| log.exp()).sum()
    }

    /// All hyperparameters as one vector.
    pub(super) fn pack(&self) -> Vec<f64> {
        self.log_lengths.iter().chain(&self.log_variances).copied().chain([self.log_noise]).collect()
    }

    /// The inverse of [`pack`](Self::pack).
    pub(super) fn unpack(&self, packed: &[f64]) -> Covariance {
        let n = self.terms.len();
        Covariance {
            log_lengths: packed[..n].to_vec(),
            log_variances: packed[n..2 * n].to_vec(),
            log_noise: packed[2 * n],
            ..self.clone()
        }
    }
}

/// The root of the median squared distance over some columns; of those pairs that differ, if most do not. `None` if all rows
/// are equal there.
fn typical(x: MatRef<'_, f64>, columns: &Range<usize>) -> Option<f64> {
    let part = x.subcols(columns.start, columns.len()).to_owned();
    if let Some(median) = median_of_pairs(&part).filter(|&median| median > 1e-12) {
        return Some(median.sqrt());
    }
    let spread = part.col_iter().map(|column| {
        let (low, high) = column.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        (high - low).powi(2)
    });
    Some(spread.sum::<f64>().sqrt()).filter(|&spread| spread > 1e-6)
}
