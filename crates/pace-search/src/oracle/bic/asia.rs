//! The Asia network, and a substitute for the BN dataset made from it.

use pace_graph::dataset::{Dataset, Sample};
use pace_graph::enumerate::{OrderedBn, Sampler};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Bic, Observations, Optimum};
use crate::error::Error;
use crate::oracle::Oracle;

const NAMES: [&str; 8] = ["A", "S", "T", "L", "B", "E", "X", "D"];
/// The number of rows in bnlearn's sample.
const N_ROWS: usize = 5000;
/// The sample is always the same, so that scores of different runs are comparable. The seed is the year of the paper.
const SAMPLE_SEED: u64 = 1988;

/// Draws rows from the Asia network by ancestral sampling, columns A, S, T, L, B, E, X, D, levels no and yes.
///
/// The probabilities are those of Lauritzen & Spiegelhalter (1988), table 1: visit to Asia 0.01; smoking 0.5;
/// tuberculosis 0.05 after a visit, else 0.01; lung cancer 0.1 for smokers, else 0.01; bronchitis 0.6 for smokers, else
/// 0.3; E is tuberculosis or cancer; positive X-ray 0.98 given E, else 0.05; dyspnoea 0.9 given E and bronchitis, 0.7
/// given E alone, 0.8 given bronchitis alone, else 0.1.
pub fn sample_asia(n_rows: usize, seed: u64) -> Observations {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut columns = vec![Vec::with_capacity(n_rows); NAMES.len()];
    for _ in 0..n_rows {
        let mut yes = |probability: f64| rng.random_bool(probability);
        let asia = yes(0.01);
        let smoker = yes(0.5);
        let tuberculosis = yes(if asia { 0.05 } else { 0.01 });
        let cancer = yes(if smoker { 0.1 } else { 0.01 });
        let bronchitis = yes(if smoker { 0.6 } else { 0.3 });
        let either = tuberculosis || cancer;
        let x_ray = yes(if either { 0.98 } else { 0.05 });
        let dyspnoea = yes(match (either, bronchitis) {
            (true, true) => 0.9,
            (true, false) => 0.7,
            (false, true) => 0.8,
            (false, false) => 0.1,
        });
        let row = [asia, smoker, tuberculosis, cancer, bronchitis, either, x_ray, dyspnoea];
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(u8::from(value)));
    }
    let levels = vec![vec!["no".to_owned(), "yes".to_owned()]; NAMES.len()];
    Observations::new(NAMES.map(str::to_owned).to_vec(), levels, columns)
}

/// A substitute for the BN dataset, if its files are missing.
#[derive(Clone, Debug)]
pub struct EmbeddedBn {
    /// Random networks with their BIC. Its note says what it is.
    pub dataset: Dataset,
    /// The oracle for the same sample.
    pub bic: Bic,
    /// The best network on that sample.
    pub optimum: Optimum,
}

/// `n` networks from the distribution of the BN file ([`OrderedBn`]), with their BIC on 5,000 rows of [`sample_asia`].
///
/// The rows are the same for every seed. Only the networks differ.
pub fn embedded_bn(n: usize, seed: u64) -> Result<EmbeddedBn, Error> {
    let bic = Bic::new(&sample_asia(N_ROWS, SAMPLE_SEED))?;
    let optimum = Optimum::find(&bic);
    let sampler = OrderedBn::default();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dags: Vec<_> = (0..n).map(|_| sampler.sample(&mut rng)).collect();
    let scores = bic.evaluate(&dags)?;
    let samples = dags.into_iter().zip(scores).map(|(dag, score)| Sample::new(dag, score)).collect();
    let note = format!(
        "embedded stand-in, not the published file: {n} random networks over the 8 variables of Asia (seed {seed}), with \
         their BIC on {N_ROWS} rows that we drew from the published probabilities of Lauritzen & Spiegelhalter (1988); \
         the best possible score on these rows is {:.4}, where the published sample has -11107.2933",
        optimum.score
    );
    let dataset = Dataset { name: "bn".to_owned(), spec: sampler.spec(), samples, note };
    Ok(EmbeddedBn { dataset, bic, optimum })
}
