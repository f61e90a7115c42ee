//! The pool: the best rows, true neighbours, and batches that spread out.

use std::collections::HashMap;

use faer::MatRef;
use pace_graph::Vectors;
use pace_search::space::{Criterion, Embedded, Graphs, Listed, Pool, Space, Taken};
use pace_search::strategy::{BayesianOptimisation, BayesianOptimisationConfig, Strategy};
use pace_search::{Candidate, Error, History, Matrix, Origin, Outcome};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::search_sample::{N_DIMS, bayes, chains, one_hot};

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(0)
}

/// Vectors in general position: no two distances are equal.
fn scattered(chains: &Listed, n_dims: usize) -> Pool<'_> {
    let mut rng = rng();
    let vectors = (0..chains.n_graphs() * n_dims).map(|_| StandardNormal.sample(&mut rng));
    Pool::new(chains, Vectors::new(vectors.collect(), n_dims)).unwrap()
}

fn distance(pool: &Pool<'_>, a: usize, b: usize) -> f64 {
    pool.row(a).iter().zip(pool.row(b)).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}

/// Likes the first dimension; what was imagined loses its neighbourhood.
struct Peak(Vec<Vec<f64>>);

impl Criterion for Peak {
    fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        let is_close = |row: usize| {
            let square = |other: &Vec<f64>| -> f64 { (0..x.ncols()).map(|d| (x[(row, d)] - other[d]).powi(2)).sum() };
            self.0.iter().any(|other| square(other) < 0.25)
        };
        (0..x.nrows()).map(|row| if is_close(row) { f64::NAN } else { x[(row, 0)] }).collect()
    }

    fn imagine(&mut self, vector: &[f64]) -> bool {
        self.0.push(vector.to_vec());
        true
    }
}

#[test]
fn a_batch_is_chosen_greedily_among_the_untried() {
    let chains = chains(3000, 4);
    let pool = scattered(&chains, 2);
    let mut order: Vec<usize> = (0..pool.len()).collect();
    order.sort_by(|&a, &b| pool.row(b)[0].total_cmp(&pool.row(a)[0]));
    let mut history = History::default();
    history.ask([pool.candidate(order[0], Origin::Random), pool.candidate(order[2], Origin::Random)]);
    let near = Matrix::zeros(0, 2);
    let found = pool.propose(6, &Taken::by(&history), near.as_ref(), &mut Peak(Vec::new()), &mut rng()).unwrap();
    let mut expected: Vec<usize> = Vec::new();
    for &row in order.iter().filter(|&&row| row != order[0] && row != order[2]) {
        if expected.len() < 6 && expected.iter().all(|&other| distance(&pool, row, other) >= 0.25) {
            expected.push(row);
        }
    }
    assert_eq!(found.iter().map(|candidate| candidate.place.unwrap()).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|candidate| candidate.origin == Origin::Acquisition));
}

#[test]
fn local_search_asks_for_the_true_nearest_neighbours() {
    let chains = chains(20_000, 5);
    let pool = scattered(&chains, 13);
    let mut history = History::default();
    history.ask(pool.sample(12, &Taken::default(), &mut rng()));
    for id in 0..12 {
        history.tell(id, Outcome::of(f64::from((id as u32 * 7) % 12))).unwrap();
    }
    let config = BayesianOptimisationConfig { initial: 12, local_search: true, ..bayes() };
    let round = BayesianOptimisation::new(config, &pool, 1).unwrap().propose(&history, 5).unwrap();
    assert_eq!(round.len(), 10);
    let places = |entries: &[Candidate]| entries.iter().map(|candidate| candidate.place.unwrap()).collect::<Vec<_>>();
    let mut taken = places(&history.entries().iter().map(|entry| entry.candidate.clone()).collect::<Vec<_>>());
    taken.extend(places(&round[..5]));
    for (neighbour, (entry, _)) in round[5..].iter().zip(history.top(5)) {
        let of = entry.candidate.place.unwrap();
        let free = (0..pool.len()).filter(|row| !taken.contains(row));
        let nearest = free.min_by(|&a, &b| distance(&pool, of, a).total_cmp(&distance(&pool, of, b))).unwrap();
        assert_eq!(neighbour.place, Some(nearest));
        assert_eq!(neighbour.origin, Origin::Neighbour);
        taken.push(nearest);
    }
}

