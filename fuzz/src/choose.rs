//! What a fuzz program does: list its targets, write seeds, or fuzz one of them.

use std::env::var;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::{Target, mutation};

static CHOSEN: OnceLock<Target> = OnceLock::new();

/// Chooses among `targets`; ends the process if it was only asked for a list or for seeds.
///
/// # Panics
/// If `PACE_FUZZ_TARGET` names none of them.
pub fn start(targets: &[Target]) {
    // The fuzzing thread becomes the only worker: readers that parse in parallel then never leave it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    pool.expect("nobody has used the pool before");
    let task = var("PACE_FUZZ").unwrap_or_default();
    if task == "list" {
        for Target { name, share, max_len, .. } in targets {
            println!("{name} {share} {max_len}");
        }
        std::process::exit(0);
    }
    let name = var("PACE_FUZZ_TARGET").unwrap_or_default();
    let target = *targets.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
        panic!("PACE_FUZZ_TARGET is '{name}'; this program knows {}", names.join(", "))
    });
    if task == "seeds" {
        write_seeds(&target);
        std::process::exit(0);
    }
    CHOSEN.set(target).expect("chosen once");
}

/// Gives an input to the chosen target.
///
/// # Panics
/// If the target finds a fault.
pub fn run(input: &[u8]) {
    (CHOSEN.get().expect("start comes first").read)(input);
}

/// Changes an input in place and returns its new length: every other time as JSON, if it is that, else as libFuzzer does.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    match (seed % 2 == 0).then(|| mutation::json(&data[..size], seed)).flatten() {
        Some(mutated) if mutated.len() <= max_size => {
            data[..mutated.len()].copy_from_slice(&mutated);
            mutated.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

fn write_seeds(target: &Target) {
    let folder = PathBuf::from(var("PACE_FUZZ_SEEDS").expect("PACE_FUZZ_SEEDS names a folder"));
    std::fs::create_dir_all(&folder).expect("the folder of seeds can be made");
    for (index, seed) in (target.seeds)().into_iter().enumerate() {
        assert!(seed.len() <= target.max_len, "seed {index} of {} has {} bytes", target.name, seed.len());
        // What we wrote ourselves must pass.
        (target.read)(&seed);
        std::fs::write(folder.join(format!("seed-{index}")), seed).expect("a seed can be written");
    }
}
