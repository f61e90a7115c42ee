//! [`Strengths`]: how sure each arc is, by bootstrap.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::Table;
use crate::error::Error;
use crate::score::{ScoreKind, Scorer};
use crate::search::{ClimbConfig, Limits, climb};
use crate::structure::{Cpdag, Link, Structure};

/// How to learn from bootstrap samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapConfig {
    /// How many samples are drawn.
    pub replicates: usize,
    /// How a network is learnt from each.
    pub climb: ClimbConfig,
    /// The seed of the samples.
    pub seed: u64,
}

impl Default for BootstrapConfig {
    fn default() -> BootstrapConfig {
        BootstrapConfig { replicates: 100, climb: ClimbConfig::default(), seed: 0 }
    }
}

/// How often two variables are linked in networks that were learnt from bootstrap samples (Friedman, Goldszmidt & Wyner 1999),
/// as bnlearn's `boot.strength` counts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Strengths {
    n: usize,
    replicates: usize,
    /// `directed[from * n + to]`: how often the arc was found; an edge of the class counts half for each direction.
    directed: Vec<f64>,
}

impl Strengths {
    /// Draws samples of as many rows as the table has, with replacement, and learns a network from each, in parallel.
    ///
    /// A sample is a function of the seed and its number alone, so the result does not depend on the number of threads.
    ///
    /// # Errors
    /// If the score has a parameter out of range, or no samples are asked for.
    pub fn bootstrap(table: &Table, kind: ScoreKind, config: &BootstrapConfig) -> Result<Strengths, Error> {
        if config.replicates == 0 {
            return Err(Error::Option {
                option: "the number of bootstrap samples",
                value: "0".to_owned(),
                remedy: "give 1 or more, usually 100 or more".to_owned(),
            });
        }
        let n = table.n_variables();
        let classes = (0..config.replicates as u64).into_par_iter().map(|replicate| {
            let sample = resample(table, config.seed, replicate);
            let scorer = Scorer::new(&sample, kind)?;
            let found = climb(&scorer, &Structure::empty(n), &config.climb, &Limits::default());
            Ok(Cpdag::of(&found.structure))
        });
        let classes = classes.collect::<Result<Vec<Cpdag>, Error>>()?;
        let mut directed = vec![0.0; n * n];
        for class in &classes {
            for (a, b) in class.pairs() {
                let (there, back) = (usize::from(a) * n + usize::from(b), usize::from(b) * n + usize::from(a));
                match class.link(a, b) {
                    Link::Arc => directed[there] += 1.0,
                    Link::Reverse => directed[back] += 1.0,
                    Link::Edge | Link::None => {
                        directed[there] += 0.5;
                        directed[back] += 0.5;
                    }
                }
            }
        }
        Ok(Strengths { n, replicates: config.replicates, directed })
    }

    /// In which share of the samples the two variables are linked, whatever the direction.
    pub fn strength(&self, a: u16, b: u16) -> f64 {
        (self.count(a, b) + self.count(b, a)) / self.replicates as f64
    }

    /// In which share of the samples that link them the link leads from `from` to `to`; 0 if none does.
    pub fn direction(&self, from: u16, to: u16) -> f64 {
        let both = self.count(from, to) + self.count(to, from);
        if both > 0.0 { self.count(from, to) / both } else { 0.0 }
    }

    fn count(&self, from: u16, to: u16) -> f64 {
        self.directed[usize::from(from) * self.n + usize::from(to)]
    }
}

/// Draws rows with replacement.
fn resample(table: &Table, seed: u64, replicate: u64) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(replicate);
    let ends: Vec<u64> = (table.weights().iter())
        .scan(0, |sum, &weight| {
            *sum += u64::from(weight);
            Some(*sum)
        })
        .collect();
    let mut weights = vec![0; ends.len()];
    for _ in 0..table.n_rows() {
        let drawn = rng.random_range(0..table.n_rows() as u64);
        weights[ends.partition_point(|&end| end <= drawn)] += 1;
    }
    table.reweighted(&weights)
}
