//! The round trip: candidates have the vectors to which their graphs are encoded.

use std::collections::HashSet;

use faer::MatRef;
use pace_graph::Dag;
use pace_graph::enumerate::Mutate;
use pace_search::oracle::Oracle;
use pace_search::space::{Criterion, Embedded, Latent, LatentConfig, RoundTrip, Space, Taken};
use pace_search::strategy::{BayesianOptimisation, BayesianOptimisationConfig};
use pace_search::{Candidate, Error, Header, Journal, Matrix, Origin, run};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::search_sample::bayes;

const N_NODES: usize = 4;
const N_OPS: u16 = 6;

/// A chain of operations.
fn chain(ops: &[u16]) -> Dag {
    let ops: String = ops.iter().map(|op| format!("{} ", op + 2)).collect();
    let edges: String = (0..=N_NODES).map(|node| format!("{node}>{} ", node + 1)).collect();
    format!("0 {ops} 1 : {edges}").parse().unwrap()
}

fn ops(dag: &Dag) -> Vec<u16> {
    (1..=N_NODES).map(|node| dag.op(node) - 2).collect()
}

/// Folds the box: whole cells of it are decoded to a graph whose vector is elsewhere.
fn decode(x: MatRef<'_, f64>, _seed: u64) -> Vec<Vec<Option<Dag>>> {
    let op = |value: f64| (value.clamp(0.0, 1.0) * 2.0 * f64::from(N_OPS)) as u16 % N_OPS;
    x.row_iter().map(|row| vec![Some(chain(&row.iter().map(|&value| op(value)).collect::<Vec<u16>>()))]).collect()
}

fn encode(dags: &[Dag]) -> Matrix {
    let place = |dag: usize, node: usize| (f64::from(ops(&dags[dag])[node]) + 0.5) / (2.0 * f64::from(N_OPS));
    Matrix::from_fn(dags.len(), N_NODES, place)
}

struct Edits;

impl Mutate for Edits {
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        let ops = ops(dag);
        let edit = |node: usize, op: u16| {
            let mut edited = ops.clone();
            edited[node] = op;
            chain(&edited)
        };
        let all = (0..N_NODES).flat_map(|node| (0..N_OPS).map(move |op| (node, op)));
        all.filter(|&(node, op)| ops[node] != op).map(|(node, op)| edit(node, op)).collect()
    }
}

/// Highest at 5, 1, 3, 2.
struct Distance;

impl Oracle for Distance {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        let score = |dag: &Dag| {
            let pairs = ops(dag).into_iter().zip([5, 1, 3, 2]);
            -pairs.map(|(op, best)| (f64::from(op) - f64::from(best)).powi(2)).sum::<f64>()
        };
        Ok(dags.iter().map(score).collect())
    }
}

fn space(config: LatentConfig) -> RoundTrip<'static> {
    let corners = Matrix::from_fn(2, N_NODES, |row, _| row as f64);
    RoundTrip::new(Latent::new(config, corners.as_ref(), &decode).unwrap(), &encode)
}

#[test]
fn the_known_optimum_is_found_and_every_vector_is_its_graphs_own() {
    for seed in 0..5 {
        let space = space(LatentConfig { n_uniform: 500, n_around: 200, ..LatentConfig::default() });
        let config = BayesianOptimisationConfig { initial: 10, ..bayes() };
        let mut strategy = BayesianOptimisation::new(config, &space, seed).unwrap();
        let mut journal = Journal::in_memory(Header::new("round trip", seed, serde_json::Value::Null));
        let trace = run(&mut strategy, &Distance, &mut journal, 60, 5, &mut |_| {}).unwrap();
        assert_eq!(trace.best(), Some(0.0), "seed {seed} of 1,296 graphs");
        let entries = journal.history().entries();
        let keys: HashSet<_> = entries.iter().map(|entry| entry.candidate.key()).collect();
        assert_eq!(keys.len(), entries.len(), "nothing twice");
        for entry in entries {
            let own = encode(std::slice::from_ref(&entry.candidate.dag));
            assert_eq!(entry.candidate.vector, Some(own.row(0).iter().copied().collect()));
        }
    }
}

/// Wants the first coordinate, and notes what it was told to imagine.
#[derive(Default)]
struct First(Vec<Vec<f64>>);

impl Criterion for First {
    fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        x.col(0).iter().copied().collect()
    }

    fn imagine(&mut self, vector: &[f64]) -> bool {
        self.0.push(vector.to_vec());
        true
    }
}

#[test]
fn edits_reach_what_no_draw_does() {
    // No draws at all: only the graphs one and two edits away from the centre are there.
    let config = LatentConfig { n_uniform: 1, n_around: 0, ..LatentConfig::default() };
    let (space, centre) = (space(config).with_edits(&Edits), encode(&[chain(&[2, 2, 2, 2])]));
    let mut criterion = First::default();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let found = space.propose(6, &Taken::default(), centre.as_ref(), &mut criterion, &mut rng).unwrap();
    assert_eq!(found.len(), 6);
    let distance = |dag: &Dag| ops(dag).iter().filter(|&&op| op != 2).count();
    let near = found.iter().filter(|candidate| distance(&candidate.dag) <= 2).count();
    assert!(near >= 5, "one draw may be anything");
    // The best by the criterion come first, each imagined after it was chosen.
    assert_eq!(ops(&found[0].dag)[0], 5);
    let vectors: Vec<Vec<f64>> = found.iter().map(|candidate| candidate.vector.clone().unwrap()).collect();
    assert_eq!(criterion.0, vectors);
    // A graph of the user's own can be asked about, too.
    let admitted = space.admit(chain(&[1, 1, 1, 1])).unwrap();
    assert_eq!(admitted.vector, Some(encode(&[chain(&[1, 1, 1, 1])]).row(0).iter().copied().collect()));
}

/// The graphs one edit away, the closest vectors first, without what was asked before.
#[test]
fn neighbours_are_edits() {
    let space = space(LatentConfig::default()).with_edits(&Edits);
    let centre = space.admit(chain(&[0, 2, 2, 2])).unwrap();
    let mut taken = Taken::default();
    taken.insert(&space.admit(chain(&[1, 2, 2, 2])).unwrap());
    let found = space.nearest(&centre, 8, &taken).unwrap();
    // The first node has one operation next to its own, which is taken; the others have two each.
    let step = |candidate: &Candidate| -> u16 {
        ops(&candidate.dag).iter().zip([0, 2, 2, 2]).map(|(&op, own)| op.abs_diff(own)).sum()
    };
    assert_eq!(found.iter().map(step).collect::<Vec<u16>>(), [1, 1, 1, 1, 1, 1, 2, 2]);
    assert!(found.iter().all(|candidate| candidate.origin == Origin::Neighbour));
    let all = space.nearest(&centre, 1000, &taken).unwrap();
    assert_eq!(all.len(), N_NODES * (usize::from(N_OPS) - 1) - 1);
}