/// Among the nearest, the one that the acquisition wants most.
#[test]
fn local_search_chooses_inside_a_neighbourhood() {
    let chains = chains(5000, 5);
    let pool = scattered(&chains, 13);
    let mut history = History::default();
    history.ask(pool.sample(12, &Taken::default(), &mut rng()));
    for id in 0..12 {
        let row = pool.row(history.entries()[id].candidate.place.unwrap());
        let score = -row.iter().map(|value| f64::from(value * value)).sum::<f64>();
        history.tell(id, Outcome::of(score)).unwrap();
    }
    let ask = |neighbourhood| {
        let config = BayesianOptimisationConfig { initial: 12, local_search: true, neighbourhood, ..bayes() };
        let round = BayesianOptimisation::new(config, &pool, 1).unwrap().propose(&history, 5).unwrap();
        round[5..].iter().map(|candidate| candidate.place.unwrap()).collect::<Vec<usize>>()
    };
    let (nearest, chosen) = (ask(1), ask(30));
    assert_eq!(chosen.len(), 5);
    assert_ne!(nearest, chosen);
    for (place, (entry, _)) in chosen.into_iter().zip(history.top(5)) {
        let of = entry.candidate.place.unwrap();
        let closer = (0..pool.len()).filter(|&row| distance(&pool, of, row) < distance(&pool, of, place)).count();
        // Some taken rows, the query itself among them, are closer.
        assert!(closer < 30 + 12 + 10, "{closer} rows are closer to {of} than {place}");
    }
}

#[test]
fn isomorphic_rows_count_as_one() {
    let dags = ["0 2 3 1 : 0>1 0>2 1>3 2>3", "0 3 2 1 : 0>1 0>2 1>3 2>3", "0 2 1 : 0>1 1>2"];
    let listed = Listed::new(dags.iter().map(|text| text.parse().unwrap()).collect());
    let pool = Pool::new(&listed, Vectors::new(vec![3.0, 2.0, 1.0], 1)).unwrap();
    let sampled = pool.sample(3, &Taken::default(), &mut rng());
    assert_eq!(sampled.len(), 2);
    let near = Matrix::zeros(0, 1);
    let found = pool.propose(3, &Taken::default(), near.as_ref(), &mut Peak(Vec::new()), &mut rng()).unwrap();
    assert_eq!(found.iter().map(|candidate| candidate.place.unwrap()).collect::<Vec<_>>(), [0, 2]);
    let mut history = History::default();
    history.ask([pool.candidate(0, Origin::Random)]);
    assert_eq!(pool.nearest(&pool.candidate(0, Origin::Random), 1, &Taken::by(&history)).unwrap()[0].place, Some(2));
    assert_eq!(pool.admit("0 3 2 1 : 0>1 0>2 1>3 2>3".parse().unwrap()).unwrap().place, Some(0));
    assert!(pool.admit("0 5 1 : 0>1 1>2".parse().unwrap()).is_none());
}

#[test]
fn draws_are_uniform_over_the_untried() {
    let chains = chains(10, 6);
    let pool = Pool::new(&chains, Vectors::from_rows(chains.dags().iter().map(one_hot), N_DIMS)).unwrap();
    let mut history = History::default();
    history.ask((0..6).map(|place| pool.candidate(place, Origin::Random)));
    let (mut rng, mut counts) = (rng(), HashMap::new());
    for _ in 0..4000 {
        let place = pool.sample(1, &Taken::by(&history), &mut rng)[0].place.unwrap();
        *counts.entry(place).or_insert(0) += 1;
    }
    assert!((6..10).all(|place| (850..1150).contains(&counts[&place])), "{counts:?}");
    assert_eq!(counts.len(), 4);
}

#[test]
fn bad_pools_are_refused() {
    let chains = chains(3, 7);
    assert!(matches!(Pool::new(&chains, Vectors::new(vec![0.0; 4], 2)), Err(Error::TargetCount { .. })));
    let bad = Pool::new(&chains, Vectors::new(vec![0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0], 2));
    assert!(matches!(bad, Err(Error::BadVector { row: 1, column: 1, .. })));
    let pool = Pool::new(&chains, Vectors::new(vec![0.0; 6], 2)).unwrap();
    let stranger = Candidate::new(chains.dag(0), Origin::Mutation);
    assert!(pool.vectors(&[&stranger]).unwrap_err().to_string().contains("no row in this pool"));
}
