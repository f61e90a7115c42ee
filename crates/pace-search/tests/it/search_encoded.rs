//! A space with an encoder and without a decoder.

use std::sync::Mutex;

use faer::MatRef;
use pace_graph::enumerate::Enas;
use pace_graph::{Dag, GraphKey, canonical};
use pace_search::space::{Allowed, Criterion, Embedded, Encoded, Open, Space, Taken};
use pace_search::strategy::{
    BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Reach, Setting, StrategyConfig,
};
use pace_search::{Candidate, Matrix, Origin};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::search_replay::{Peak, backwards, searched};
use crate::search_sample::{Moves, N_DIMS, bayes, chains, one_hot};

/// One-hot vectors of graphs of any numbering.
pub fn features(dags: &[Dag]) -> Matrix {
    let rows: Vec<Vec<f32>> = dags.iter().map(|dag| one_hot(&canonical(dag))).collect();
    Matrix::from_fn(rows.len(), N_DIMS, |row, column| f64::from(rows[row][column]))
}

fn candidates(dags: &[Dag]) -> Vec<Candidate> {
    dags.iter().map(|dag| Candidate::new(dag.clone(), Origin::Random)).collect()
}

#[test]
fn vectors_are_those_of_the_encoder_once_per_isomorphism_class() {
    let (seen, enas) = (Mutex::new(Vec::new()), Enas::default());
    let encode = |dags: &[Dag]| {
        seen.lock().unwrap().extend(dags.iter().map(GraphKey::of));
        features(dags)
    };
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &encode);
    let dags = chains(20, 1).dags().to_vec();
    // Twice in one call, under another numbering, and again in later calls.
    let twice: Vec<Dag> = dags[..12].iter().flat_map(|dag| [dag.clone(), backwards(dag)]).collect();
    for (dags, n_seen) in [(&twice[..], 12), (&dags[..12], 12), (&dags[8..], 20), (&twice[..], 20), (&[], 20)] {
        let asked = candidates(dags);
        let vectors = encoded.vectors(&asked.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(vectors.nrows(), dags.len());
        if !dags.is_empty() {
            assert_eq!(vectors, features(dags));
        }
        assert_eq!(seen.lock().unwrap().len(), n_seen);
    }
}

#[test]
fn isomorphic_graphs_have_one_vector_even_if_the_encoder_sees_their_numbering() {
    let enas = Enas::default();
    let first_op = |dags: &[Dag]| Matrix::from_fn(dags.len(), 1, |row, _| f64::from(dags[row].op(0)));
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &first_op);
    let dag = chains(1, 1).dags()[0].clone();
    let both = candidates(&[dag.clone(), backwards(&dag)]);
    assert_ne!(dag.op(0), both[1].dag.op(0));
    let vectors = encoded.vectors(&both.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(vectors[(0, 0)], vectors[(1, 0)]);
}

#[test]
fn a_proposal_without_edits_is_the_best_of_random_graphs() {
    /// Counts the operations 2.
    struct Count;
    impl Criterion for Count {
        fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
            x.row_iter().map(|row| (0..6).map(|layer| row[6 * layer]).sum()).collect()
        }

        fn imagine(&mut self, _: &[f64]) -> bool {
            false
        }
    }
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    let near = Matrix::zeros(0, N_DIMS);
    let propose = |n: usize, taken: &Taken<'_>| {
        encoded.propose(n, taken, near.as_ref(), &mut Count, &mut ChaCha8Rng::seed_from_u64(5)).unwrap()
    };
    let count = |candidate: &Candidate| candidate.dag.ops().filter(|&op| op == 2).count();
    let found = propose(8, &Taken::default());
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|candidate| candidate.origin == Origin::Acquisition));
    assert!(found.windows(2).all(|pair| count(&pair[0]) >= count(&pair[1])));
    // Of 1,000 draws about 60 have three or more.
    assert!(count(&found[7]) >= 3, "{:?}", found.iter().map(count).collect::<Vec<_>>());
    // The next best, if these are taken.
    let mut taken = Taken::default();
    taken.extend(&found);
    let next = propose(8, &taken);
    assert_eq!(next.len(), 8);
    assert!(next.iter().all(|candidate| !taken.contains(&candidate.key())));
    // It belongs to the space below it.
    assert_eq!(encoded.admit(found[0].dag.clone()), open.admit(found[0].dag.clone()));
    assert_eq!(encoded.admit("0 99 1 : 0>1 1>2".parse().unwrap()), None);
    assert!(encoded.nearest(&found[0], 3, &Taken::default()).unwrap().is_empty());
}

#[test]
fn a_search_by_edits_of_an_open_space_finds_the_peak() {
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    for seed in 0..3 {
        let peak = Peak(chains(1, 20 + seed).dags()[0].clone());
        let reach = Reach::Edits { n_centres: 3, n_twice: 20, n_random: 20 };
        let config = StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig { initial: 20, reach, ..bayes() }));
        let setting = Setting { space: &encoded, embedded: Some(&encoded), mutate: Some(&Moves), known: None };
        let history = searched(&mut *config.init(setting, seed).unwrap(), &peak, 120, 4);
        // Of about 1.5 billion graphs.
        assert_eq!(history.trace().best(), Some(0.0), "seed {seed}");
    }
}

#[test]
fn a_predicate_is_obeyed_by_every_strategy_and_may_leave_nothing() {
    let enas = Enas::default();
    let open = Open::new(&enas);
    let allows = |dag: &Dag| dag.ops().filter(|&op| op == 2).count() <= 1;
    let allowed = Allowed::new(&open, &allows);
    let encoded = Encoded::new(&allowed, &features);
    let refused = chains(50, 1).dags().iter().find(|dag| !allows(dag)).cloned().unwrap();
    assert!(open.admit(refused.clone()).is_some() && allowed.admit(refused).is_none());
    let reach = Reach::Edits { n_centres: 3, n_twice: 20, n_random: 20 };
    let peak = Peak(chains(1, 20).dags()[0].clone());
    for config in [
        StrategyConfig::Random,
        StrategyConfig::Evolution(EvolutionConfig::default()),
        StrategyConfig::Local(LocalSearchConfig::default()),
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig { reach, ..bayes() })),
    ] {
        let setting = Setting { space: &encoded, embedded: Some(&encoded), mutate: Some(&Moves), known: None };
        let history = searched(&mut *config.init(setting, 1).unwrap(), &peak, 40, 5);
        assert_eq!(history.n_asked(), 40, "{config:?}");
        assert!(history.entries().iter().all(|entry| allows(&entry.candidate.dag)), "{config:?}");
    }
    let nothing = |_: &Dag| false;
    let empty = Allowed::new(&open, &nothing);
    assert!(empty.sample(5, &Taken::default(), &mut ChaCha8Rng::seed_from_u64(1)).is_empty());
}
