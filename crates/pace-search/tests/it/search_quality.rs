//! Searching pays: evolution, local search and Bayesian optimisation against random draws, on the NA stand-in.

use pace_search::oracle::NaSurrogate;
use pace_search::strategy::{BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, StrategyConfig};
use pace_search::{Band, Trace, run_in_memory};

use crate::search_sample::{bayes, chains, with_strategy};

const N_SEEDS: u64 = 10;

fn band(config: &StrategyConfig, budget: usize, batch: usize) -> Band {
    let chains = chains(3000, 11);
    let curve = |seed| {
        let trace: Trace = with_strategy(config, &chains, seed, |strategy| {
            run_in_memory(strategy, NaSurrogate::embedded(), budget, batch).unwrap()
        });
        assert_eq!(trace.len(), budget);
        trace.best_so_far()
    };
    Band::of(&(0..N_SEEDS).map(curve).collect::<Vec<_>>())
}

#[test]
fn evolution_and_climbing_beat_random_draws() {
    let evolution = StrategyConfig::Evolution(EvolutionConfig { population: 20, tournament: 8 });
    let random = band(&StrategyConfig::Random, 120, 1);
    for config in [evolution, StrategyConfig::Local(LocalSearchConfig::default())] {
        let found = band(&config, 120, 1);
        println!("{}: {:.4} against {:.4} at random", config.name(), found.mean[119], random.mean[119]);
        assert!(found.low[119] > random.high[119], "{config:?}: {found:?} against {random:?}");
    }
}

#[test]
fn bayesian_optimisation_beats_random_draws() {
    let random = band(&StrategyConfig::Random, 60, 5);
    for local_search in [false, true] {
        let config = BayesianOptimisationConfig { initial: 16, local_search, ..bayes() };
        let found = band(&StrategyConfig::Bayes(Box::new(config)), 60, 5);
        println!("local search {local_search}: {:.4} against {:.4} at random", found.mean[59], random.mean[59]);
        assert!(found.low[59] > random.high[59], "{found:?} against {random:?}");
    }
}
