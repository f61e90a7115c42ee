//! [`NaSurrogate`]: a learnt substitute for the weight-sharing accuracy of NA. The shared weights are lost.

use std::sync::OnceLock;

use pace_graph::Dag;
use pace_graph::dataset::{Dataset, Sample};
use pace_graph::enumerate::{Enas, Sampler};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Oracle, score_each};
use crate::error::Error;
use crate::perceptron::{HeldOut, Network, mean_prediction};

mod features;
mod file;
mod fit;

use features::active_features;

pub use fit::NaSurrogateConfig;

/// The mean of a few small perceptrons on the one-hot operations and skip bits of an architecture.
///
/// Perceptrons were clearly better on held-out rows than ridge regression on all products of two features (RMSE 0.236, on
/// another random tenth) and than a Gaussian process on the features (0.230).
///
/// It is trained on the real table ([`NaSurrogateConfig::fit`]). Trained weights are part of this crate
/// ([`NaSurrogate::embedded`]). Scores are accuracies, as in the table.
///
/// ```
/// use pace_search::oracle::{NaSurrogate, Oracle};
/// let dag = "0 2 3 4 5 6 7 1 : 0>1 1>2 2>3 3>4 4>5 5>6 6>7 0>2".parse()?;
/// let accuracy = NaSurrogate::embedded().evaluate(&[dag])?[0];
/// assert!((0.65..0.80).contains(&accuracy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NaSurrogate {
    members: Vec<Network>,
    /// Of the training targets.
    mean: f64,
    std: f64,
    held_out: HeldOut,
}

impl NaSurrogate {
    /// The weights in this crate, which we trained on the real table.
    pub fn embedded() -> &'static NaSurrogate {
        static EMBEDDED: OnceLock<NaSurrogate> = OnceLock::new();
        let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/weights/na.bin"));
        EMBEDDED.get_or_init(|| NaSurrogate::from_bytes(bytes).expect("a test reads the embedded weights"))
    }

    /// How good it is on the test part of the table.
    pub fn held_out(&self) -> HeldOut {
        self.held_out
    }
}

impl Oracle for NaSurrogate {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        score_each(dags, |dag| {
            let active = active_features(dag)?;
            Ok(self.mean + self.std * mean_prediction(&self.members, &active))
        })
    }
}

/// Share of skips that are kept. The published table has 3 of 10 possible skips, a draw of [`Enas`] 5 of 10.
const KEPT_SKIPS: f64 = 0.6;

/// `n` architectures from the distribution of the published table, labelled by [`NaSurrogate::embedded`].
///
/// They are draws of [`Enas`] that lose 4 of 10 skips. The operations of the table are almost uniform, but its skips are
/// sparser, and the surrogate has never seen denser architectures.
pub fn embedded_na(n: usize, seed: u64) -> Result<Dataset, Error> {
    let (sampler, surrogate) = (Enas::default(), NaSurrogate::embedded());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || {
        let dense = sampler.sample(&mut rng);
        let edges = dense.edges().filter(|&(from, to)| from + 1 == to || rng.random_bool(KEPT_SKIPS));
        Dag::new(dense.ops().collect(), edges.collect::<Vec<_>>()).expect("fewer edges close no cycle")
    };
    let dags: Vec<Dag> = (0..n).map(|_| draw()).collect();
    let scores = surrogate.evaluate(&dags)?;
    let samples = dags.into_iter().zip(scores).map(|(dag, score)| Sample::new(dag, score)).collect();
    let HeldOut { rmse, spearman, n_rows, .. } = surrogate.held_out;
    let note = format!(
        "embedded stand-in, not the published file: {n} architectures drawn from the ENAS space (seed {seed}) with as many \
         skips as the published table has, and with accuracies guessed by small networks that we trained on that table; \
         on its {n_rows} held-out rows the guesses have Spearman correlation {spearman:.3} with the truth and an error of \
         {rmse:.3} standard deviations; as guesses are smooth, they are easier to predict than the truth"
    );
    Ok(Dataset { name: "na".to_owned(), spec: sampler.spec(), samples, note })
}
