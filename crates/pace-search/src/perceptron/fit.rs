//! [`PerceptronConfig`]: how an ensemble of networks is trained.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::batch::Batch;
use super::network::{Network, Workspace};
use super::rows::{Entry, SparseRows};

/// With fewer rows the networks learn nothing, and the held-out numbers say nothing.
pub(crate) const MIN_ROWS: usize = 100;
const WARM_UP_STEPS: f32 = 200.0;

/// Settings of the training: Adam with decoupled weight decay, a short warm-up, a cosine decay to zero, mean squared error.
/// Members differ in their initial weights and in the order of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerceptronConfig {
    /// The number of networks. Their mean is the prediction.
    pub n_members: usize,
    /// Units in each of the two hidden layers.
    pub width: usize,
    /// Passes over the rows.
    pub n_epochs: usize,
    /// Rows per step.
    pub batch_size: usize,
    /// The largest step size.
    pub learning_rate: f32,
    /// Weight decay: a step of size 1 removes this share of the weights.
    pub weight_decay: f32,
    /// Seed of everything random.
    pub seed: u64,
}

impl PerceptronConfig {
    /// Fits the members in parallel to the rows with indices `train`. `progress` gets the member, the epoch and the root mean
    /// squared error of that epoch.
    ///
    /// # Panics
    /// If a size is zero.
    pub(crate) fn fit(
        &self,
        n_features: usize,
        rows: &SparseRows,
        targets: &[f32],
        train: &[usize],
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Vec<Network> {
        assert!(self.n_members * self.width * self.n_epochs * self.batch_size > 0, "{self:?} has a size of zero");
        let power = rows.power(train);
        let fit_member = |member: usize| {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(member as u64);
            let network = Network::random(n_features, self.width, power, &mut rng);
            self.fit_member(network, rows, targets, train.to_vec(), &mut rng, &|epoch, rmse| {
                progress(member, epoch, rmse);
            })
        };
        (0..self.n_members).into_par_iter().map(fit_member).collect()
    }

    fn fit_member(
        &self,
        mut network: Network,
        rows: &SparseRows,
        targets: &[f32],
        mut order: Vec<usize>,
        rng: &mut ChaCha8Rng,
        progress: &dyn Fn(usize, f64),
    ) -> Network {
        let mut batch = Batch::new(self.width, self.batch_size);
        let mut adam = Adam::new(network.parameters().len());
        let mut gradient = vec![0.0; network.parameters().len()];
        let n_steps = (self.n_epochs * order.len().div_ceil(self.batch_size)) as f32;
        for epoch in 0..self.n_epochs {
            order.shuffle(rng);
            let mut squares = 0.0;
            for indices in order.chunks(self.batch_size) {
                let mut errors = batch.predict(&network, rows, indices);
                for (error, &index) in errors.iter_mut().zip(indices) {
                    *error -= targets[index];
                    squares += f64::from(*error).powi(2);
                    *error /= indices.len() as f32;
                }
                gradient.fill(0.0);
                batch.backward(&network, rows, indices, &errors, &mut gradient);
                let step = adam.n_steps as f32;
                let cosine = 0.5 * (1.0 + (std::f32::consts::PI * step / n_steps).cos());
                let rate = self.learning_rate * cosine * ((step + 1.0) / WARM_UP_STEPS).min(1.0);
                adam.step(network.parameters_mut(), &gradient, rate, self.weight_decay);
            }
            progress(epoch, (squares / order.len() as f64).sqrt());
        }
        network
    }
}

/// The mean prediction of the members.
pub(crate) fn mean_prediction(members: &[Network], row: &[Entry]) -> f64 {
    let mut work = Workspace::new(members[0].width());
    let sum: f64 = members.iter().map(|member| f64::from(member.predict(row, &mut work))).sum();
    sum / members.len() as f64
}
