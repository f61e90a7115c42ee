//! [`Nas301Surrogate`]: [`Nas301`](super::Nas301), distilled to a small file.

use std::collections::HashSet;
use std::sync::OnceLock;

use pace_graph::dataset::{DartsCell, Dataset, Sample};
use pace_graph::enumerate::{Darts, Sampler};
use pace_graph::{Dag, GraphKey, canonical};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::encoding::{N_EDGES, edges, inputs};
use crate::error::Error;
use crate::oracle::Oracle;
use crate::perceptron::{Distilled, Entry, GraphFeatures, HeldOut, PerceptronConfig, SparseRows};

const N_OPS: usize = 7;
/// The first feature for the pairs of inputs of each of the last three intermediate nodes, which have 3, 6 and 10 pairs.
const FIRST_PAIR: [usize; 3] = [N_EDGES * N_OPS, N_EDGES * N_OPS + 3, N_EDGES * N_OPS + 9];
const N_FEATURES: usize = N_EDGES * N_OPS + 19;

/// The mean of small perceptrons on the choices of one cell, trained on predictions of the published network.
///
/// Scores are validation accuracies in percent, without noise. The cell is both the normal and the reduction cell.
///
/// ```
/// use pace_graph::enumerate::{Darts, Sampler};
/// use pace_search::oracle::{Nas301Surrogate, Oracle};
/// use rand::SeedableRng;
/// let cell = Darts.sample(&mut rand_chacha::ChaCha8Rng::seed_from_u64(0));
/// let accuracy = Nas301Surrogate::embedded().evaluate(&[cell])?[0];
/// assert!((88.0..96.0).contains(&accuracy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Nas301Surrogate = Distilled<Nas301Features>;

/// The features of a DARTS cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Nas301Features;

impl GraphFeatures for Nas301Features {
    const NAME: &'static str = "nas301";
    const MAGIC: &'static str = "PACE-NB3";
    const N_FEATURES: usize = N_FEATURES;
    const IS_RANKED: bool = false;

    fn features(dag: &Dag) -> Result<Vec<Entry>, pace_graph::Error> {
        cell_features(&canonical(dag))
    }

    fn embedded() -> &'static Nas301Surrogate {
        static EMBEDDED: OnceLock<Nas301Surrogate> = OnceLock::new();
        let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/weights/nas301.bin"));
        EMBEDDED.get_or_init(|| Nas301Surrogate::from_bytes(bytes).expect("a test reads the embedded weights"))
    }
}

/// The features of a canonical cell whose value is 1: operation by edge, then inputs by node.
fn cell_features(dag: &Dag) -> Result<Vec<Entry>, pace_graph::Error> {
    let cell = DartsCell::from_dag(dag)?;
    let pair = |node: usize| {
        let [low, high] = inputs(&cell, node);
        FIRST_PAIR[node - 1] + high * (high - 1) / 2 + low
    };
    let on = edges(&cell)?.map(|(edge, op)| edge * N_OPS + op - 2).into_iter().chain((1..4).map(pair));
    Ok(on.map(|feature| (feature as u16, 1.0)).collect())
}

/// How [`Nas301Surrogate`] is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nas301SurrogateConfig {
    /// Settings of the networks.
    pub perceptron: PerceptronConfig,
    /// The number of different cells that the teacher scores. A tenth of them is held out.
    pub n_cells: usize,
}

impl Default for Nas301SurrogateConfig {
    /// The embedded weights were trained by this.
    fn default() -> Nas301SurrogateConfig {
        let perceptron = PerceptronConfig {
            n_members: 1,
            width: 256,
            n_epochs: 30,
            batch_size: 256,
            learning_rate: 2e-3,
            weight_decay: 0.02,
            seed: 0,
        };
        Nas301SurrogateConfig { perceptron, n_cells: 60_000 }
    }
}

impl Nas301SurrogateConfig {
    /// Draws cells ([`Darts`]), asks the teacher for their scores, and trains on nine tenths of them. No two are isomorphic, so
    /// no held-out cell is a training cell. `progress` gets the member, the epoch and the root mean squared error of that
    /// epoch, in standard deviations. Members are trained in parallel.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn fit(
        &self,
        teacher: &dyn Oracle,
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Result<Nas301Surrogate, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.perceptron.seed);
        let (mut seen, mut cells) = (HashSet::new(), Vec::with_capacity(self.n_cells));
        while cells.len() < self.n_cells {
            let key = GraphKey::of(&Darts.sample(&mut rng));
            if seen.insert(key.clone()) {
                cells.push(key.canonical());
            }
        }
        let scores = teacher.evaluate(&cells)?;
        let mut rows = SparseRows::default();
        for (graph, cell) in cells.iter().enumerate() {
            rows.push(cell_features(cell).map_err(|reason| Error::Graph { graph, reason })?);
        }
        Distilled::fit(&self.perceptron, &rows, &scores, progress)
    }
}

/// `n` cells from the authors' distribution ([`Darts`]), labelled by [`Nas301Surrogate::embedded`].
pub fn embedded_nas301(n: usize, seed: u64) -> Result<Dataset, Error> {
    let surrogate = Nas301Surrogate::embedded();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dags: Vec<Dag> = (0..n).map(|_| Darts.sample(&mut rng)).collect();
    let scores = surrogate.evaluate(&dags)?;
    let samples = dags.into_iter().zip(scores).map(|(dag, score)| Sample::new(dag, score)).collect();
    let HeldOut { rmse, spearman, n_rows, .. } = surrogate.held_out();
    let note = format!(
        "embedded stand-in, not NAS-Bench-301: {n} cells drawn from the DARTS space (seed {seed}), each in both places of \
         its architecture, with accuracies guessed by small networks that we taught with the published network of YAHPO \
         Gym; on {n_rows} held-out cells the guesses have Spearman correlation {spearman:.3} with that network and an \
         error of {rmse:.3} standard deviations; that network itself has Spearman correlation 0.90 with the \
         accuracies of NAS-Bench-301 that we have"
    );
    Ok(Dataset { name: "nas301".to_owned(), spec: Darts.spec(), samples, note })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_its_own_feature() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut on = HashSet::new();
        for _ in 0..3000 {
            let features = cell_features(&canonical(&Darts.sample(&mut rng))).unwrap();
            assert_eq!(features.len(), 11);
            on.extend(features.iter().map(|&(feature, _)| usize::from(feature)));
        }
        assert_eq!(on, (0..N_FEATURES).collect());
    }
}
