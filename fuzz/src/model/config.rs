//! Configurations and results of models and runs as JSON.

use pace_model::Layout;
use pace_model::encoder::{EncoderConfig, PaceConfig, Purpose};
use pace_model::objective::{MlmConfig, VaeConfig};
use pace_model::store::Saved;
use pace_train::record::{Metric, RunId};
use pace_train::{Epoch, FitConfig, OptimiserConfig, Schedule, ScheduleState};
use serde_json::json;

use super::{spec, tiny};
use crate::law;

/// One of each.
pub fn seeds() -> Vec<Vec<u8>> {
    let encoders = EncoderConfig::NAMES.iter().filter_map(|name| EncoderConfig::named(name, Purpose::Mlm));
    let mut seeds: Vec<serde_json::Value> = encoders.map(|encoder| json!(encoder)).collect();
    seeds.extend([
        json!(Saved::new("pace-vae", tiny(), spec())),
        json!(Saved::new("pace-vae", tiny().any(), spec())),
        json!(Saved::new("pace", PaceConfig::mlm(), spec())),
        json!(MlmConfig::paper()),
        json!(tiny().layout(&spec())),
        json!(FitConfig::vae()),
        json!(FitConfig::mlm()),
        json!(OptimiserConfig::adamw(1e-3)),
        json!(Schedule::WarmupLinear { warmup: 100 }),
        json!(Metric::over(&[0.5, 0.25])),
        json!({"dataset": "na", "encoder": "pace", "seed": 1, "threads": 2, "config": {"epochs": 3}, "commit": null}),
    ]);
    seeds.into_iter().map(|seed| seed.to_string().into_bytes()).collect()
}

/// Reads the input as each of them.
pub fn read(input: &[u8]) {
    law::json::<EncoderConfig>(input);
    law::json::<VaeConfig>(input);
    law::json::<MlmConfig>(input);
    law::json::<Layout>(input);
    law::json::<FitConfig>(input);
    law::json::<OptimiserConfig>(input);
    law::json::<Schedule>(input);
    law::json::<ScheduleState>(input);
    law::json::<Epoch>(input);
    law::json::<Metric>(input);
    law::json::<RunId>(input);
    if let Ok(text) = std::str::from_utf8(input)
        && let Ok(saved) = Saved::<VaeConfig>::from_json("pace-vae", text)
        && let Ok(again) = Saved::<VaeConfig>::from_json("pace-vae", &saved.to_json())
    {
        assert_eq!(again, saved);
    }
}
