//! Fuzzes the readers of models and runs.

#![no_main]

use pace_fuzz::{model, mutate, run, start};

libfuzzer_sys::fuzz_target!(init: start(&model::TARGETS), |input: &[u8]| run(input));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});
