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

/// A kill at any moment of a save leaves some of its files; those of the checkpoint before are still all there.
#[test]
fn whatever_of_a_save_is_on_the_disk_there_is_a_whole_checkpoint() {
    let (dir, other) = (tempdir().unwrap(), tempdir().unwrap());
    let (path, config) = (dir.path().join("checkpoint"), config());
    let undisturbed = run(None, &config, None).unwrap();
    let checkpoint = Checkpoint::new(&path, "a model").every(Duration::ZERO);
    let files = |kill_at| {
        let killed = catch_unwind(AssertUnwindSafe(|| run(Some(&checkpoint), &config, Some(kill_at))));
        assert!(killed.is_err());
        let entries = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap());
        let files = entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap()));
        files.filter(|(name, _)| name != "lock").collect::<Vec<_>>()
    };
    let (before, after) = (files(40), files(60));
    // In the order in which a save writes: weights, moments, the checkpoint before, the state.
    let order = ["weights-", "optimiser-", "previous.json", "state.json"];
    let rank = |name: &std::ffi::OsStr| order.iter().position(|start| name.to_string_lossy().starts_with(start));
    for n_written in 0..order.len() {
        let path = other.path().join(format!("{n_written}"));
        std::fs::create_dir(&path).unwrap();
        for (name, bytes) in &before {
            std::fs::write(path.join(name), bytes).unwrap();
        }
        for (name, bytes) in after.iter().filter(|(name, _)| rank(name).unwrap() < n_written) {
            std::fs::write(path.join(name), bytes).unwrap();
        }
        let (resumed, first) = run_from(Some(&Checkpoint::new(&path, "a model")), &config, None).unwrap();
        assert!(first >= 34, "resumed at step {first}");
        assert_eq!(to_safetensors(&resumed.model), to_safetensors(&undisturbed.model), "{n_written} files written");
    }
}

#[test]
fn two_processes_cannot_train_in_one_folder() {
    let dir = tempdir().unwrap();
    let checkpoint = Checkpoint::new(dir.path().join("checkpoint"), "a model").every(Duration::ZERO);
    let (device, mut refused) = (device().autodiff(), 0);
    fit(vae(&device), &table(100), &config(), std::slice::from_ref(&device), Some(&checkpoint), |event| {
        if let Event::Start { .. } = event {
            let error = run(Some(&checkpoint), &config(), None).unwrap_err();
            assert!(error.to_string().contains(&format!("in use by process {}", std::process::id())), "{error}");
            refused += 1;
        }
    })
    .unwrap();
    assert_eq!(refused, 1);
    assert!(run(Some(&checkpoint), &config(), None).is_ok(), "it is free again");
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

/// The file of the last checkpoint whose name starts so.
fn named(dir: &std::path::Path, name: &str) -> std::path::PathBuf {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let matching = entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(name));
    // The largest step is the last.
    let step = |path: &std::path::PathBuf| -> usize {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    };
    matching.max_by_key(step).unwrap()
}

/// Cuts off one file of the last checkpoint.
fn cut(dir: &std::path::Path, name: &str) {
    let path = named(dir, name);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn the_checkpoint_before_serves_if_the_last_is_damaged() {
    let undisturbed = run(None, &config(), None).unwrap();
    for name in ["state.json", "weights-", "optimiser-"] {
        let dir = tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        let checkpoint = Checkpoint::new(&path, "a model").every(Duration::ZERO);
        let killed = catch_unwind(AssertUnwindSafe(|| run(Some(&checkpoint), &config(), Some(60))));
        assert!(killed.is_err());
        cut(&path, name);
        let (device, mut said, mut first) = (device().autodiff(), String::new(), 0);
        let resumed = fit(vae(&device), &table(100), &config(), &[device], Some(&checkpoint), |event| match event {
            Event::FellBack { damage } => said = damage.to_string(),
            Event::Start { step, .. } => first = step,
            _ => {}
        });
        let resumed = resumed.unwrap();
        assert!(said.contains(name) && first > 0, "{said}, step {first}");
        assert_eq!(to_safetensors(&resumed.model), to_safetensors(&undisturbed.model), "{name}");
    }
}

#[test]
fn a_damaged_checkpoint_without_one_before_is_named() {
    for name in ["state.json", "weights-", "optimiser-"] {
        let dir = tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        let checkpoint = Checkpoint::new(&path, "a model");
        run(Some(&checkpoint), &config(), None).unwrap();
        cut(&path, name);
        let error = run(Some(&checkpoint), &config(), None).unwrap_err();
        assert!(matches!(&error, Error::DamagedCheckpoint { .. }), "{name}: {error}");
        let text = error.to_string();
        assert!(text.contains(name) && text.contains(&format!("delete {}", path.display())), "{text}");
    }
}

/// Found by fuzzing: Burn's reader of moments panicked, or took a changed number for the right one.
#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    let checkpoint = Checkpoint::new(&path, "a model");
    run(Some(&checkpoint), &config(), None).unwrap();
    for name in ["weights-", "optimiser-"] {
        let file = named(&path, name);
        let whole = std::fs::read(&file).unwrap();
        for place in (0..whole.len()).step_by(whole.len() / 7) {
            let mut changed = whole.clone();
            changed[place] ^= 0x10;
            std::fs::write(&file, &changed).unwrap();
            let error = run(Some(&checkpoint), &config(), None).unwrap_err();
            assert!(matches!(&error, Error::DamagedCheckpoint { .. }), "{name} at {place}: {error}");
        }
        std::fs::write(&file, &whole).unwrap();
    }
    run(Some(&checkpoint), &config(), None).unwrap();
}
