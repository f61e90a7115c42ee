//! The graph bench: `pace-graph` against pynauty and igraph on the graphs that `benches/graph` generates.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::machine::Machine;
use super::report::{self, Row};
use crate::cargo::{build, capture, program};
use crate::setup::Environment;
use crate::venv::Venv;

/// igraph 1.0 returns the inverse of the permutation that 0.11 returned; the authors' code was written for the latter.
const PACKAGES: [&str; 2] = ["pynauty", "igraph<1.0"];

/// What one side measured: set of graphs, then what was done, then microseconds per graph.
type Times = BTreeMap<String, BTreeMap<String, f64>>;

/// A comparison: set of graphs, what we do, the peer, and what of the peer's times adds up to the same.
struct Comparison {
    set: &'static str,
    ours: &'static str,
    peer: &'static str,
    theirs: &'static [&'static str],
}

/// Our whole work against the peer's label alone, and then like against like.
const COMPARISONS: [Comparison; 12] = [
    versus("nas101", "label+mask", "pynauty with building, no mask", &["pynauty+building"]),
    versus("nas101", "build+label+mask", "pynauty with building, and mask", &["pynauty+building", "mask"]),
    versus("bn", "label+mask", "pynauty with building, no mask", &["pynauty+building"]),
    versus("bn", "build+label+mask", "pynauty with building, and mask", &["pynauty+building", "mask"]),
    versus("darts", "label+mask", "pynauty with building, no mask", &["pynauty+building"]),
    versus("darts", "build+label+mask", "pynauty with building, and mask", &["pynauty+building", "mask"]),
    versus("ast120", "label", "igraph, no building", &["igraph"]),
    versus("ast120", "label+mask", "igraph, no building, no mask", &["igraph"]),
    versus("ast120", "build+label+mask", "igraph with building, and mask", &["igraph+building", "mask"]),
    versus("ast1000", "label", "igraph, no building", &["igraph"]),
    versus("ast1000", "label+mask", "igraph, no building, no mask", &["igraph"]),
    versus("ast1000", "build+label+mask", "igraph with building, and mask", &["igraph+building", "mask"]),
];

const fn versus(
    set: &'static str,
    ours: &'static str,
    peer: &'static str,
    theirs: &'static [&'static str],
) -> Comparison {
    Comparison { set, ours, peer, theirs }
}

/// Lets both sides take turns and compares the best of each: noise only ever adds time.
pub fn run(root: &Path, environment: &Environment, rounds: u32) -> Result<Vec<Row>> {
    let folder = root.join("target/bench");
    let venv = Venv::ensure(&folder.join("venv"), &PACKAGES).context(
        "the peers of this bench are Python packages; pynauty may have to be compiled (on Debian: `apt-get install \
         python3-dev python3-venv`)",
    )?;
    let graphs = folder.join("graphs.json");
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "graph"])?;
    capture(program(&ours).arg("--dump").arg(&graphs))?;
    let (mut own, mut peers, mut machine) = (Times::new(), Times::new(), Machine::new());
    for round in 1..=rounds {
        eprintln!("bench: round {round} of {rounds}");
        machine.watch();
        keep_best(&mut own, parse(&capture(program(&ours).arg("--json"))?)?);
        let mut peer = Command::new(venv.python());
        peer.arg(root.join("xtask/peers/graph_peers.py")).arg(&graphs);
        keep_best(&mut peers, parse(&capture(&mut peer)?)?);
    }
    Ok(report::on(&machine, compare(&own, &peers)?))
}

fn parse(text: &str) -> Result<Times> {
    serde_json::from_str(text).with_context(|| format!("not a table of times: {text:?}"))
}

fn keep_best(best: &mut Times, new: Times) {
    for (set, times) in new {
        let known = best.entry(set).or_default();
        for (what, time) in times {
            known.entry(what).and_modify(|old| *old = old.min(time)).or_insert(time);
        }
    }
}

fn compare(own: &Times, peers: &Times) -> Result<Vec<Row>> {
    let time = |times: &Times, set: &str, what: &str| {
        let time = times.get(set).and_then(|times| times.get(what)).copied();
        time.with_context(|| format!("the bench did not measure {what} on {set}"))
    };
    COMPARISONS
        .iter()
        .map(|Comparison { set, ours, peer, theirs }| {
            let peer_time = theirs.iter().map(|what| time(peers, set, what)).sum::<Result<f64>>()?;
            Ok(Row::new(&format!("graph/{set}/{ours}"), "us", time(own, set, ours)?, peer, peer_time))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_all_rounds_counts() {
        let mut best = Times::new();
        for text in [r#"{"a": {"x": 2.0, "y": 1.0}}"#, r#"{"a": {"x": 1.5, "y": 3.0}}"#] {
            keep_best(&mut best, parse(text).unwrap());
        }
        assert_eq!(best, parse(r#"{"a": {"x": 1.5, "y": 1.0}}"#).unwrap());
    }

    #[test]
    fn what_was_not_measured_is_named() {
        let message = compare(&Times::new(), &Times::new()).unwrap_err().to_string();
        assert!(message.contains("nas101"), "{message}");
    }
}
