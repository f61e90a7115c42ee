//! The Python bench: from networkx graphs and from numpy arrays to vectors, against PyTorch and against Rust.

use std::path::Path;

use anyhow::{Context, Result};

use super::machine::Machine;
use super::report::{self, Row};
use super::torch::last_json;
use crate::cargo::capture;
use crate::python;
use crate::setup::Environment;

/// Name of a row, our number and the peer's in what the script prints, and what the peer is.
const ROWS: [[&str; 4]; 4] = [
    ["from networkx", "networkx_gps", "peer_gps", "PyTorch with igraph's canonical order"],
    ["from networkx, no order", "networkx_gps", "peer_without_order_gps", "PyTorch without canonical order"],
    ["from arrays", "arrays_gps", "rust_gps", "the same in Rust"],
    ["share of conversion from networkx", "networkx_conversion_share", "peer_conversion_share", "PyTorch's"],
];

/// Builds the wheel and runs the script, which lets both sides take turns.
pub fn run(root: &Path, environment: &Environment, rounds: u32) -> Result<Vec<Row>> {
    let venv = python::with_peers(environment)?;
    let mut machine = Machine::new();
    machine.watch();
    let mut script = venv.isolated();
    script.arg(root.join("xtask/peers/python_encode.py")).args(["--rounds", &rounds.to_string()]);
    let found = last_json(&capture(&mut script)?)?;
    let number = |key: &str| found[key].as_f64().with_context(|| format!("the script printed no {key}"));
    let rows = ROWS.iter().map(|[name, ours, theirs, peer]| {
        let unit = if name.starts_with("share") { "" } else { "graphs/s" };
        Ok(Row::rates(&format!("python/{name}"), unit, number(ours)?, peer, number(theirs)?))
    });
    Ok(report::on(&machine, rows.collect::<Result<Vec<Row>>>()?))
}
