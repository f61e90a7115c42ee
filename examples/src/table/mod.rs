//! A table of many encoders on one dataset: `--encoder all`, or a list such as `--encoder pace,dagnn,gin`.
//!
//! A row is one or several encoders with different seeds. Each is a run of its own below the folder of the table, by a process of
//! its own with the options of this one: a row that fails, for whatever reason, takes no other with it, and the same command
//! again does only what is missing.

mod gather;
mod report;
mod row;

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use pace_train::record::Better;
use serde_json::json;

use crate::args::RunArgs;
use crate::progress::steps_bar;
use crate::report::{Report, finish};
use gather::RowResults;
pub use row::{Columns, Row};
use row::{PACE, rows};

/// Everything, for `--encoder`.
const ALL: &str = "all";

/// Encoders of a row whose difference to PACE is claimed.
const N_SEEDS: u64 = 3;

/// Whether `--encoder` names several.
pub fn is_list(encoder: &str) -> bool {
    encoder == ALL || encoder.contains(',')
}

/// One encoder of a row: a process.
struct Job<'a> {
    row: &'a Row,
    seed: u64,
    dir: PathBuf,
    /// Whether it measures what all encoders are compared with.
    has_controls: bool,
}

/// What a page shows besides its table: gets the title and the folder of each encoder that is done.
pub type More = fn(&[(&str, PathBuf)], &mut Report) -> Result<()>;

/// Runs what is missing, gathers what is there, and writes the table.
///
/// # Errors
/// If a row failed, after all others have run, or if a file cannot be written.
pub fn run(dataset: &'static str, title: &str, encoder: &str, args: &RunArgs, columns: Columns) -> Result<()> {
    run_with(dataset, title, encoder, args, columns, |_, _| Ok(()))
}

/// As [`run`], with more on the page.
///
/// # Errors
/// As [`run`], and those of `more`.
pub fn run_with(
    dataset: &'static str,
    title: &str,
    encoder: &str,
    args: &RunArgs,
    columns: Columns,
    more: More,
) -> Result<()> {
    let rows = chosen(rows(dataset), encoder)?;
    let parent = args.out_dir(dataset, &encoder.replace(',', "+"))?;
    let mut jobs: Vec<Job<'_>> =
        rows.iter().flat_map(|row| jobs(row, 0..row.n_encoders as u64, args, &parent)).collect();
    let mut failed = run_all(dataset, &jobs, args.jobs);
    // The best graph Transformer gets an error bar, too: the others are behind it.
    if let Some(best) = best_transformer(&gather(&rows, &jobs)?, columns) {
        let more: Vec<Job<'_>> = self::jobs(best, 1..N_SEEDS, args, &parent).collect();
        failed.extend(run_all(dataset, &more, args.jobs));
        jobs.extend(more);
    }
    let results = gather(&rows, &jobs)?;
    let mut run = args.start(dataset, encoder, json!({"rows": rows, "smoke": args.smoke}))?;
    report::record(&results, columns, &mut run);
    let mut page = report::page(title, &results, columns)?;
    let is_done = |job: &&Job<'_>| job.dir.join("results.json").exists();
    let done: Vec<(&str, PathBuf)> = jobs.iter().filter(is_done).map(|job| (job.row.title, job.dir.clone())).collect();
    more(&done, &mut page)?;
    let path = finish(page, run)?;
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

/// Runs what is missing, `at_a_time` rows side by side; returns the names of the rows that failed.
fn run_all<'a>(dataset: &str, jobs: &[Job<'a>], at_a_time: usize) -> Vec<&'a str> {
    let bar = steps_bar(format!("{dataset}: encoders of the table"), jobs.len() as u64);
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !job.dir.join("results.json").exists() {
                let start = Instant::now();
                bar.suspend(|| eprintln!("table: {}, seed {}, into {}", job.row.title, job.seed, job.dir.display()));
                let outcome = job.run();
                let seconds = start.elapsed().as_secs_f64();
                bar.suspend(|| match &outcome {
                    Ok(()) => eprintln!("table: {} took {seconds:.0} s", job.row.name),
                    Err(error) => eprintln!("table: {} FAILED: {error:#}", job.row.name),
                });
                if outcome.is_err() {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(job.row.name);
                }
            }
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| (0..at_a_time).for_each(|_| drop(scope.spawn(work))));
    bar.finish_and_clear();
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The numbers of all rows; those of the controls are in PACE's runs.
fn gather<'a>(rows: &'a [Row], jobs: &[Job<'_>]) -> Result<Vec<RowResults<'a>>> {
    let read = |row: &'a Row| {
        let name = if row.reads.is_empty() { row.name } else { PACE };
        RowResults::read(row, jobs.iter().filter(|job| job.row.name == name).map(|job| job.dir.as_path()))
    };
    rows.iter().map(read).collect()
}

/// The graph Transformer with the best number in the first column.
fn best_transformer<'a>(results: &[RowResults<'a>], columns: Columns) -> Option<&'a Row> {
    let spec = columns().first()?;
    let sign = if spec.better == Better::Lower { -1.0 } else { 1.0 };
    let rows = results.iter().filter(|results| results.row.is_graph_transformer);
    let scored = rows.filter_map(|results| Some((sign * results.metric(&spec.id)?.mean, results.row)));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
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

/// Encoders of a row by their numbers; a smoke run has only the first.
fn jobs<'a>(row: &'a Row, numbers: Range<u64>, args: &RunArgs, parent: &Path) -> impl Iterator<Item = Job<'a>> {
    let (first, end) = (args.seed, if args.smoke { numbers.end.min(1) } else { numbers.end });
    (numbers.start..end).map(move |number| {
        let (seed, has_controls) = (first + number, row.name == PACE && number == 0);
        Job { row, seed, dir: parent.join(format!("{}-{seed}", row.name)), has_controls }
    })
}

impl Job<'_> {
    /// This program again, for one encoder.
    fn run(&self) -> Result<()> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command.args(without(std::env::args_os().skip(1), &["--encoder", "--out", "--seed", "--fresh", "--jobs"]));
        // The controls are the same for all, so PACE's first run has them.
        command.args((!self.has_controls).then_some("--no-controls"));
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
        for dataset in ["na", "bn", "nas101", "nas301", "code2"] {
            let rows = rows(dataset);
            let mut names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), rows.len(), "every name once");
        }
    }
}
