//! [`Nas101Surrogate`]: a learnt substitute for the table of NAS-Bench-101.

use std::sync::OnceLock;

use pace_graph::Dag;
use pace_graph::dataset::Dataset;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::perceptron::{Distilled, Entry, GraphFeatures, PerceptronConfig, SparseRows};

mod embedded;
mod features;

use features::{N_FEATURES, cell_features};

pub use embedded::{EmbeddedNas101, embedded_nas101};

/// The mean of small perceptrons on counts of paths and edges of a cell, and of the surroundings of its nodes.
///
/// It is trained on the real table ([`Nas101SurrogateConfig::fit`]). Trained weights are part of this crate
/// ([`Nas101Surrogate::embedded`]). Scores are accuracies, as in the table. The networks learn ranks, because the accuracies
/// of most cells differ by a few hundredths, and a few cells did not train at all.
///
/// ```
/// use pace_search::oracle::{Nas101Surrogate, Oracle};
/// let dag = "0 2 2 4 : 0>1 1>2 2>3 0>3".parse()?;
/// let accuracy = Nas101Surrogate::embedded().evaluate(&[dag])?[0];
/// assert!((0.85..0.95).contains(&accuracy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Nas101Surrogate = Distilled<Nas101Features>;

/// The features of a NAS-Bench-101 cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Nas101Features;

impl GraphFeatures for Nas101Features {
    const NAME: &'static str = "nas101";
    const MAGIC: &'static str = "PACE-NB1";
    const N_FEATURES: usize = N_FEATURES;
    const IS_RANKED: bool = true;

    fn features(dag: &Dag) -> Result<Vec<Entry>, pace_graph::Error> {
        cell_features(dag)
    }

    fn limit(score: f64) -> f64 {
        score.clamp(0.0, 1.0)
    }

    fn embedded() -> &'static Nas101Surrogate {
        static EMBEDDED: OnceLock<Nas101Surrogate> = OnceLock::new();
        let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/weights/nas101.bin"));
        EMBEDDED.get_or_init(|| Nas101Surrogate::from_bytes(bytes).expect("a test reads the embedded weights"))
    }
}

/// How [`Nas101Surrogate`] is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nas101SurrogateConfig {
    /// Settings of the networks.
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
    /// [`split_reference`](pace_graph::split_reference) in the order of the table. No cell may be in the table twice.
    /// `progress` gets the member, the epoch and the root mean squared error of that epoch, in units of the transformed ranks
    /// (standard deviation 1.46). Members are trained in parallel.
    ///
    /// # Panics
    /// If a size is zero.
    pub fn fit(
        &self,
        table: &Dataset,
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Result<Nas101Surrogate, Error> {
        let (rows, scores) = SparseRows::labelled(table, cell_features)?;
        Distilled::fit(&self.perceptron, &rows, &scores, progress)
    }
}
