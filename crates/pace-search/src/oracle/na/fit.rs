//! [`NaSurrogateConfig`]: how the NA surrogate is trained.

use pace_graph::dataset::Dataset;
use pace_graph::split_reference;
use serde::{Deserialize, Serialize};

use super::NaSurrogate;
use super::features::{N_FEATURES, active_features};
use crate::error::Error;
use crate::perceptron::{HeldOut, MIN_ROWS, PerceptronConfig, SparseRows, mean_prediction, mean_std};

/// How [`NaSurrogate`] is trained, on standardised accuracies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaSurrogateConfig {
    /// Settings of the networks.
    pub perceptron: PerceptronConfig,
}

impl Default for NaSurrogateConfig {
    /// The embedded weights were trained by this.
    fn default() -> NaSurrogateConfig {
        let perceptron = PerceptronConfig {
            n_members: 4,
            width: 128,
            n_epochs: 150,
            batch_size: 64,
            learning_rate: 3e-3,
            weight_decay: 0.1,
            seed: 0,
        };
        NaSurrogateConfig { perceptron }
    }
}

impl NaSurrogateConfig {
    /// Trains on the train part of [`split_reference`] and measures on the test part. `progress` gets the member, the epoch and
    /// the root mean squared error of that epoch. Members are trained in parallel.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn fit(&self, na: &Dataset, progress: &(dyn Fn(usize, usize, f64) + Sync)) -> Result<NaSurrogate, Error> {
        let (rows, scores) = SparseRows::labelled(na, active_features)?;
        if rows.len() < MIN_ROWS {
            return Err(Error::TooFewRows { n_rows: rows.len(), wanted: MIN_ROWS });
        }
        let split = split_reference(scores.len(), 0.9);
        let (mean, std) = mean_std(&scores, &split.train);
        let targets: Vec<f32> = scores.iter().map(|score| ((score - mean) / std) as f32).collect();
        let members = self.perceptron.fit(N_FEATURES, &rows, &targets, &split.train, progress);
        let predicted: Vec<f64> = split.test.iter().map(|&row| mean_prediction(&members, rows.row(row))).collect();
        let wanted: Vec<f64> = split.test.iter().map(|&row| f64::from(targets[row])).collect();
        let held_out = HeldOut::measure(&predicted, &wanted);
        Ok(NaSurrogate { members, mean, std, held_out })
    }
}
