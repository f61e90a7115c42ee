//! Several processes train to the same bits as one. Here they are threads; `cargo xtask ci mpi` runs the same in an MPI world.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use pace_model::store::to_safetensors;
use pace_train::collective::{Alone, Collective, sum};
use pace_train::{Checkpoint, Error, Event, FitConfig, Reduction, Schedule, fit, fit_collective};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use tempfile::tempdir;

use crate::setting::{device, short, table, vae};

/// A rank that is a thread.
#[derive(Debug)]
struct Thread {
    rank: usize,
    /// To and from every rank.
    out: Vec<Sender<Vec<f32>>>,
    into: Vec<Receiver<Vec<f32>>>,
    shared: Arc<Mutex<Vec<u8>>>,
    together: Arc<Barrier>,
}

impl Collective for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.out.len()
    }

    fn exchange(&self, with: usize, send: &[f32], receive: &mut [f32]) {
        self.out[with].send(send.to_vec()).unwrap();
        receive.copy_from_slice(&self.into[with].recv().unwrap());
    }

    fn share(&self, bytes: &mut Vec<u8>) {
        if self.rank == 0 {
            *self.shared.lock().unwrap() = bytes.clone();
        }
        self.together.wait();
        bytes.clone_from(&self.shared.lock().unwrap());
        self.together.wait();
    }
}

/// What every rank returns, in order.
fn in_ranks<R: Send>(size: usize, work: impl Fn(&dyn Collective) -> R + Sync) -> Vec<R> {
    let mut out: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
    let mut into: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
    for from in &mut out {
        for to in &mut into {
            let (sender, receiver) = channel();
            from.push(sender);
            to.push(receiver);
        }
    }
    let (shared, together) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Barrier::new(size)));
    let ranks: Vec<Thread> = out
        .into_iter()
        .zip(into)
        .enumerate()
        .map(|(rank, (out, into))| Thread { rank, out, into, shared: shared.clone(), together: together.clone() })
        .collect();
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = ranks.into_iter().map(|rank| scope.spawn(move || work(&rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Neighbours first, in a tree of the leaves.
fn tree(leaves: &[Vec<f32>]) -> Vec<f32> {
    match leaves {
        [leaf] => leaf.clone(),
        _ => {
            let (left, right) = leaves.split_at(leaves.len() / 2);
            tree(left).iter().zip(tree(right)).map(|(left, right)| left + right).collect()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_sum_is_that_of_the_tree(level in 0_u32..5, length in 0_usize..40, seed in any::<u32>()) {
        let size = 1_usize << level;
        // Numbers of very different sizes, whose sum depends on the order.
        let number = |rank: usize, index: usize| {
            let bits = (seed as usize).wrapping_add(rank * 7919 + index * 104_729).wrapping_mul(2_654_435_761);
            ((bits % 1000) as f32 - 500.0) * 10_f32.powi((bits / 1000 % 9) as i32 - 4)
        };
        let leaf = |rank: usize| (0..length).map(|index| number(rank, index)).collect::<Vec<f32>>();
        let leaves: Vec<Vec<f32>> = (0..size).map(leaf).collect();
        let sums = in_ranks(size, |ranks| {
            let mut values = leaf(ranks.rank());
            sum(ranks, &mut values);
            values
        });
        let expected: Vec<u32> = tree(&leaves).into_iter().map(f32::to_bits).collect();
        for sum in sums {
            prop_assert_eq!(sum.into_iter().map(f32::to_bits).collect::<Vec<_>>(), expected.clone());
        }
    }
}

/// Everything that a step may do; 101 graphs leave a last batch of one, and so empty shards.
fn config() -> FitConfig {
    FitConfig {
        batch_size: 20,
        shards: 8,
        clip: Some(1.0),
        reduction: Reduction::Mean,
        schedule: Schedule::Plateau { factor: 0.5, patience: 0 },
        ..short()
    }
}

/// The weights and losses that each rank ends with.
fn train(size: usize, config: &FitConfig, checkpoint: Option<&Checkpoint>) -> Vec<(Vec<u8>, Vec<f64>)> {
    in_ranks(size, |ranks| {
        let device = device().autodiff();
        // Every rank would start elsewhere, if rank 0 did not say where.
        let model = if ranks.rank() == 0 { vae(&device) } else { crate::setting::vae_of_seed(99, &device) };
        let fitted = fit_collective(model, &table(101), config, &[device], ranks, checkpoint, |_, _| ()).unwrap();
        (to_safetensors(&fitted.model), fitted.epochs.iter().map(|epoch| epoch.loss).collect())
    })
}

#[test]
fn any_number_of_ranks_ends_with_the_same_bits() {
    let one = train(1, &config(), None).remove(0);
    assert!(one.1[3] < 0.9 * one.1[0], "it learns: {:?}", one.1);
    for size in [2, 4, 8] {
        for (rank, found) in train(size, &config(), None).into_iter().enumerate() {
            assert!(found == one, "rank {rank} of {size}");
        }
    }
    let other = FitConfig { shards: 4, ..config() };
    assert_ne!(train(1, &other, None).remove(0).0, one.0, "other shards have other noise");
}

#[test]
fn another_number_of_ranks_resumes_to_the_same_bits() {
    let dir = tempdir().unwrap();
    let expected = train(1, &config(), None).remove(0);
    let checkpoint = Checkpoint::new(dir.path(), "model").every(Duration::ZERO);
    // One rank that wants to stop ends the training of all.
    let stopped = in_ranks(4, |ranks| {
        let device = device().autodiff();
        let watch = |event: Event<'_>, _: &_| match event {
            Event::Steps { step, .. } if ranks.rank() == 2 && step >= 6 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        fit_collective(vae(&device), &table(101), &config(), &[device], ranks, Some(&checkpoint), watch)
            .map(drop)
            .unwrap_err()
    });
    assert!(stopped.iter().all(|error| matches!(error, Error::Stopped { step: 6, .. })), "{stopped:?}");
    for size in [2, 1] {
        let resumed = train(size, &config(), Some(&checkpoint));
        assert!(resumed.iter().all(|found| *found == expected), "{size} ranks");
    }
}

#[test]
fn one_shard_is_the_plain_training() {
    let (config, device) = (FitConfig { shards: 1, ..config() }, device().autodiff());
    let plain = fit(vae(&device), &table(101), &config, std::slice::from_ref(&device), None, |_| {}).unwrap();
    assert_eq!(train(1, &config, None).remove(0).0, to_safetensors(&plain.model));
}

#[test]
fn ranks_that_no_tree_has_are_refused() {
    let device = device().autodiff();
    let run = |shards: usize, size: usize| {
        let config = FitConfig { shards, ..config() };
        let errors = in_ranks(size, |ranks| {
            let devices = [device.clone()];
            fit_collective(vae(&device), &table(20), &config, &devices, ranks, None, |_, _| ())
                .map(drop)
                .unwrap_err()
                .to_string()
        });
        errors[0].clone()
    };
    assert!(run(3, 1).contains("power of two"));
    assert!(run(4, 3).contains("processes is 3"));
    assert!(run(2, 4).contains("at least the number of processes"));
    assert_eq!((Alone.rank(), Alone.size()), (0, 1));
}
