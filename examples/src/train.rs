//! Training one encoder inside a run, with a progress bar.

use anyhow::Result;
use burn::tensor::Device;
use pace_model::objective::Objective;
use pace_train::Source;
use pace_train::record::{Run, Trained, Training};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::progress::fit_bar;

/// Trains `model`, or resumes from its checkpoint. `device` is the autodiff device of the model.
///
/// # Errors
/// Those of the training, or a file that cannot be written.
pub fn train<C, M, S>(
    training: &Training<'_, C>,
    model: M,
    source: &S,
    device: Device,
    run: &mut Run,
) -> Result<Trained<M>>
where
    C: Serialize + DeserializeOwned,
    S: Source,
    M: Objective<S::Batch> + Sync,
{
    let name = training.name("encoder");
    let (bar, mut draw) = fit_bar(&format!("train {name}"));
    let trained = training.run(model, source, device, run, |event, _| draw(event));
    bar.finish_and_clear();
    let trained = trained?;
    if let Some(last) = trained.epochs.last() {
        println!("{name}: {} epochs, loss {:.4}", trained.epochs.len(), last.loss);
    }
    Ok(trained)
}
