//! What must hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::world::Pace;
use super::{SIZES, same, text};
use crate::cargo::build;
use crate::setup::Environment;

/// The weights that a training leaves.
const WEIGHTS: &str = "encoder.safetensors";

/// The options of a training; eight shards, which every number of processes may share.
fn training<'a>(graphs: &'a str, objective: &'a str, epochs: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["train", graphs, "--objective", objective, "--epochs", epochs, "--batch", "64", "--shards", "8", "--out", out]
}

/// 1, 2 and 4 processes end with the same weights.
pub fn sizes_agree(pace: &Pace, dir: &Path, graphs: &Path, objective: &str) -> Result<()> {
    let out = |size: usize| dir.join(format!("{objective}-{size}"));
    for size in SIZES {
        let (path, graphs) = (out(size), text(graphs)?);
        let args = training(graphs, objective, "2", text(&path)?);
        if size == 1 {
            pace.alone(&args, 1)?
        } else {
            pace.together(size, &args, 1)?
        };
        same(&out(1).join(WEIGHTS), &path.join(WEIGHTS))?;
    }
    eprintln!("mpi: {objective}: {SIZES:?} processes end with the same weights");
    Ok(())
}

/// Two threads per process instead of one change nothing.
pub fn threads_agree(pace: &Pace, dir: &Path, graphs: &Path) -> Result<()> {
    let out = dir.join("mlm-threads");
    pace.together(2, &training(text(graphs)?, "mlm", "2", text(&out)?), 2)?;
    same(&dir.join("mlm-1").join(WEIGHTS), &out.join(WEIGHTS))?;
    eprintln!("mpi: two threads per process end with the weights of one");
    Ok(())
}

/// A rank is killed in the middle; another number of processes ends with the undisturbed weights.
pub fn a_killed_rank_ends_all_and_another_number_resumes(pace: &Pace, dir: &Path, graphs: &Path) -> Result<()> {
    const EPOCHS: &str = "1000";
    let (calm, killed) = (dir.join("calm"), dir.join("killed"));
    let (graphs, calm_text, killed_text) = (text(graphs)?, text(&calm)?, text(&killed)?);
    pace.together(2, &training(graphs, "mlm", EPOCHS, calm_text), 1)?;
    let args = training(graphs, "mlm", EPOCHS, killed_text);
    let mut world = pace.command(2, &args, 1).spawn().context("could not start mpirun")?;
    let start = Instant::now();
    let checkpoint = killed.join("checkpoint").join("state.json");
    while !checkpoint.exists() {
        ensure!(start.elapsed() < Duration::from_secs(300), "no checkpoint after five minutes");
        if let Some(status) = world.try_wait()? {
            bail!("the training ended ({status}) before it wrote a checkpoint and could be killed");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let ranks = children(world.id())?;
    let victim = ranks.last().context("mpirun has no processes")?;
    ensure!(Command::new("kill").args(["-9", victim]).status()?.success(), "could not kill process {victim}");
    let output = world.wait_with_output()?;
    ensure!(!output.status.success(), "a rank was killed, and mpirun says that all is well");
    ensure!(!killed.join(WEIGHTS).exists(), "a rank was killed, and the model is finished");
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(said.contains("signal 9") || said.contains("Killed"), "nobody says that a rank was killed: {said}");
    // The one that resumes has another number of processes.
    pace.together(4, &args, 1)?;
    same(&calm.join(WEIGHTS), &killed.join(WEIGHTS))?;
    eprintln!("mpi: one of two ranks killed, resumed by four: the weights of an undisturbed training");
    Ok(())
}

/// The processes that mpirun has started.
fn children(parent: u32) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let path: PathBuf = entry?.path();
        let Ok(stat) = fs::read_to_string(path.join("stat")) else { continue };
        // pid (name) state parent ...
        let is_child =
            stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(&parent.to_string());
        if let (true, Some(pid)) = (is_child, stat.split_whitespace().next()) {
            found.push(pid.to_owned());
        }
    }
    Ok(found)
}

/// The parts of any number of processes are the whole, and a missing part comes back.
pub fn parts_agree(pace: &Pace, dir: &Path, graphs: &Path) -> Result<()> {
    let (model, graphs) = (dir.join("mlm-1"), text(graphs)?);
    let whole = dir.join("whole.jsonl");
    pace.alone(&["encode", text(&model)?, graphs, "--out", text(&whole)?], 1)?;
    let expected = fs::read_to_string(&whole)?;
    for size in [1, 2, 4] {
        let folder = dir.join(format!("parts-{size}"));
        fs::create_dir_all(&folder)?;
        let out = folder.join("vectors.jsonl");
        let args = ["encode", text(&model)?, graphs, "--out", text(&out)?, "--parts", "7"];
        let encode = || if size == 1 { pace.alone(&args, 1) } else { pace.together(size, &args, 1) };
        encode()?;
        let part = |number: usize| folder.join(format!("vectors-{number:05}-of-00007.jsonl"));
        let read = || (1..=7).map(|number| fs::read_to_string(part(number))).collect::<std::io::Result<String>>();
        ensure!(read()? == expected, "the parts of {size} processes are not the whole");
        let (lost, kept) = (part(3), part(4));
        let before = fs::metadata(&kept)?.modified()?;
        fs::remove_file(&lost)?;
        encode()?;
        ensure!(read()? == expected, "a part that was missing came back as another");
        ensure!(fs::metadata(&kept)?.modified()? == before, "a part that was there was computed again");
        ensure!(folder.join("vectors.index.json").exists(), "no index");
    }
    eprintln!("mpi: vectors in parts are those of one process, and only what is missing is computed");
    Ok(())
}

/// A program without MPI under `mpirun` says so instead of doing everything several times.
pub fn without_mpi_is_refused(environment: &Environment, dir: &Path, graphs: &Path) -> Result<()> {
    let plain = build(environment, ["--bin", "pace"])?;
    let out = dir.join("refused");
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--allow-run-as-root", "-n", "2"]).arg(plain);
    let output = command.args(["train", text(graphs)?, "--out", text(&out)?]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success() && said.contains("built without MPI"), "it should have refused: {said}");
    ensure!(!out.exists(), "it refused and left a folder");
    eprintln!("mpi: a program without MPI refuses to be several");
    Ok(())
}
