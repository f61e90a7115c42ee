//! Nothing is asked twice, failures are recorded and skipped, and the number of threads changes nothing.

use std::collections::HashSet;

use pace_search::strategy::StrategyConfig;
use pace_search::{Header, History, Journal, Outcome, run};
use proptest::prelude::{ProptestConfig, proptest};

use crate::search_sample::{Fragile, chains, strategies, with_strategy};

fn searched(config: &StrategyConfig, n_chains: usize, seed: u64, budget: usize, batch: usize) -> History {
    let chains = chains(n_chains, seed);
    let mut journal = Journal::in_memory(Header::new("test", seed, serde_json::Value::Null));
    with_strategy(config, &chains, seed, |strategy| {
        run(strategy, &Fragile, &mut journal, budget, batch, &mut |_| {}).unwrap()
    });
    journal.history().clone()
}

fn assert_once(history: &History) {
    let keys: HashSet<_> = history.entries().iter().map(|entry| entry.candidate.key()).collect();
    assert_eq!(keys.len(), history.n_asked());
    for entry in history.entries() {
        let wanted = match Fragile::kind(&entry.candidate.dag) {
            0 => Some("the score is NaN"),
            1 => Some("the score is inf"),
            2 => Some("graph 0: "),
            _ => None,
        };
        match (wanted, entry.outcome.as_ref().unwrap()) {
            (Some(wanted), Outcome::Failed(reason)) => assert!(reason.starts_with(wanted), "{reason}"),
            (None, Outcome::Score(score)) => assert!(score.is_finite()),
            (wanted, outcome) => panic!("{outcome:?} instead of {wanted:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn nothing_is_asked_twice(seed in 0_u64..1000, batch in 1_usize..8, budget in 0_usize..30) {
        for config in strategies() {
            let history = searched(&config, 300, seed, budget, batch);
            assert_eq!(history.n_asked(), budget);
            assert_once(&history);
        }
    }
}

#[test]
fn a_pool_is_asked_to_its_end_and_no_further() {
    for config in strategies() {
        if !matches!(config, StrategyConfig::Evolution(_) | StrategyConfig::Local(_)) {
            let history = searched(&config, 25, 3, 1000, 4);
            assert_eq!(history.n_asked(), 25);
            assert_once(&history);
        }
    }
}

#[test]
fn one_thread_or_four_ask_the_same() {
    for config in strategies() {
        let with_threads = |n: usize| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            threads.install(|| searched(&config, 300, 7, 16, 3))
        };
        assert_eq!(with_threads(1), with_threads(4));
    }
}

#[test]
fn a_search_in_which_everything_fails_ends() {
    struct Broken;
    impl pace_search::oracle::Oracle for Broken {
        fn evaluate(&self, _: &[pace_graph::Dag]) -> Result<Vec<f64>, pace_search::Error> {
            Ok(vec![])
        }
    }
    let chains = chains(50, 1);
    for config in strategies() {
        let trace = with_strategy(&config, &chains, 1, |strategy| {
            pace_search::run_in_memory(strategy, &Broken, 20, 3).unwrap()
        });
        assert_eq!((trace.len(), trace.best()), (20, None));
    }
}
