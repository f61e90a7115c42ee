//! [`Noisy`]: an oracle plus noise, like a benchmark with one run per graph.

use pace_graph::{Dag, canonical};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Oracle;
use crate::error::Error;

/// Adds Gaussian noise to the scores of another oracle.
///
/// The noise of a graph depends only on its isomorphism class and on the seed. So the same graph always has the same score,
/// as in a table of single runs.
#[derive(Clone, Debug)]
pub struct Noisy<O> {
    oracle: O,
    std: f64,
    seed: u64,
}

impl<O: Oracle> Noisy<O> {
    /// Noise of standard deviation `std`; 0 leaves the scores as they are.
    pub fn new(oracle: O, std: f64, seed: u64) -> Noisy<O> {
        Noisy { oracle, std, seed }
    }

    fn draw(&self, dag: &Dag) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(key(&canonical(dag)));
        StandardNormal.sample(&mut rng)
    }
}

impl<O: Oracle> Oracle for Noisy<O> {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        let mut scores = self.oracle.evaluate(dags)?;
        if self.std > 0.0 {
            scores.iter_mut().zip(dags).for_each(|(score, dag)| *score += self.std * self.draw(dag));
        }
        Ok(scores)
    }
}

/// FNV-1a of the text form: a hash of the labelled graph that is the same in all versions of the standard library.
fn key(dag: &Dag) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    dag.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
