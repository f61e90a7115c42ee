//! The loop: it learns, the same seed gives the same bits, and what cannot work is refused.

use pace_graph::dataset::Ast;
use pace_graph::enumerate::{RandomAst, Sampler};
use pace_graph::structure::depths;
use pace_model::ast::AstTable;
use pace_model::encoder::AstPaceConfig;
use pace_model::store::to_safetensors;
use pace_train::{Error, Event, FitConfig, OptimiserConfig, Reduction, Schedule, Source, fit, fit_watched};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::setting::{device, short, table, vae};

#[test]
fn it_learns_and_says_so() {
    let device = device().autodiff();
    let (mut steps, mut graphs, mut epochs, mut start) = (0, 0, Vec::new(), None);
    let fitted = fit(vae(&device), &table(100), &short(), &[device], None, |event| match event {
        Event::Start { step, n_steps, graphs_per_step } => start = Some((step, n_steps, graphs_per_step)),
        Event::Steps { step, graphs: some, .. } => {
            steps = step;
            graphs += some;
        }
        Event::Epoch { epoch, outcome, .. } => epochs.push((epoch, outcome.loss)),
        _ => {}
    });
    let fitted = fitted.unwrap();
    assert_eq!((start, steps, graphs, fitted.graphs), (Some((0, 20, 20)), 20, 400, 400));
    assert_eq!(epochs.iter().map(|epoch| epoch.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(epochs[3].1 < 0.9 * epochs[0].1, "{epochs:?}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    let run = |seed| {
        let device = device().autodiff();
        let config = FitConfig { seed, ..short() };
        to_safetensors(&fit(vae(&device), &table(100), &config, &[device], None, |_| {}).unwrap().model)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn shards_add_up() {
    let device = device().autodiff();
    let devices = [device.clone(), device.clone(), device.clone()];
    // Dropout and noise differ between one shard and three, so the losses only come close.
    let run = |devices: &[_]| fit(vae(&device), &table(100), &short(), devices, None, |_| {}).unwrap();
    let (one, three, again) = (run(&devices[..1]), run(&devices), run(&devices));
    let last = |epochs: &[pace_train::Epoch]| epochs[3].loss;
    assert!((last(&one.epochs) / last(&three.epochs) - 1.0).abs() < 0.1, "{:?} {:?}", one.epochs, three.epochs);
    assert_eq!(to_safetensors(&three.model), to_safetensors(&again.model));
}

#[test]
fn decay_clipping_warm_up_and_means_train_too() {
    let device = device().autodiff();
    let config = FitConfig {
        optimiser: OptimiserConfig::adamw(2e-3),
        schedule: Schedule::WarmupLinear { warmup: 2 },
        clip: Some(1.0),
        reduction: Reduction::Mean,
        ..short()
    };
    let fitted = fit(vae(&device), &table(100), &config, &[device], None, |_| {}).unwrap();
    assert!(fitted.epochs[3].loss < 0.9 * fitted.epochs[0].loss, "{:?}", fitted.epochs);
    assert!(fitted.epochs[3].lr < fitted.epochs[1].lr);
}

#[test]
fn it_stops_when_nothing_improves() {
    let device = device().autodiff();
    // Too small to change a 32-bit weight of ordinary size: only the noise moves the loss.
    let optimiser = OptimiserConfig::adam(1e-12);
    let config = FitConfig { epochs: 50, early_stop: Some(2), optimiser, ..short() };
    let fitted = fit(vae(&device), &table(40), &config, &[device], None, |_| {}).unwrap();
    assert!(fitted.epochs.len() < 50);
}

#[test]
fn a_diverging_run_says_where() {
    let device = device().autodiff();
    let config = FitConfig { optimiser: OptimiserConfig::adam(1e30), ..short() };
    let error = fit(vae(&device), &table(100), &config, &[device], None, |_| {}).unwrap_err();
    let Error::Diverged { epoch, step, lr, .. } = error else { panic!("{error}") };
    assert!(epoch >= 1 && step >= 2 && lr == 1e30);
}

#[test]
fn what_cannot_work_is_refused() {
    let device = device().autodiff();
    let run = |config: FitConfig, n: usize, n_devices: usize| {
        fit(vae(&device), &table(n), &config, &vec![device.clone(); n_devices], None, |_| {}).map(drop).unwrap_err()
    };
    assert!(matches!(run(short(), 0, 1), Error::EmptyDataset));
    assert!(run(FitConfig { batch_size: 0, ..short() }, 10, 1).to_string().contains("batch size"));
    assert!(run(FitConfig { optimiser: OptimiserConfig::adam(-1.0), ..short() }, 10, 1).to_string().contains("rate"));
    assert!(run(short(), 10, 0).to_string().contains("devices"));
}

/// 100 graphs in batches of 20 are 5 steps per epoch; 7 steps end in the second.
#[test]
fn a_budget_of_steps_ends_inside_an_epoch() {
    let device = device().autodiff();
    let config = FitConfig { max_steps: Some(7), ..short() };
    let (mut seconds, mut steps) = (0.0, Vec::new());
    let start = std::time::Instant::now();
    let fitted = fit_watched(vae(&device), &table(100), &config, &[device], None, |event, model| {
        if let Event::Steps { step, seconds: some, .. } = event {
            // Looking takes time that is no training.
            std::thread::sleep(std::time::Duration::from_millis(300));
            assert!(!to_safetensors(model).is_empty());
            steps.push(step);
            seconds = some;
        }
    })
    .unwrap();
    assert_eq!((steps, fitted.graphs, fitted.epochs.len()), (vec![5, 7], 140, 2));
    assert!(fitted.seconds >= seconds && fitted.seconds < start.elapsed().as_secs_f64() - 0.55);
}

/// As many batches as ever, none empty, all of about equally many nodes, and every tree in one of them.
#[test]
fn batches_of_trees_have_equally_many_nodes() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut table = AstTable::empty(AstPaceConfig::code2().layout(5, 5));
    // One tree is larger than several batches.
    for tree in 0..203 {
        let n_nodes = if tree == 50 { 5000 } else { rng.random_range(1..200) };
        let dag = RandomAst { n_nodes, n_types: 5, max_depth: 12 }.sample(&mut rng);
        let depths = depths(&dag).into_iter().map(|depth| depth as u32).collect();
        let (attributes, is_attributed) = (vec![0; n_nodes], vec![false; n_nodes]);
        let dfs_order = (0..n_nodes as u32).collect();
        table.push(&Ast { dag, attributes, is_attributed, dfs_order, depths, label: Vec::new() }).unwrap();
    }
    let order: Vec<usize> = (0..203).rev().collect();
    let batches = table.cut(&order, 10);
    assert_eq!((batches.len(), batches.concat()), (21, order.clone()));
    let n_nodes = |batch: &[usize]| batch.iter().map(|&tree| table.n_nodes(tree)).sum::<usize>();
    let mean = n_nodes(&order) / 21;
    for batch in batches {
        assert!(!batch.is_empty());
        let is_even = n_nodes(batch) < mean + 200 || batch.len() == 1;
        assert!(is_even || batch.contains(&50), "{} nodes, {mean} on average", n_nodes(batch));
    }
    assert_eq!(table.cut(&order[..3], 1), [[202], [201], [200]]);
}
