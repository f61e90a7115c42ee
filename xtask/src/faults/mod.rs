//! `cargo xtask ci faults`: what the programs do when they are killed, when the disk is full, when others write, too.
//!
//! The real programs do smoke runs on their embedded stand-ins. Each is left alone once; then it is disturbed, started again
//! and must end with the same bits. Each error must name the file and say what to do. Moments are drawn from a seed that is
//! printed; `PACE_FAULTS_SEED` repeats a run, as far as the clock of the machine does.

mod compare;
mod disk;
mod kill;
mod moments;
mod mount;
mod server;
mod table;
mod together;
mod truncate;
mod work;

use std::path::PathBuf;

use anyhow::{Context, Result};

use self::moments::Moments;
use self::table::Table;
use self::work::Work;
use crate::cargo::build;
use crate::root::workspace_root;
use crate::setup::Environment;

/// Kills of each kind of work.
const N_KILLS: usize = 20;
const SEED: u64 = 17;

/// Builds the programs, disturbs them in every way and prints what came of it.
///
/// # Errors
/// If a program lost something, ended otherwise than undisturbed, or gave an error that helps nobody.
pub fn run(environment: &Environment) -> Result<()> {
    let seed = std::env::var("PACE_FAULTS_SEED").ok().map_or(Ok(SEED), |text| text.parse());
    let seed = seed.context("PACE_FAULTS_SEED must be a whole number")?;
    println!("faults: seed {seed} (PACE_FAULTS_SEED chooses another)");
    let root = workspace_root().join("target/faults");
    if root.exists() {
        std::fs::remove_dir_all(&root).with_context(|| format!("could not remove {}", root.display()))?;
    }
    let bed = Bed { na: build(environment, ["--bin", "na"])?, nas301: build(environment, ["--bin", "nas301"])?, root };
    let (mut moments, mut table) = (Moments::new(seed), Table::default());
    for work in [bed.training(), bed.embedding(), bed.search(), bed.fetch()?, bed.reproduce()?] {
        kill::often(&work, &bed, N_KILLS, &mut moments, &mut table)?;
    }
    together::two_runs(&bed, &mut table)?;
    together::late_answers(&bed, &mut table)?;
    truncate::checkpoints(&bed, &mut table)?;
    disk::unwritable(&bed, &mut table)?;
    disk::full(&bed, &mut table)?;
    print!("{table}");
    table.verdict()
}

/// The programs, and where they work.
struct Bed {
    na: PathBuf,
    nas301: PathBuf,
    root: PathBuf,
}

impl Bed {
    /// Six epochs with a checkpoint after every few steps; killed while it trains.
    fn training(&self) -> Work {
        let options = ["--epochs", "6", "--scores-only", "--seeds", "1", "--save-every", "0"];
        Work::program("training", &self.na, &options).between("\"stage\":\"untrained-1\"", "\"stage\":\"train-1\"")
    }

    /// Killed from the end of training until the vectors of all graphs are on the disk.
    fn embedding(&self) -> Work {
        let options = ["--scores-only", "--seeds", "1", "--save-every", "0"];
        let work = Work::program("embedding", &self.na, &options);
        work.between("\"stage\":\"train-1\"", "\"stage\":\"embed-1\"").repeated()
    }

    /// Killed while evolution, local search and DNGO ask and answer.
    fn search(&self) -> Work {
        let options = ["--methods", "evolution,local,dngo_ls", "--queries", "80", "--seeds", "1"];
        Work::program("search", &self.nas301, &options).between("\"stage\":\"embed\"", "\"stage\":\"noisy-dngo_ls-1\"")
    }

    /// A file of 4 MB from a server that takes its time.
    fn fetch(&self) -> Result<Work> {
        let folder = self.root.join("server");
        let manifest = server::serve(&folder)?;
        Work::xtask("fetch", &["fetch", "local", "--manifest"], &manifest, "--into")
    }

    /// The whole command, from the set-up to the report.
    fn reproduce(&self) -> Result<Work> {
        let words = ["reproduce", "na", "--smoke", "--threads", "2", "--seeds", "1"];
        Work::xtask("reproduce --smoke", &words, "".as_ref(), "--out")
    }
}
