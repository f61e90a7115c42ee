//! [`Nas101Surrogate`]: a learnt stand-in for the table of NAS-Bench-101.

use std::sync::OnceLock;

use pace_graph::Dag;
use pace_graph::dataset::Dataset;
use serde::{Deserialize, Serialize};

use super::Oracle;
use super::held_out::HeldOut;
use super::perceptron::{Distilled, Entry, Kind, PerceptronConfig, SparseRows};
use crate::error::Error;

mod embedded;
mod features;

use features::{N_FEATURES, cell_features};

pub use embedded::{EmbeddedNas101, embedded_nas101};

const KIND: Kind = Kind { name: "nas101", magic: "PACE-NB1", n_features: N_FEATURES, ranked: true };

/// The mean of small perceptrons on counts of paths, edges and surroundings of the nodes of a cell.
///
/// Trained on the real table ([`Nas101SurrogateConfig::fit`]); the weights in this crate serve any machine
/// ([`Nas101Surrogate::embedded`]). Scores are accuracies, as in the table. The networks learn ranks, because most cells
/// lie within a few hundredths and a few have failed altogether.
///
/// ```
/// use pace_search::oracle::{Nas101Surrogate, Oracle};
/// let dag = "0 2 2 4 : 0>1 1>2 2>3 0>3".parse()?;
/// let accuracy = Nas101Surrogate::embedded().evaluate(&[dag])?[0];
/// assert!((0.85..0.95).contains(&accuracy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Nas101Surrogate(Distilled);

impl Nas101Surrogate {
    /// The weights that come with this crate, trained by us on the real table.
    pub fn embedded() -> &'static Nas101Surrogate {
        static EMBEDDED: OnceLock<Nas101Surrogate> = OnceLock::new();
        let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/weights/nas101.bin"));
        EMBEDDED.get_or_init(|| Nas101Surrogate::from_bytes(bytes).expect("a test reads the embedded weights"))
    }

    /// How it did on the tenth of the table that it was not trained on.
    pub fn held_out(&self) -> HeldOut {
        self.0.held_out
    }

    /// The same for the best tenth of these cells, by their accuracy in the table.
    pub fn held_out_best(&self) -> HeldOut {
        self.0.held_out_best
    }

    /// All there is to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// Reads what [`Nas101Surrogate::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Nas101Surrogate, Error> {
        Distilled::from_bytes(KIND, bytes).map(Nas101Surrogate)
    }

    fn score(&self, row: &[Entry]) -> f64 {
        self.0.score(row).clamp(0.0, 1.0)
    }
}

impl Oracle for Nas101Surrogate {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        let score = |(graph, dag): (usize, &Dag)| Ok(self.score(&features_of(graph, dag)?));
        dags.iter().enumerate().map(score).collect()
    }
}

fn features_of(graph: usize, dag: &Dag) -> Result<Vec<Entry>, Error> {
    cell_features(dag).map_err(|reason| Error::Graph { graph, reason })
}

/// How [`Nas101Surrogate`] is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nas101SurrogateConfig {
    /// Of the networks.
    pub perceptron: PerceptronConfig,
}

impl Default for Nas101SurrogateConfig {
    /// The embedded weights were trained by this.
    fn default() -> Nas101SurrogateConfig {
        let perceptron = PerceptronConfig {
            n_members: 2,
            width: 240,
            n_epochs: 20,
            batch_size: 256,
            learning_rate: 2e-3,
            weight_decay: 0.1,
            seed: 0,
        };
        Nas101SurrogateConfig { perceptron }
    }
}

impl Nas101SurrogateConfig {
    /// Trains on nine tenths of the labelled cells and measures on the others, split by
    /// [`split_reference`](pace_graph::split_reference) in the order of the table; no cell may stand in it twice.
    /// `progress` is told member, epoch and the root mean squared error of that epoch in units of the transformed ranks
    /// (standard deviation 1.46); members are trained side by side.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn fit(
        &self,
        table: &Dataset,
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Result<Nas101Surrogate, Error> {
        let (mut rows, mut scores) = (SparseRows::default(), Vec::new());
        for (graph, sample) in table.samples.iter().enumerate() {
            if let Some(target) = sample.target {
                rows.push(features_of(graph, &sample.dag)?);
                scores.push(target);
            }
        }
        Distilled::fit(KIND, &self.perceptron, &rows, &scores, progress).map(Nas101Surrogate)
    }
}
