//! Reconstruction and generation, on a model that was overfitted to a handful of graphs.

use burn::module::Module;
use pace_graph::{DagSpec, Vectors};
use pace_model::decoder::{DecodeOptions, Mode};
use pace_train::embed::embed_all;
use pace_train::evaluate::{Known, decode, generation, reconstruction, sample_prior};
use pace_train::{FitConfig, OptimiserConfig, Schedule, fit};

use crate::setting::{dags, device, table, vae};

#[test]
fn an_overfitted_model_reconstructs_and_invents_nothing_at_its_graphs() {
    let (device, table, dags) = (device(), table(16), dags(16));
    let config = FitConfig {
        epochs: 400,
        batch_size: 16,
        optimiser: OptimiserConfig::adam(3e-3),
        schedule: Schedule::WarmupCosine { warmup: 10 },
        ..FitConfig::vae()
    };
    let autodiff = device.clone().autodiff();
    let model = fit(vae(&autodiff), &table, &config, &[autodiff], None, |_| {}).unwrap().model.valid();
    let latents = embed_all(&table, 16, &device, |batch| model.embed(batch));
    let options = DecodeOptions::sample(Mode::Constrained, 1);
    let found = reconstruction(&model, &latents, &dags, 20, &options, &device, |_| {});
    assert!(found.isomorphic > 0.9 && found.greedy == 1.0, "{found:?}");
    // The order of an architecture is unique, so both rules agree.
    assert_eq!(found.isomorphic, found.indexed);

    let known = Known::new(&dags);
    let spec = DagSpec::na();
    let at_its_graphs = generation(&model, &latents, 10, &options, (&spec, &known), &device, |_| {});
    assert_eq!(at_its_graphs.valid, 1.0);
    assert!(at_its_graphs.novel < 0.05 && at_its_graphs.unique < 0.2, "{at_its_graphs:?}");
    let prior = sample_prior(&latents, 50, 1);
    let from_prior = generation(&model, &prior, 4, &options, (&spec, &known), &device, |_| {});
    assert_eq!(from_prior.valid, 1.0);
    assert!(from_prior.unique > at_its_graphs.unique, "{from_prior:?}");
}

#[test]
fn batches_do_not_change_what_is_decoded() {
    let device = device();
    let model = vae(&device);
    let latents = Vectors::new(vec![0.5; 2000 * 64], 64);
    let options = DecodeOptions::sample(Mode::Free, 3);
    let mut heard = Vec::new();
    let all = decode(&model, &latents, &options, &device, |done| heard.push(done));
    assert_eq!((all.len(), heard), (2000, vec![1024, 2000]));
    let head = decode(&model, &latents.head(10), &options, &device, |_| {});
    assert_eq!(head, all[..10]);
    assert!(all.iter().any(|dag| dag != &all[0]), "graphs have draws of their own");
}

#[test]
fn the_prior_has_the_moments_of_the_latents() {
    let latents = Vectors::new((0..300).flat_map(|row| [row as f32, 5.0, (row % 7) as f32]).collect(), 3);
    let prior = sample_prior(&latents, 20_000, 1);
    assert_eq!((prior.len(), prior.width()), (20_000, 3));
    let mean = |column: usize| (0..prior.len()).map(|row| f64::from(prior.row(row)[column])).sum::<f64>() / 20_000.0;
    assert!((mean(0) - 149.5).abs() < 3.0 && (mean(2) - 3.0).abs() < 0.1);
    assert!((0..prior.len()).all(|row| prior.row(row)[1] == 5.0), "a constant stays one");
}
