//! `cargo xtask ci python`: the wheel in an environment that has nothing else, then its tests beside the packages it works with.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::{cargo, run as run_command};
use crate::root::workspace_root;
use crate::setup::Environment;
use crate::venv::Venv;

/// The package, from the root of the workspace.
const PACKAGE: &str = "crates/pace-py";
/// What builds wheels.
const BUILDERS: [&str; 1] = ["maturin>=1.9,<2"];
/// A wheel above this is a mistake.
const MAX_BYTES: u64 = 30 << 20;
/// Seconds that an import may take, numpy's own included.
const MAX_IMPORT: f64 = 0.5;
/// Seconds of the import that are ours.
const MAX_OWN_IMPORT: f64 = 0.1;
/// What the tests work with. PyTorch's own index has smaller builds, but not every mirror of PyPI has it.
const PEERS: [&str; 16] = [
    "pytest",
    "scikit-learn",
    "networkx",
    // As in the other benches: 1.0 returns the inverse of the permutation that 0.11 returned.
    "igraph<1.0",
    "optuna",
    "tqdm",
    "onnx",
    "mypy",
    "nbclient",
    "nbformat",
    "ipykernel",
    "matplotlib",
    "ray[data,tune]",
    "torch",
    "torch_geometric",
    "botorch",
];

/// Options of the step.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(id = "python")]
pub struct Options {
    /// Of the step python: without PyTorch, PyTorch Geometric and BoTorch, which are gigabytes; their tests skip themselves
    #[arg(long)]
    no_torch: bool,
}

/// Builds the wheel, and runs what is to be run.
pub fn run(environment: &Environment, options: &Options) -> Result<()> {
    let wheel = wheel(environment)?;
    alone(&wheel)?;
    let venv = peers(&wheel, options)?;
    let package = workspace_root().join(PACKAGE);
    // In Python's dev mode: leaked files and deprecated calls are reported.
    let tests = ["-X", "dev", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests"];
    run_command(venv.isolated().current_dir(&package).args(tests))?;
    run_command(venv.isolated().current_dir(&package).args(["-m", "mypy", "-p", "pace_dag"]))
}

/// An environment with the wheel and everything that the tests and the bench compare it with.
///
/// # Errors
/// If the wheel cannot be built or a package cannot be had.
pub fn with_peers(environment: &Environment) -> Result<Venv> {
    peers(&wheel(environment)?, &Options::default())
}

fn peers(wheel: &Path, options: &Options) -> Result<Venv> {
    let (name, packages): (_, Vec<&str>) = match options.no_torch {
        true => ("peers-no-torch", PEERS.into_iter().filter(|name| !name.contains("torch")).collect()),
        false => ("peers", PEERS.to_vec()),
    };
    let venv = Venv::ensure(&dir(name), &packages)?;
    install(&venv, wheel)?;
    Ok(venv)
}

/// Builds the wheel into `target/wheels`.
///
/// # Errors
/// If it cannot be built, or is larger than a wheel should be.
pub fn wheel(environment: &Environment) -> Result<PathBuf> {
    let builders = Venv::ensure(&dir("builders"), &BUILDERS)?;
    let out = workspace_root().join("target/wheels");
    if out.exists() {
        std::fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    // maturin asks cargo, which wants the environment of the set-up.
    let mut command = Command::new(builders.python());
    command.envs(cargo(environment).get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(["-m", "maturin", "build", "--release", "--locked", "--compatibility", "pypi", "--manifest-path"]);
    run_command(command.arg(workspace_root().join(PACKAGE).join("Cargo.toml")).arg("--out").arg(&out))?;
    let files = std::fs::read_dir(&out).with_context(|| format!("cannot read {}", out.display()))?;
    let wheel =
        files.filter_map(|entry| entry.ok().map(|entry| entry.path())).next().context("maturin left no wheel")?;
    let n_bytes = std::fs::metadata(&wheel)?.len();
    println!("python: {} ({:.1} MB)", wheel.display(), n_bytes as f64 / 1e6);
    if n_bytes > MAX_BYTES {
        bail!(
            "the wheel has {:.1} MB; more than {} MB are not pleasant to install",
            n_bytes as f64 / 1e6,
            MAX_BYTES >> 20
        );
    }
    Ok(wheel)
}

/// The wheel and numpy alone: it is imported soon, and what the README shows works without anything else.
fn alone(wheel: &Path) -> Result<()> {
    let venv = Venv::ensure(&dir("alone"), &["numpy"])?;
    install(&venv, wheel)?;
    let script = workspace_root().join(PACKAGE).join("tests/alone.py");
    run_command(venv.isolated().arg(script).args([MAX_IMPORT.to_string(), MAX_OWN_IMPORT.to_string()]))
}

/// Puts the wheel in place of an older one.
fn install(venv: &Venv, wheel: &Path) -> Result<()> {
    run_command(venv.isolated().args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel))
}

fn dir(name: &str) -> PathBuf {
    workspace_root().join("target/python").join(name)
}
