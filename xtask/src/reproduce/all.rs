//! `cargo xtask reproduce all`: every table, and the pages of docs/results.
//!
//! The pages are made of one state of the code. That is checked before the first program starts, because a night is long, and
//! again before each of the others.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Args, Dataset};
use crate::cargo::{build, program, run as run_command};
use crate::git::Code;
use crate::report::{PAGES, Results, seconds, write_page};
use crate::root::workspace_root;
use crate::setup::{self, Policy};

/// One program and its folder.
struct Job {
    name: String,
    program: PathBuf,
    dir: PathBuf,
}

/// Runs all programs, whichever fail, and writes the page of each that does not.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    if !args.rest.is_empty() {
        bail!("options after `--` are those of one program; name its dataset instead of `all`");
    }
    let root = workspace_root();
    let no_pages = no_pages(args);
    let code = if no_pages.is_none() && !args.allow.allow_dirty {
        Some(clean_code(&root).context("no page could be made; commit first, or add --allow-dirty")?)
    } else {
        None
    };
    let environment = setup::ensure(policy)?;
    let mut jobs = Vec::new();
    for dataset in Dataset::TABLES {
        let name = dataset.binary();
        let dir = args.folder(&root, &name)?;
        // All programs are built before the first starts, so that all are of one state of the code.
        jobs.push(Job { program: build(&environment, ["--bin", &name])?, name, dir });
    }
    jobs.sort_by(|one, other| duration(&root, one).total_cmp(&duration(&root, other)));
    let failures = each(&jobs, |job| {
        if let Some(code) = &code {
            same_code(code, &clean_code(&root)?)?;
        }
        let out = args.out.as_ref().map(|_| job.dir.as_path());
        run_command(program(&job.program).args(args.forwarded(out)?))?;
        if no_pages.is_none() {
            let page = write_page(&root, &job.dir, args.allow)?;
            eprintln!("reproduce: wrote {}", page.display());
        }
        Ok(())
    });
    if let Some(reason) = no_pages {
        eprintln!("reproduce: no page was written, {reason}");
    }
    if !failures.is_empty() {
        let command = if args.fresh { "the same command without --fresh" } else { "the same command" };
        bail!("{} of {} tables failed: {}; {command} resumes", failures.len(), jobs.len(), failures.join(", "));
    }
    Ok(())
}

/// Why this command makes no pages, if so.
fn no_pages(args: &Args) -> Option<&'static str> {
    if args.smoke {
        return Some("--smoke is too little work for numbers");
    }
    let is_plain = args.encoder.is_none() && args.seed.is_none() && args.seeds.is_none();
    (!is_plain)
        .then_some("because the pages show the default encoder and seeds; `cargo xtask report` makes one of any run")
}

impl Args {
    /// Where the program of a dataset puts its results.
    fn folder(&self, root: &Path, name: &str) -> Result<PathBuf> {
        let (encoder, seed) = (self.encoder.as_deref().unwrap_or("pace"), self.seed.unwrap_or(1));
        let folder = format!("{name}-{encoder}-{seed}");
        Ok(match &self.out {
            Some(out) => std::path::absolute(out)?.join(folder),
            None => root.join("runs").join(folder + if self.smoke { "-smoke" } else { "" }),
        })
    }
}

/// The state of the code, if all of it is in commits.
fn clean_code(root: &Path) -> Result<Code> {
    let code = Code::at(root)?;
    code.clean()?;
    Ok(code)
}

/// Errs if the programs, which were built before, are not those of the code as it stands.
fn same_code(before: &Code, now: &Code) -> Result<()> {
    if before != now {
        bail!("the code has changed since this command began; start it again, in a worktree of its own");
    }
    Ok(())
}

/// Seconds that a table took the last time: by its folder, else by its page. One that was never made comes last.
fn duration(root: &Path, job: &Job) -> f64 {
    let by_page = || seconds(&std::fs::read_to_string(root.join(PAGES).join(format!("{}.md", job.name))).ok()?);
    Results::read(&job.dir).ok().map(|results| results.seconds()).or_else(by_page).unwrap_or(f64::INFINITY)
}

