//! Bayesian optimisation that looks one edit around the best.

use std::collections::HashSet;

use pace_graph::enumerate::{Enas, Mutate};
use pace_graph::{Dag, GraphKey};
use pace_search::oracle::{NaSurrogate, Oracle};
use pace_search::space::{Encoded, Listed, Open, Pool, Space};
use pace_search::strategy::{
    BayesianOptimisation, BayesianOptimisationConfig, Reach, Setting, Strategy, StrategyConfig,
};
use pace_search::{Candidate, Error, History, Origin, Outcome, run_in_memory};

use crate::search_encoded::features;
use crate::search_replay::{Peak, n_edits};
use crate::search_sample::{Moves, bayes, chains, pool};

fn config(n_centres: usize, n_random: usize) -> BayesianOptimisationConfig {
    BayesianOptimisationConfig { initial: 12, reach: Reach::Edits { n_centres, n_twice: 0, n_random }, ..bayes() }
}

/// Some chains and the graphs one edit away from them, some of these twice.
fn edited(n: usize) -> Listed {
    let chains = chains(n, 3).dags().to_vec();
    let around: Vec<Dag> = chains.iter().flat_map(|dag| Moves.neighbours(dag)).collect();
    Listed::new([chains, around].concat())
}

/// The first rows as queries, answered by the NA stand-in.
fn answered(pool: &Pool<'_>, n: usize) -> History {
    let mut history = History::default();
    history.ask((0..n).map(|row| pool.candidate(row, Origin::Random)));
    for id in 0..n {
        let dag = history.entries()[id].candidate.dag.clone();
        history.tell(id, Outcome::of(NaSurrogate::embedded().evaluate(&[dag]).unwrap()[0])).unwrap();
    }
    history
}

/// The classes one edit away from the best few.
fn around(history: &History, n_centres: usize) -> HashSet<GraphKey> {
    let centres = history.top(n_centres);
    centres.iter().flat_map(|(entry, _)| Moves.neighbours(&entry.candidate.dag)).map(|dag| GraphKey::of(&dag)).collect()
}

#[test]
fn a_round_is_chosen_around_the_best_and_among_random_ones() {
    let chains = edited(12);
    let pool = pool(&chains);
    let history = answered(&pool, 12);
    let ask = |config, n| BayesianOptimisation::new(config, &pool, 1).unwrap().with_edits(&Moves).propose(&history, n);
    let near = around(&history, 2);
    let round = ask(config(2, 0), 5).unwrap();
    assert_eq!(round.len(), 5);
    assert!(round.iter().all(|candidate| near.contains(&candidate.key()) && candidate.origin == Origin::Acquisition));
    assert_eq!(round.iter().map(|candidate| candidate.key()).collect::<HashSet<_>>().len(), 5);
    assert!(round.iter().all(|candidate| !history.contains(&candidate.key())));
    // With no centre only the random ones are left, and no more is chosen than there is.
    let far = ask(config(0, 30), 40).unwrap();
    assert_eq!(far.len(), 30);
    assert!(far.iter().any(|candidate| !near.contains(&candidate.key())));
    // With nothing to choose among, a random graph is asked.
    assert_eq!(ask(config(0, 0), 3).unwrap().len(), 3);
}

#[test]
fn a_round_goes_as_many_edits_as_it_may_and_stays_in_the_space() {
    let dags = chains(13, 3).dags().to_vec();
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    // The peak is one of the chains, so that edits lead to better ones.
    let peak = Peak(dags[12].clone());
    let mut history = History::default();
    history.ask(dags[..12].iter().map(|dag| Candidate::new(dag.clone(), Origin::Random)));
    (0..12).for_each(|id| history.tell(id, Outcome::of(peak.score(&dags[id]))).unwrap());
    let centre = history.top(1)[0].0.candidate.dag.clone();
    for (n_twice, farthest) in [(0, 1), (200, 2)] {
        let reach = Reach::Edits { n_centres: 1, n_twice, n_random: 0 };
        let config = BayesianOptimisationConfig { initial: 12, reach, ..bayes() };
        let mut strategy = BayesianOptimisation::new(config, &encoded, 1).unwrap().with_edits(&Moves);
        let round = strategy.propose(&history, 30).unwrap();
        assert_eq!(round.iter().map(Candidate::key).collect::<HashSet<_>>().len(), 30);
        let distances: Vec<usize> = round.iter().map(|candidate| n_edits(&centre, &candidate.dag)).collect();
        let label = format!("{n_twice} two edits away: {distances:?}");
        assert!(round.iter().all(|candidate| open.admit(candidate.dag.clone()).is_some()), "{label}");
        assert!(round.iter().all(|candidate| !history.contains(&candidate.key())), "{label}");
        assert!(distances.iter().all(|&distance| (1..=farthest).contains(&distance)), "{label}");
        assert!(farthest == 1 || distances.iter().any(|&distance| distance > 1), "{label}");
    }
    // The same in a pool, which holds only some of these graphs.
    let listed = edited(12);
    let pool = pool(&listed);
    let history = answered(&pool, 12);
    let reach = Reach::Edits { n_centres: 2, n_twice: 50, n_random: 3 };
    let config = BayesianOptimisationConfig { reach, ..config(2, 3) };
    let round = BayesianOptimisation::new(config, &pool, 1).unwrap().with_edits(&Moves).propose(&history, 20).unwrap();
    assert_eq!(round.iter().map(Candidate::key).collect::<HashSet<_>>().len(), 20);
    assert!(round.iter().all(|candidate| candidate.place.is_some() && !history.contains(&candidate.key())));
}

#[test]
fn local_search_takes_an_edit_of_each_of_the_best() {
    let chains = edited(12);
    let pool = pool(&chains);
    let history = answered(&pool, 12);
    let config = BayesianOptimisationConfig { local_search: true, ..config(10, 50) };
    let round = BayesianOptimisation::new(config, &pool, 1).unwrap().with_edits(&Moves).propose(&history, 5).unwrap();
    assert_eq!(round.len(), 10);
    for (neighbour, (entry, _)) in round[5..].iter().zip(history.top(5)) {
        let near: HashSet<GraphKey> = Moves.neighbours(&entry.candidate.dag).iter().map(GraphKey::of).collect();
        assert!(near.contains(&neighbour.key()) && neighbour.origin == Origin::Neighbour);
    }
    assert_eq!(round.iter().map(|candidate| candidate.key()).collect::<HashSet<_>>().len(), 10);
}

#[test]
fn a_search_ends_where_the_space_ends() {
    let chains = chains(40, 3);
    let pool = pool(&chains);
    let setting = Setting { space: &pool, embedded: Some(&pool), mutate: Some(&Moves), known: None };
    let mut strategy = StrategyConfig::Bayes(Box::new(config(3, 5))).init(setting, 1).unwrap();
    assert_eq!(run_in_memory(&mut *strategy, NaSurrogate::embedded(), 60, 5).unwrap().len(), 40);
}

#[test]
fn without_edits_it_says_so() {
    let chains = chains(40, 3);
    let pool = pool(&chains);
    let setting = Setting { space: &pool, embedded: Some(&pool), mutate: None, known: None };
    let refused = StrategyConfig::Bayes(Box::new(config(3, 5))).init(setting, 1);
    assert!(matches!(refused.err(), Some(Error::Unequipped { .. })));
    let round = BayesianOptimisation::new(config(3, 5), &pool, 1).unwrap().propose(&answered(&pool, 12), 5);
    assert!(matches!(round, Err(Error::Unequipped { .. })));
}
