//! [`NaSurrogateConfig`]: how the NA surrogate is trained.

use pace_graph::dataset::Dataset;
use pace_graph::split_reference;
use serde::{Deserialize, Serialize};

use super::NaSurrogate;
use super::features::{N_FEATURES, active_features};
use crate::error::Error;
use crate::oracle::held_out::HeldOut;
use crate::oracle::perceptron::{MIN_ROWS, PerceptronConfig, SparseRows, mean_prediction, mean_std};

/// Choices of the training: Adam with decoupled weight decay, a short warm-up and a cosine decay to zero, mean squared
/// error on standardised accuracies. Members differ in their initial weights and in the order of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaSurrogateConfig {
    /// Networks whose mean is the prediction.
    pub n_members: usize,
    /// Units in each of the two hidden layers.
    pub width: usize,
    /// Passes over the rows.
    pub n_epochs: usize,
    /// Rows per step.
    pub batch_size: usize,
    /// The highest step size.
    pub learning_rate: f32,
    /// Share of the weights that a step of size 1 takes away.
    pub weight_decay: f32,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for NaSurrogateConfig {
    /// The embedded weights were trained by this.
    fn default() -> NaSurrogateConfig {
        NaSurrogateConfig {
            n_members: 4,
            width: 128,
            n_epochs: 150,
            batch_size: 64,
            learning_rate: 3e-3,
            weight_decay: 0.1,
            seed: 0,
        }
    }
}

impl NaSurrogateConfig {
    /// Trains on the train part of [`split_reference`], measures on the test part. `progress` is told member, epoch and
    /// the root mean squared error on the rows of that epoch; members are trained side by side.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn fit(&self, na: &Dataset, progress: &(dyn Fn(usize, usize, f64) + Sync)) -> Result<NaSurrogate, Error> {
        let (mut rows, mut scores) = (SparseRows::default(), Vec::new());
        for (graph, sample) in na.samples.iter().enumerate() {
            if let Some(target) = sample.target {
                rows.push(active_features(&sample.dag).map_err(|reason| Error::Graph { graph, reason })?);
                scores.push(target);
            }
        }
        if rows.len() < MIN_ROWS {
            return Err(Error::TooFewRows { n_rows: rows.len(), wanted: MIN_ROWS });
        }
        let split = split_reference(scores.len(), 0.9);
        let (mean, std) = mean_std(&scores, &split.train);
        let targets: Vec<f32> = scores.iter().map(|score| ((score - mean) / std) as f32).collect();
        let members = self.perceptron().fit(N_FEATURES, &rows, &targets, &split.train, progress);
        let predicted: Vec<f64> = split.test.iter().map(|&row| mean_prediction(&members, rows.row(row))).collect();
        let wanted: Vec<f64> = split.test.iter().map(|&row| f64::from(targets[row])).collect();
        let held_out = HeldOut::measure(&predicted, &wanted);
        Ok(NaSurrogate { members, mean, std, held_out })
    }

    fn perceptron(&self) -> PerceptronConfig {
        let NaSurrogateConfig { n_members, width, n_epochs, batch_size, learning_rate, weight_decay, seed } = *self;
        PerceptronConfig { n_members, width, n_epochs, batch_size, learning_rate, weight_decay, seed }
    }
}
