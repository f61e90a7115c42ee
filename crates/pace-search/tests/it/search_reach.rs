//! Bayesian optimisation that looks one edit around the best.

use std::collections::HashSet;

use pace_graph::enumerate::Mutate;
use pace_graph::{Dag, GraphKey};
use pace_search::oracle::{NaSurrogate, Oracle};
use pace_search::space::{Listed, Pool};
use pace_search::strategy::{
    BayesianOptimisation, BayesianOptimisationConfig, Reach, Setting, Strategy, StrategyConfig,
};
use pace_search::{Error, History, Origin, Outcome, run_in_memory};

use crate::search_sample::{Moves, bayes, chains, pool};

fn config(n_centres: usize, n_random: usize) -> BayesianOptimisationConfig {
    BayesianOptimisationConfig {
        initial: 12,
        reach: Reach::Edits { n_centres, n_twice: 0, n_steps: 0, n_random },
        ..bayes()
    }
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
