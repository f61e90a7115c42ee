//! A table of many encoders on one dataset: `--encoder all`, or a list such as `--encoder pace,dagnn,gin`.
//!
//! A row is one or several encoders with different seeds. Each is a run of its own below the folder of the table, by a process of
//! its own with the options of this one: a row that fails, for whatever reason, takes no other with it, and the same command
//! again does only what is missing.

mod gather;
mod report;
mod row;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::args::RunArgs;
use crate::progress::steps_bar;
use gather::RowResults;
pub use row::{Columns, Row};
use row::{PACE, rows};

/// Everything, for `--encoder`.
const ALL: &str = "all";

/// Whether `--encoder` names several.
pub fn is_list(encoder: &str) -> bool {
    encoder == ALL || encoder.contains(',')
}

/// One encoder of a row: a process.
struct Job<'a> {
    row: &'a Row,
    seed: u64,
    dir: PathBuf,
}

/// Runs what is missing, gathers what is there, and writes the table.
///
/// # Errors
/// If a row failed, after all others have run, or if a file cannot be written.
pub fn run(dataset: &'static str, title: &str, encoder: &str, args: &RunArgs, columns: Columns) -> Result<()> {
    let rows = chosen(rows(dataset), encoder)?;
    let parent = args.out_dir(dataset, &encoder.replace(',', "+"))?;
    let jobs: Vec<Job<'_>> = rows.iter().flat_map(|row| jobs(row, args, &parent)).collect();
    let bar = steps_bar(format!("{dataset}: {} rows", rows.len()), jobs.len() as u64);
    let mut failed = Vec::new();
    for job in &jobs {
        let start = Instant::now();
        if !job.dir.join("results.json").exists() {
            bar.suspend(|| eprintln!("table: {}, seed {}, into {}", job.row.title, job.seed, job.dir.display()));
            match job.run() {
                Ok(()) => {
                    bar.suspend(|| eprintln!("table: {} took {:.0} s", job.row.name, start.elapsed().as_secs_f64()))
                }
                Err(error) => {
                    bar.suspend(|| eprintln!("table: {} FAILED: {error:#}", job.row.name));
                    failed.push(job.row.name);
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let results: Vec<RowResults<'_>> = rows
        .iter()
        .map(|row| {
            let name = if row.reads.is_empty() { row.name } else { PACE };
            RowResults::read(row, jobs.iter().filter(|job| job.row.name == name).map(|job| job.dir.as_path()))
        })
        .collect::<Result<_>>()?;
    let mut run = args.start(dataset, encoder, json!({"rows": rows, "smoke": args.smoke}))?;
    report::record(&results, columns, &mut run);
    let path = report::finish(title, &results, columns, run)?;
    println!("report: {}", path.display());
    if !failed.is_empty() {
        bail!(
            "{} of {} runs failed: {}; the same command tries them again",
            failed.len(),
            jobs.len(),
            failed.join(", ")
        );
    }
    Ok(())
}

/// The rows that were asked for, in the order of the table.
fn chosen(mut rows: Vec<Row>, encoder: &str) -> Result<Vec<Row>> {
    if encoder == ALL {
        return Ok(rows);
    }
    let wanted: Vec<&str> = encoder.split(',').map(str::trim).collect();
    if let Some(unknown) = wanted.iter().find(|name| rows.iter().all(|row| row.name != **name)) {
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        bail!("there is no row {unknown:?}; there are {}", names.join(", "));
    }
    // Whoever asks for PACE sees the controls, too.
    rows.retain(|row| wanted.contains(&row.name) || (!row.reads.is_empty() && wanted.contains(&PACE)));
    Ok(rows)
}

fn jobs<'a>(row: &'a Row, args: &RunArgs, parent: &Path) -> Vec<Job<'a>> {
    let n_encoders = if args.smoke { row.n_encoders.min(1) } else { row.n_encoders };
    let job = |seed: u64| Job { row, seed, dir: parent.join(format!("{}-{seed}", row.name)) };
    (args.seed..).take(n_encoders).map(job).collect()
}

impl Job<'_> {
    /// This program again, for one encoder.
    fn run(&self) -> Result<()> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command.args(without(std::env::args_os().skip(1), &["--encoder", "--out", "--seed", "--fresh"]));
        command.args(&self.row.options).arg("--seed").arg(self.seed.to_string()).arg("--out").arg(&self.dir);
        let status = command.status().context("cannot start this program again")?;
        if !status.success() {
            bail!("{status}; its messages are above");
        }
        Ok(())
    }
}

/// Options without some of them and their values; `--fresh` alone has none.
fn without(options: impl Iterator<Item = OsString>, left_out: &[&str]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut skip_value = false;
    for option in options {
        if std::mem::take(&mut skip_value) {
            continue;
        }
        let text = option.to_string_lossy();
        let (name, has_value) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
        if left_out.contains(&name) {
            skip_value = !has_value && name != "--fresh";
            continue;
        }
        kept.push(option);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_all_other_options() {
        let options =
            ["--smoke", "--encoder", "all", "--seed=3", "--out", "x", "--epochs", "2", "--fresh", "--threads", "1"];
        let kept = without(options.iter().map(OsString::from), &["--encoder", "--out", "--seed", "--fresh"]);
        assert_eq!(kept, ["--smoke", "--epochs", "2", "--threads", "1"]);
    }

    #[test]
    fn rows_are_chosen_by_name() {
        assert!(is_list("all") && is_list("pace,gin") && !is_list("pace"));
        let names = |encoder: &str| {
            chosen(rows("na"), encoder).map(|rows| rows.iter().map(|row| row.name).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names("gin, dagnn").unwrap(), "dagnn gin");
        assert_eq!(names("gin,pace").unwrap(), "pace gin raw untrained");
        let error = names("pace,nothing").unwrap_err().to_string();
        assert!(error.contains("no row \"nothing\"") && error.contains("dagnn"), "{error}");
        for dataset in ["na", "bn", "nas101", "nas301"] {
            let rows = rows(dataset);
            let mut names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), rows.len(), "every name once");
        }
    }
}
