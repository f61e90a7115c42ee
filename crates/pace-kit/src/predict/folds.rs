//! [`Folds`]: which rows are predicted from which.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A cut of rows into parts of nearly equal size, at random.
#[derive(Clone, Debug)]
pub struct Folds(Vec<Vec<usize>>);

impl Folds {
    /// Cuts `0..n_rows` into `n_folds` parts.
    pub fn new(n_rows: usize, n_folds: usize, seed: u64) -> Folds {
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Folds((0..n_folds).map(|fold| order.iter().copied().skip(fold).step_by(n_folds).collect()).collect())
    }

    /// How many parts.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The rows of all other parts, and those of this part.
    pub fn split(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
        let others = self.0.iter().enumerate().filter(|(other, _)| *other != fold);
        (others.flat_map(|(_, rows)| rows.iter().copied()).collect(), self.0[fold].clone())
    }
}

#[cfg(test)]
mod tests {
    use super::Folds;

    #[test]
    fn every_row_is_predicted_once_and_never_by_itself() {
        let folds = Folds::new(23, 5, 1);
        let mut all = Vec::new();
        for fold in 0..folds.count() {
            let (known, wanted) = folds.split(fold);
            assert_eq!(known.len() + wanted.len(), 23);
            assert!(wanted.iter().all(|row| !known.contains(row)));
            all.extend(wanted);
        }
        all.sort_unstable();
        assert_eq!(all, (0..23).collect::<Vec<_>>());
    }
}
