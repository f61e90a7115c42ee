//! A run that was killed ends with the same bits as one that was not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pace_model::store::to_safetensors;
use pace_train::{Checkpoint, Error, Event, FitConfig, Fitted, OptimiserConfig, Schedule, fit};
use tempfile::tempdir;

use crate::setting::{device, short, table, vae};

type Model = pace_model::objective::Vae<pace_model::encoder::Pace, pace_model::decoder::PaceDecoder>;

/// Batches of 3: several reads of the loss, so several checkpoints, within an epoch.
fn config() -> FitConfig {
    FitConfig { batch_size: 3, epochs: 3, schedule: Schedule::Plateau { factor: 0.5, patience: 0 }, ..short() }
}

fn run(checkpoint: Option<&Checkpoint>, config: &FitConfig, kill_at: Option<usize>) -> Result<Fitted<Model>, Error> {
    run_from(checkpoint, config, kill_at).map(|(fitted, _)| fitted)
}

/// Also says how many steps were done already.
fn run_from(
    checkpoint: Option<&Checkpoint>,
    config: &FitConfig,
    kill_at: Option<usize>,
) -> Result<(Fitted<Model>, usize), Error> {
    let (device, mut first) = (device().autodiff(), 0);
    let fitted = fit(vae(&device), &table(100), config, &[device], checkpoint, |event| match event {
        Event::Start { step, .. } => first = step,
        Event::Saved { step } => assert!(kill_at.is_none_or(|kill_at| step < kill_at), "killed"),
        _ => {}
    })?;
    Ok((fitted, first))
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    // In the first epoch, at its end, in the last, and after the end.
    for kill_at in [16, 34, 70, 102] {
        let schedules = [Schedule::Plateau { factor: 0.5, patience: 0 }, Schedule::WarmupCosine { warmup: 5 }];
        for schedule in schedules {
            goes_on_to_the_same_bits(&FitConfig { schedule, ..config() }, kill_at);
        }
    }
}

/// Biases are not decayed, before and after.
#[test]
fn weight_decay_goes_on_too() {
    let optimiser = OptimiserConfig { weight_decay: Some(0.5), ..config().optimiser };
    goes_on_to_the_same_bits(&FitConfig { optimiser, ..config() }, 34);
}

fn goes_on_to_the_same_bits(config: &FitConfig, kill_at: usize) {
    let undisturbed = run(None, config, None).unwrap();
    let dir = tempdir().unwrap();
    let checkpoint = Checkpoint::new(dir.path().join("checkpoint"), "a model").every(Duration::ZERO);
    let killed = catch_unwind(AssertUnwindSafe(|| run(Some(&checkpoint), config, Some(kill_at))));
    assert!(killed.is_err(), "it was to be killed at {kill_at}");
    let (resumed, first) = run_from(Some(&checkpoint), config, None).unwrap();
    assert!(first > 0, "nothing was gone on with");
    assert_eq!(resumed.graphs, undisturbed.graphs, "those of the killed process count");
    assert!(resumed.seconds > 0.0);
    assert_eq!(resumed.epochs, undisturbed.epochs, "killed at {kill_at}");
    assert_eq!(to_safetensors(&resumed.model), to_safetensors(&undisturbed.model), "killed at {kill_at}");
}

#[test]
fn between_two_renames_the_old_checkpoint_serves() {
    let dir = tempdir().unwrap();
    let checkpoint = Checkpoint::new(dir.path().join("checkpoint"), "a model");
    let done = run(Some(&checkpoint), &config(), None).unwrap();
    std::fs::rename(dir.path().join("checkpoint"), dir.path().join("checkpoint.old")).unwrap();
    let (resumed, first) = run_from(Some(&checkpoint), &config(), None).unwrap();
    assert_eq!((first, resumed.graphs, resumed.epochs), (102, done.graphs, done.epochs));
    // The clock of the first process is kept.
    assert!(resumed.seconds >= done.seconds);
}

#[test]
fn a_checkpoint_of_another_run_is_refused_and_left_alone() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    run(Some(&Checkpoint::new(&path, "a model")), &config(), None).unwrap();
    let other = run(Some(&Checkpoint::new(&path, "another")), &config(), None).unwrap_err();
    assert!(other.to_string().contains("another"), "{other}");
    let longer = FitConfig { epochs: 9, ..config() };
    let other = run(Some(&Checkpoint::new(&path, "a model")), &longer, None).unwrap_err();
    assert!(other.to_string().contains("\"epochs\": 3"), "{other}");
    assert!(path.join("state.json").exists());
}

#[test]
fn a_damaged_checkpoint_is_named() {
    for (file, cut) in [("state.json", 10), ("weights.safetensors", 1000), ("optimiser.bpk", 1000)] {
        let dir = tempdir().unwrap();
        let checkpoint = Checkpoint::new(dir.path().join("checkpoint"), "a model");
        run(Some(&checkpoint), &config(), None).unwrap();
        let path = dir.path().join("checkpoint").join(file);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len().min(cut)]).unwrap();
        let error = run(Some(&checkpoint), &config(), None).unwrap_err();
        assert!(matches!(&error, Error::DamagedCheckpoint { .. }), "{file}: {error}");
    }
}
