//! Hyperparameters that are kept for some rounds: a new process learns the same ones again.

use pace_graph::enumerate::Enas;
use pace_search::Known;
use pace_search::space::{Encoded, Open};
use pace_search::strategy::{BayesianOptimisationConfig, Reach, Setting, Strategy, StrategyConfig, Warp};
use pace_search::surrogate::{AdditiveGpConfig, SurrogateConfig};

use crate::search_encoded::features;
use crate::search_replay::{Peak, assert_replays, rounds, searched};
use crate::search_sample::{Fragile, Moves, bayes, chains};

fn config(surrogate: SurrogateConfig, warp: Warp) -> BayesianOptimisationConfig {
    let reach = Reach::Edits { n_centres: 2, n_twice: 10, n_random: 10 };
    BayesianOptimisationConfig { initial: 6, surrogate, warp, relearn: 0.4, reach, ..bayes() }
}

fn additive() -> SurrogateConfig {
    SurrogateConfig::AdditiveGp(AdditiveGpConfig { max_iterations: 8, ..AdditiveGpConfig::new(17) })
}

fn with_strategy<T>(
    config: &BayesianOptimisationConfig,
    known: Option<&Known>,
    act: impl FnOnce(&mut dyn Strategy) -> T,
) -> T {
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    let setting = Setting { space: &encoded, embedded: Some(&encoded), mutate: Some(&Moves), known };
    act(&mut *StrategyConfig::Bayes(Box::new(config.clone())).init(setting, 11).unwrap())
}

#[test]
fn a_search_resumed_between_two_fits_asks_what_an_undisturbed_one_asks() {
    // Ranks of the first scores change with every later one; sparse GPs cannot be refitted.
    let cases = [(additive(), Warp::Standardise), (additive(), Warp::Ranks), (bayes().surrogate, Warp::Standardise)];
    for (surrogate, warp) in cases {
        let config = config(surrogate, warp);
        let whole = with_strategy(&config, None, |strategy| searched(strategy, &Fragile, 42, 3));
        assert_eq!(rounds(&whole).len(), 13, "one round of 6 and 12 of 3");
        assert_replays(&whole, |before| with_strategy(&config, None, |strategy| strategy.propose(before, 3).unwrap()));
    }
}

#[test]
fn so_does_one_that_starts_from_known_scores() {
    let dags = chains(60, 12).dags().to_vec();
    let peak = Peak(dags[0].clone());
    let known = peak.known(dags[1..].iter().cloned());
    let config = BayesianOptimisationConfig { initial: 0, relearn: 0.1, ..config(additive(), Warp::Ranks) };
    let whole = with_strategy(&config, Some(&known), |strategy| searched(strategy, &peak, 24, 2));
    assert_replays(&whole, |before| {
        with_strategy(&config, Some(&known), |strategy| strategy.propose(before, 2).unwrap())
    });
}
