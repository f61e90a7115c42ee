//! [`NaSurrogateConfig`]: how the NA surrogate is trained.

use pace_graph::dataset::Dataset;
use pace_graph::split_reference;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use super::features::active_features;
use super::network::{Network, Workspace};
use super::{HeldOut, NaSurrogate};
use crate::error::Error;

/// Below this a network of this size learns nothing, and the held-out numbers say nothing.
const MIN_ROWS: usize = 100;
const WARM_UP_STEPS: f32 = 200.0;
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

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

struct Rows {
    features: Vec<Vec<usize>>,
    /// Standardised.
    targets: Vec<f32>,
}

impl NaSurrogateConfig {
    /// Trains on the train part of [`split_reference`], measures on the test part. `progress` is told member, epoch and
    /// the root mean squared error on the rows of that epoch; members are trained side by side.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn fit(&self, na: &Dataset, progress: &(dyn Fn(usize, usize, f64) + Sync)) -> Result<NaSurrogate, Error> {
        assert!(self.n_members * self.width * self.n_epochs * self.batch_size > 0, "{self:?} has a size of zero");
        let mut labelled = Vec::new();
        for (graph, sample) in na.samples.iter().enumerate() {
            if let Some(target) = sample.target {
                let features = active_features(&sample.dag).map_err(|reason| Error::Graph { graph, reason })?;
                labelled.push((features, target));
            }
        }
        if labelled.len() < MIN_ROWS {
            return Err(Error::TooFewRows { n_rows: labelled.len(), wanted: MIN_ROWS });
        }
        let split = split_reference(labelled.len(), 0.9);
        let mean = split.train.iter().map(|&row| labelled[row].1).sum::<f64>() / split.train.len() as f64;
        let variance = split.train.iter().map(|&row| (labelled[row].1 - mean).powi(2)).sum::<f64>();
        // Equal targets have no spread to divide by.
        let std = (variance / split.train.len() as f64).sqrt().max(f64::MIN_POSITIVE.sqrt());
        let (features, targets) =
            labelled.into_iter().map(|(features, target)| (features, ((target - mean) / std) as f32)).unzip();
        let rows = Rows { features, targets };
        let member = |member| self.fit_member(member, &rows, &split.train, progress);
        let members = (0..self.n_members).into_par_iter().map(member).collect();
        let mut surrogate = NaSurrogate { members, mean, std, held_out: HeldOut::default() };
        let predicted: Vec<f64> =
            split.test.iter().map(|&row| surrogate.predict_standardised(&rows.features[row])).collect();
        let wanted: Vec<f64> = split.test.iter().map(|&row| f64::from(rows.targets[row])).collect();
        surrogate.held_out = HeldOut::measure(&predicted, &wanted);
        Ok(surrogate)
    }

    fn fit_member(
        &self,
        member: usize,
        rows: &Rows,
        train: &[usize],
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Network {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(member as u64);
        let mut network = Network::random(self.width, &mut rng);
        let mut work = Workspace::new(self.width);
        let n_parameters = network.parameters().len();
        let mut adam = Adam { moments: vec![[0.0; 2]; n_parameters], n_steps: 0 };
        let mut gradient = vec![0.0; n_parameters];
        let mut order = train.to_vec();
        let n_steps = (self.n_epochs * order.len().div_ceil(self.batch_size)) as f32;
        for epoch in 0..self.n_epochs {
            order.shuffle(&mut rng);
            let mut squares = 0.0;
            for batch in order.chunks(self.batch_size) {
                gradient.fill(0.0);
                for &row in batch {
                    let error = network.predict(&rows.features[row], &mut work) - rows.targets[row];
                    squares += f64::from(error).powi(2);
                    network.backward(&rows.features[row], error / batch.len() as f32, &mut work, &mut gradient);
                }
                let step = adam.n_steps as f32;
                let cosine = 0.5 * (1.0 + (std::f32::consts::PI * step / n_steps).cos());
                let rate = self.learning_rate * cosine * ((step + 1.0) / WARM_UP_STEPS).min(1.0);
                adam.step(network.parameters_mut(), &gradient, rate, self.weight_decay);
            }
            progress(member, epoch, (squares / order.len() as f64).sqrt());
        }
        network
    }
}

/// Adam with decoupled weight decay (Kingma & Ba 2015; Loshchilov & Hutter 2019).
struct Adam {
    moments: Vec<[f32; 2]>,
    n_steps: i32,
}

impl Adam {
    fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32, decay: f32) {
        self.n_steps += 1;
        let (unbias1, unbias2) = (1.0 - BETA1.powi(self.n_steps), 1.0 - BETA2.powi(self.n_steps));
        for ((parameter, &slope), [first, second]) in parameters.iter_mut().zip(gradient).zip(&mut self.moments) {
            *first = BETA1 * *first + (1.0 - BETA1) * slope;
            *second = BETA2 * *second + (1.0 - BETA2) * slope * slope;
            let direction = (*first / unbias1) / ((*second / unbias2).sqrt() + EPSILON);
            *parameter -= rate * (direction + decay * *parameter);
        }
    }
}
