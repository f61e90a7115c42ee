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

fn assert_better(name: &str, found: &Band, random: &Band) {
    let last = random.mean.len() - 1;
    let line = format!(
        "{name}: {:.4} from {:.4}, at random {:.4} to {:.4}",
        found.mean[last], found.low[last], random.mean[last], random.high[last]
    );
    println!("{line}");
    assert!(found.mean[last] > random.high[last] && found.low[last] > random.mean[last], "{line}");
}

#[test]
fn evolution_and_climbing_beat_random_draws() {
    let random = band(&StrategyConfig::Random, 200, 1);
    let evolution = StrategyConfig::Evolution(EvolutionConfig { population: 20, tournament: 8 });
    for config in [evolution, StrategyConfig::Local(LocalSearchConfig::default())] {
        assert_better(config.name(), &band(&config, 200, 1), &random);
    }
}

#[test]
fn bayesian_optimisation_beats_random_draws() {
    let random = band(&StrategyConfig::Random, 60, 5);
    for local_search in [false, true] {
        let config = BayesianOptimisationConfig { initial: 16, local_search, ..bayes() };
        let found = band(&StrategyConfig::Bayes(Box::new(config)), 60, 5);
        assert_better(&format!("bayes, local search {local_search}"), &found, &random);
    }
}
