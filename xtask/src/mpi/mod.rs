//! `cargo xtask ci mpi`: processes of an MPI world train and encode to the bits of one, also after one of them was killed.
//!
//! The program is `pace`, built with MPI; the files it leaves are compared byte by byte.

mod checks;
pub mod world;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::root::workspace_root;
use crate::setup::{Environment, Policy};
use world::{Pace, pace};

/// Numbers of processes that must agree.
const SIZES: [usize; 3] = [1, 2, 4];

/// Builds the program and checks it.
pub fn run(environment: &Environment, policy: Policy) -> Result<()> {
    let pace = pace(environment, policy)?;
    let dir = fresh_dir("mpi")?;
    let graphs = graphs(&pace, &dir, 600)?;
    for objective in ["vae", "mlm", "supervised"] {
        checks::sizes_agree(&pace, &dir, &graphs, objective)?;
    }
    checks::threads_agree(&pace, &dir, &graphs)?;
    checks::a_killed_rank_ends_all_and_another_number_resumes(&pace, &dir, &graphs)?;
    checks::parts_agree(&pace, &dir, &graphs)?;
    checks::without_mpi_is_refused(environment, &dir, &graphs)
}

/// An empty folder below target/.
pub fn fresh_dir(name: &str) -> Result<PathBuf> {
    let dir = workspace_root().join("target").join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Cells of NAS-Bench-101 with a score of some sort.
fn graphs(pace: &Pace, dir: &Path, n: usize) -> Result<PathBuf> {
    let (plain, scored) = (dir.join("plain.jsonl"), dir.join("graphs.jsonl"));
    let n = n.to_string();
    pace.alone(&["sample", "nas101", "-n", &n, "--out", text(&plain)?], 1)?;
    let mut lines = String::new();
    for (row, line) in fs::read_to_string(&plain)?.lines().enumerate() {
        let mut graph: serde_json::Value = serde_json::from_str(line)?;
        if let Some(edges) = graph["edges"].as_array().map(Vec::len) {
            graph["target"] = (edges as f64 + (row % 7) as f64 / 10.0).into();
        }
        lines.push_str(&graph.to_string());
        lines.push('\n');
    }
    fs::write(&scored, lines)?;
    Ok(scored)
}

/// A path as an option.
pub fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Fails if two files differ.
fn same(one: &Path, other: &Path) -> Result<()> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    if read(one)? != read(other)? {
        bail!("{} and {} differ", one.display(), other.display());
    }
    Ok(())
}
