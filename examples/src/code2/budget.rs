//! How many steps fit a time.

use std::time::Instant;

use anyhow::Result;
use burn::tensor::Device;
use pace_model::ast::AstTable;
use pace_train::{FitConfig, fit};

use super::plan::Model;

/// Steps that are timed; those before the first measured warm the caches.
const WARM_UP: usize = 3;
const TIMED: usize = 12;

/// Steps that take about `minutes`, by the speed of a few that are thrown away.
///
/// # Errors
/// Those of the training.
pub fn steps(
    minutes: f64,
    config: &FitConfig,
    table: &AstTable,
    model: impl Fn() -> Model,
    device: &Device,
) -> Result<usize> {
    let seconds = |n_steps: usize| {
        let config = FitConfig { max_steps: Some(n_steps), epochs: n_steps, ..config.clone() };
        let start = Instant::now();
        fit(model(), table, &config, std::slice::from_ref(device), None, |_| {})?;
        anyhow::Ok(start.elapsed().as_secs_f64())
    };
    // What a fit costs besides its steps is in both.
    let (short, long) = (seconds(WARM_UP)?, seconds(WARM_UP + TIMED)?);
    let per_step = ((long - short) / TIMED as f64).max(1e-4);
    Ok(((60.0 * minutes / per_step) as usize).max(1))
}
