//! Numbers that every experiment has.

use pace_train::record::MetricSpec;

/// Training speed.
pub const TRAIN_SPEED: MetricSpec =
    MetricSpec::new("train_graphs_per_s", "training").unit("graphs/s").decimals(0).higher();
/// Encoding speed.
pub const ENCODE_SPEED: MetricSpec =
    MetricSpec::new("encode_graphs_per_s", "encoding").unit("graphs/s").decimals(0).higher();

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
