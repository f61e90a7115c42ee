//! [`StartId`]: what a search knows before its first query.

use pace_graph::Dag;
use pace_search::{Error, Known};
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::Judge;

/// What a search knows before its first query. All methods with the same seed know the same graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartId {
    /// The best training graphs.
    Best,
    /// Random training graphs.
    Random,
    /// One graph with as few edges as the rules allow.
    Empty,
}

impl StartId {
    /// The name in files and results.
    pub fn name(self) -> &'static str {
        match self {
            StartId::Best => "best",
            StartId::Random => "random",
            StartId::Empty => "empty",
        }
    }

    /// For people.
    pub fn title(self, n_known: usize) -> String {
        match self {
            StartId::Best => format!("the {n_known} best training graphs"),
            StartId::Random => format!("{n_known} random training graphs"),
            StartId::Empty => "the empty graph".to_owned(),
        }
    }

    /// The graphs that are known, with their scores.
    ///
    /// # Errors
    /// If the oracle fails on the empty graph.
    pub fn known(
        self,
        (train, scores): (&[Dag], &[f64]),
        n_known: usize,
        judge: &Judge,
        seed: u64,
    ) -> Result<Known, Error> {
        let rows: Vec<usize> = match self {
            StartId::Best => {
                let mut ranked: Vec<usize> = (0..scores.len()).collect();
                ranked.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
                ranked.truncate(n_known);
                ranked
            }
            StartId::Random => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                sample(&mut rng, scores.len(), n_known.min(scores.len())).into_vec()
            }
            StartId::Empty => {
                let score = judge.oracle.evaluate(std::slice::from_ref(&judge.empty))?[0];
                return Ok(Known::new(vec![(judge.empty.clone(), score)]));
            }
        };
        Ok(Known::new(rows.into_iter().map(|row| (train[row].clone(), scores[row])).collect()))
    }
}