/// Runs every job and returns the names of those that failed.
fn each(jobs: &[Job], mut run: impl FnMut(&Job) -> Result<()>) -> Vec<String> {
    let mut failures = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        eprintln!("reproduce: {}, {} of {}, into {}", job.name, index + 1, jobs.len(), job.dir.display());
        if let Err(error) = run(job) {
            eprintln!("reproduce: {}: {error:#}", job.name);
            failures.push(job.name.clone());
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::tests::Cli;
    use super::*;
    use crate::git::scratch;
    use crate::root::test_dir;

    fn args(words: &[&str]) -> Args {
        Cli::parse_from(["reproduce", "all"].iter().chain(words)).args
    }

    fn job(root: &Path, name: &str) -> Job {
        Job { name: name.to_owned(), program: PathBuf::new(), dir: root.join(name) }
    }

    #[test]
    fn a_failure_does_not_keep_the_others_from_running() {
        let jobs = ["a", "b", "c"].map(|name| job(Path::new("runs"), name));
        let mut ran = Vec::new();
        let failures = each(&jobs, |job| {
            ran.push(job.name.clone());
            if job.name == "b" { bail!("broken") } else { Ok(()) }
        });
        assert_eq!((ran.join(" "), failures.join(" ")), ("a b c".to_owned(), "b".to_owned()));
    }

    #[test]
    fn the_longest_table_comes_last() {
        let root = test_dir("all-order");
        scratch::write(&root, "docs/results/na.md", "# NA\n\n522 s in all.\n");
        scratch::write(&root, "docs/results/bn.md", "# BN\n\n10 s in all.\n");
        let results = r#"{"format": 2, "title": "", "dataset": "bn", "encoder": "pace", "data": "real", "data_note": "",
            "commit": null, "seed": 1, "threads": 2, "table": [], "metrics": {},
            "stages": [{"kind": "train", "variant": null, "seconds": 900.0}, {"kind": "gp", "variant": null, "seconds": 50.5}]}"#;
        scratch::write(&root, "bn/results.json", results);
        let durations = ["na", "bn", "new"].map(|name| duration(&root, &job(&root, name)));
        assert_eq!(durations, [522.0, 950.5, f64::INFINITY], "a finished run knows better than the page");
    }

    #[test]
    fn the_folders_are_those_of_the_programs() {
        let root = Path::new("/somewhere");
        let folder = |words: &[&str]| args(words).folder(root, "na").unwrap();
        assert_eq!(folder(&[]), root.join("runs/na-pace-1"));
        assert_eq!(folder(&["--smoke", "--seed", "3"]), root.join("runs/na-pace-3-smoke"));
        assert_eq!(folder(&["--out", "/tmp/x", "--smoke"]), Path::new("/tmp/x/na-pace-1"));
    }

    #[test]
    fn pages_are_made_of_whole_runs_with_the_default_settings() {
        assert_eq!(no_pages(&args(&["--threads", "2", "--fresh", "--data", "x"])), None);
        for words in [["--smoke"].as_slice(), &["--encoder", "pace"], &["--seeds", "1"], &["--seed", "2"]] {
            assert!(no_pages(&args(words)).is_some(), "{words:?}");
        }
    }

    #[test]
    fn code_that_changes_meanwhile_is_noticed() {
        let root = scratch::repository("all-code");
        scratch::commit(&root, "a.rs", "");
        let before = clean_code(&root).unwrap();
        scratch::commit(&root, "README.md", "words");
        same_code(&before, &clean_code(&root).unwrap()).unwrap();
        scratch::write(&root, "a.rs", "fn a() {}");
        assert!(clean_code(&root).unwrap_err().to_string().contains("a.rs"));
        scratch::commit(&root, "a.rs", "fn a() {}");
        let error = same_code(&before, &clean_code(&root).unwrap()).unwrap_err();
        assert!(error.to_string().contains("the code has changed"), "{error}");
    }
}
