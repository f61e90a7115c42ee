//! The latent space: a decoder that is nearly the identity, and an optimum that is known.

use std::collections::HashSet;

use faer::MatRef;
use pace_graph::Dag;
use pace_search::oracle::Oracle;
use pace_search::space::{Embedded, Latent, LatentConfig, Space, Taken};
use pace_search::strategy::{BayesianOptimisation, BayesianOptimisationConfig, Strategy};
use pace_search::{Error, Header, Journal, Matrix, run};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::search_sample::bayes;

const N_LEVELS: f64 = 8.0;

/// A chain whose operations are the vector, rounded down; below 0 there is nothing.
fn chain(vector: &[f64]) -> Option<Dag> {
    let ops = vector.iter().map(|&value| (value >= 0.0).then(|| format!("{} ", value.min(N_LEVELS - 1.0) as u16 + 2)));
    let ops: String = ops.collect::<Option<String>>()?;
    let edges: String = (0..=vector.len()).map(|node| format!("{node}>{} ", node + 1)).collect();
    Some(format!("0 {ops} 1 : {edges}").parse().unwrap())
}

/// Of five draws, one is another graph, one is nothing, and three are right.
fn decode(x: MatRef<'_, f64>, _seed: u64) -> Vec<Vec<Option<Dag>>> {
    let row = |row: usize| {
        let vector: Vec<f64> = x.row(row).iter().copied().collect();
        let right = chain(&vector);
        vec!["0 1 : 0>1".parse().ok().filter(|_| right.is_some()), None, right.clone(), right.clone(), right]
    };
    (0..x.nrows()).map(row).collect()
}

/// Highest at operation 7, 3 and 5.
struct Distance;

impl Oracle for Distance {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        let score = |dag: &Dag| {
            -[7, 3, 5]
                .iter()
                .enumerate()
                .map(|(i, &op)| (f64::from(dag.op(i + 1)) - f64::from(op)).powi(2))
                .sum::<f64>()
        };
        Ok(dags.iter().map(score).collect())
    }
}

/// Corners of the box: a tenth of it decodes to nothing in each dimension.
fn train() -> Matrix {
    Matrix::from_fn(2, 3, |row, _| if row == 0 { -0.9 } else { N_LEVELS })
}

#[test]
fn the_known_optimum_is_found() {
    for seed in 0..5 {
        let config = LatentConfig { n_uniform: 1000, n_around: 500, ..LatentConfig::default() };
        let space = Latent::new(config, train().as_ref(), &decode).unwrap();
        let config = BayesianOptimisationConfig { initial: 10, ..bayes() };
        let mut strategy = BayesianOptimisation::new(config, &space, seed).unwrap();
        let mut journal = Journal::in_memory(Header::new("latent", seed, serde_json::Value::Null));
        let trace = run(&mut strategy, &Distance, &mut journal, 50, 4, &mut |_| {}).unwrap();
        assert_eq!(trace.best(), Some(0.0), "seed {seed} of 512 graphs");
        let entries = journal.history().entries();
        let keys: HashSet<_> = entries.iter().map(|entry| entry.candidate.key()).collect();
        assert_eq!(keys.len(), entries.len());
        for entry in entries {
            let vector = entry.candidate.vector.as_ref().unwrap();
            assert!(vector.iter().all(|value| (0.0..=N_LEVELS).contains(value)));
            assert_eq!(chain(vector), Some(entry.candidate.dag.clone()), "the most frequent decoding");
        }
    }
}

#[test]
fn what_is_known_is_not_decoded_again() {
    let known: Vec<Dag> = (0..7).map(|op| chain(&[f64::from(op)]).unwrap()).collect();
    let train = Matrix::from_fn(2, 1, |row, _| N_LEVELS * row as f64);
    let space = Latent::new(LatentConfig::default(), train.as_ref(), &decode).unwrap().avoiding(&known);
    let found = space.sample(5, &Taken::default(), &mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(found.iter().map(|candidate| candidate.dag.clone()).collect::<Vec<_>>(), [chain(&[7.0]).unwrap()]);
    assert!(space.nearest(&found[0], 3, &Taken::default()).unwrap().is_empty());
}

#[test]
fn scores_from_before_guide_the_first_round() {
    let config = LatentConfig { n_uniform: 1000, n_around: 500, ..LatentConfig::default() };
    let space = Latent::new(config, train().as_ref(), &decode).unwrap();
    // 125 vectors with their scores, and none closer to the optimum than that.
    let x = Matrix::from_fn(125, 3, |row, d| 0.5 + 1.7 * ((row / 5_usize.pow(d as u32)) % 5) as f64);
    let dags: Vec<Dag> =
        (0..125).map(|row| chain(&x.row(row).iter().copied().collect::<Vec<f64>>()).unwrap()).collect();
    let y = Distance.evaluate(&dags).unwrap();
    let best_known = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let config = BayesianOptimisationConfig { initial: 0, ..bayes() };
    let mut strategy = BayesianOptimisation::new(config, &space, 1).unwrap().with_known(x, y).unwrap();
    let mut journal = Journal::in_memory(Header::new("latent", 1, serde_json::Value::Null));
    let trace = run(&mut strategy, &Distance, &mut journal, 20, 5, &mut |_| {}).unwrap();
    let first = trace.scores[..5].iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(first >= -3.0 && trace.best() == Some(0.0), "{best_known}, then {:?}", trace.scores);
    assert!(strategy.propose(journal.history(), 1).unwrap().len() == 1);
}

#[test]
fn the_box_needs_points() {
    assert!(matches!(
        Latent::new(LatentConfig::default(), Matrix::zeros(0, 3).as_ref(), &decode),
        Err(Error::EmptyInput { .. })
    ));
    let bad = Matrix::from_fn(1, 1, |_, _| f64::NAN);
    assert!(matches!(Latent::new(LatentConfig::default(), bad.as_ref(), &decode), Err(Error::BadVector { .. })));
}
