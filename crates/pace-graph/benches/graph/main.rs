//! Canonical order and mask on one thread, in microseconds per graph.
//!
//! `cargo xtask bench graph` runs this in turns with the Python peers. By hand:
//!
//! ```text
//! cargo bench -p pace-graph --bench graph                  a table
//! cargo bench -p pace-graph --bench graph -- --json        {"<set>": {"<what>": microseconds}}
//! cargo bench -p pace-graph --bench graph -- --dump FILE   the graphs themselves, for a peer
//! ```

mod ast;
mod generate;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use pace_graph::structure::{MaskRule, mask};
use pace_graph::{Dag, canonical_order};
use serde_json::json;

use generate::GraphSet;

/// Time spent on one measurement: many short passes, because the fastest one is the least disturbed.
const BUDGET: Duration = Duration::from_millis(500);
const MIN_PASSES: u32 = 3;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let sets = generate::all();
    if let Some(flag) = args.iter().position(|arg| arg == "--dump") {
        let path = args.get(flag + 1).expect("--dump is followed by a file name");
        std::fs::write(path, dump(&sets)).unwrap_or_else(|error| panic!("could not write {path}: {error}"));
        return;
    }
    let times: BTreeMap<&str, BTreeMap<&str, f64>> = sets.iter().map(|set| (set.name, measure(set))).collect();
    if args.iter().any(|arg| arg == "--json") {
        println!("{}", json!(times));
    } else {
        for (set, times) in &times {
            times.iter().for_each(|(what, micros)| println!("{set:8} {what:18} {micros:10.3} us"));
        }
    }
}

fn dump(sets: &[GraphSet]) -> String {
    let graph = |dag: &Dag| json!({"ops": dag.ops().collect::<Vec<_>>(), "edges": dag.edges().collect::<Vec<_>>()});
    let sets: BTreeMap<&str, Vec<_>> =
        sets.iter().map(|set| (set.name, set.dags.iter().map(graph).collect())).collect();
    json!(sets).to_string()
}

fn measure(set: &GraphSet) -> BTreeMap<&'static str, f64> {
    let plain: Vec<_> =
        set.dags.iter().map(|dag| (dag.ops().collect::<Vec<_>>(), dag.edges().collect::<Vec<_>>())).collect();
    let label = best(&set.dags, canonical_order);
    let label_and_mask = best(&set.dags, label_and_mask);
    let all = best(&plain, |(ops, edges)| {
        let dag = Dag::new(ops.clone(), edges.iter().copied()).expect("generated graphs are sound");
        label_and_mask_of(dag)
    });
    BTreeMap::from([("label", label), ("label+mask", label_and_mask), ("build+label+mask", all)])
}

/// The work that the bench is about.
fn label_and_mask(dag: &Dag) -> impl Sized + use<> {
    (canonical_order(dag), mask(dag, MaskRule::PACE))
}

fn label_and_mask_of(dag: Dag) -> impl Sized {
    label_and_mask(&dag)
}

/// Microseconds per item of the fastest pass over all items.
fn best<T, R>(items: &[T], work: impl Fn(&T) -> R) -> f64 {
    let (mut fastest, mut spent, mut passes) = (Duration::MAX, Duration::ZERO, 0);
    while spent < BUDGET || passes < MIN_PASSES {
        let start = Instant::now();
        for item in items {
            black_box(work(black_box(item)));
        }
        let elapsed = start.elapsed();
        (fastest, spent, passes) = (fastest.min(elapsed), spent + elapsed, passes + 1);
    }
    fastest.as_secs_f64() * 1e6 / items.len() as f64
}
