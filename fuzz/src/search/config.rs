//! The configurations of a search as JSON.

use pace_search::acquisition::{AcquisitionConfig, ExpectedImprovement, LogExpectedImprovement};
use pace_search::oracle::{NaSurrogateConfig, Nas101Protocol, Nas101SurrogateConfig, Nas301SurrogateConfig};
use pace_search::space::LatentConfig;
use pace_search::strategy::{BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, StrategyConfig};
use pace_search::surrogate::{DngoConfig, PublishedGpConfig, SparseGpConfig, SurrogateConfig};
use pace_search::{Header, Origin};
use serde_json::json;

use crate::law;

/// One of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let surrogates = [
        SurrogateConfig::SparseGp(SparseGpConfig::default()),
        SurrogateConfig::PublishedGp(PublishedGpConfig::default()),
        SurrogateConfig::Dngo(DngoConfig::default()),
    ];
    let acquisition = AcquisitionConfig::ExpectedImprovement(ExpectedImprovement { xi: 0.01 });
    let log = AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 });
    let bayes = surrogates.iter().map(|surrogate| {
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig::new(surrogate.clone(), acquisition)))
    });
    let mut seeds: Vec<serde_json::Value> = surrogates.iter().map(|surrogate| json!(surrogate)).collect();
    seeds.extend(bayes.map(|strategy| json!(strategy)));
    seeds.extend([json!(acquisition), json!(log), json!(AcquisitionConfig::IndependentThompson)]);
    seeds.extend([
        json!(StrategyConfig::Random),
        json!(StrategyConfig::Evolution(EvolutionConfig::default())),
        json!(StrategyConfig::Local(LocalSearchConfig::default())),
        json!(LatentConfig::default()),
        json!(NaSurrogateConfig::default()),
        json!(Nas101SurrogateConfig::default()),
        json!(Nas301SurrogateConfig::default()),
        json!(Nas101Protocol::Official),
        json!(Origin::Random),
        json!(Header::new("evolution", 7, json!({"population": 50}))),
    ]);
    seeds.into_iter().map(|seed| seed.to_string().into_bytes()).collect()
}

/// Reads the input as each of them.
pub fn read(input: &[u8]) {
    law::json::<SurrogateConfig>(input);
    if let Some(acquisition) = law::json::<AcquisitionConfig>(input) {
        acquisition.build(0);
    }
    if let Some(strategy) = law::json::<StrategyConfig>(input) {
        assert!(!strategy.name().is_empty());
    }
    law::json::<LatentConfig>(input);
    law::json::<NaSurrogateConfig>(input);
    law::json::<Nas101SurrogateConfig>(input);
    law::json::<Nas301SurrogateConfig>(input);
    law::json::<Nas101Protocol>(input);
    law::json::<Origin>(input);
    law::json::<Header>(input);
}
