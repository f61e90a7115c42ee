//! Fuzzes the readers that need no Burn.

#![no_main]

use std::sync::LazyLock;

use pace_fuzz::{Target, formats, graph, mutate, run, search, start};

static TARGETS: LazyLock<Vec<Target>> =
    LazyLock::new(|| [&graph::TARGETS[..], &search::TARGETS, &formats::TARGETS].concat());

libfuzzer_sys::fuzz_target!(init: start(&TARGETS), |input: &[u8]| run(input));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});
