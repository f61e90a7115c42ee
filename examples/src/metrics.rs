//! Numbers that every experiment has.

use pace_train::record::MetricSpec;

/// Training speed.
pub const TRAIN_SPEED: MetricSpec =
    MetricSpec::new("train_graphs_per_s", "training").unit("graphs/s").decimals(0).higher();
/// Encoding speed.
pub const ENCODE_SPEED: MetricSpec =
    MetricSpec::new("encode_graphs_per_s", "encoding").unit("graphs/s").decimals(0).higher();

/// The size of a model.
pub const PARAMETERS: MetricSpec = MetricSpec::new("parameters", "parameters of the encoder").decimals(0);
/// How long it was trained.
pub const GRAPHS_SEEN: MetricSpec = MetricSpec::new("graphs_seen", "graphs seen in training").decimals(0);
/// What the training of one encoder took of the processor: the wall clock of a shared machine says nothing.
pub const TRAIN_SECONDS: MetricSpec =
    MetricSpec::new("train_cpu_seconds", "training, CPU").unit("s").decimals(0).lower();

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
