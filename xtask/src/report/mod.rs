//! `cargo xtask report <run>`: turns the results of a run into a page of docs/results.
//!
//! `results.json` carries titles, units and the paper's numbers; a page only prints them. What people have to say about the
//! numbers of a dataset stands in `<dataset>.md` beside this file; `--remarks` puts it into the pages as it stands, without the runs.

mod encoders;
mod page;
mod plots;
mod provenance;
pub mod ranks;
mod results;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::root::{workspace_root, write_atomically};
pub use page::{carries, remarks, seconds};
pub use provenance::MadeBy;
pub use results::{ENCODERS, Results};

/// Where the pages lie.
pub const PAGES: &str = "docs/results";

/// Which run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of a finished run, e.g. runs/na-pace-1
    #[arg(required_unless_present = "remarks")]
    run: Option<PathBuf>,
    /// Put the remarks of xtask/src/report into all pages; their numbers stay
    #[arg(long, conflicts_with = "run")]
    remarks: bool,
    #[command(flatten)]
    allow: Allow,
}

/// What a page must not be made of unless somebody says so.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Allow {
    /// Make a page of results whose code is in no commit; the page says so, and `cargo xtask tidy` fails on it
    #[arg(long)]
    pub allow_dirty: bool,
    /// Make a page of results on the embedded stand-in for a dataset; the page says so
    #[arg(long)]
    pub allow_embedded: bool,
}

impl Allow {
    /// Errs with the reason why no page may be made.
    fn check(self, results: &Results) -> Result<()> {
        let again = "run it again with --fresh";
        match (&results.commit, results.dirty) {
            _ if self.allow_dirty => {}
            (Some(_), Some(false)) => {}
            (Some(commit), Some(true)) => bail!(
                "the code was {commit} with changes that are in no commit, so nobody can make these numbers again; commit the \
                 changes and {again}, or add --allow-dirty"
            ),
            (Some(_), None) => {
                bail!(
                    "the results do not say whether the code had changes that are in no commit; {again}, or add --allow-dirty"
                )
            }
            (None, _) => bail!("git did not know the commit of the code; {again} in a clone, or add --allow-dirty"),
        }
        if results.data != "real" && !self.allow_embedded {
            bail!(
                "the numbers are of {} data ({}); name the folder of the real files by --data and {again}, or add \
                 --allow-embedded",
                results.data,
                results.data_note
            );
        }
        Ok(())
    }
}

/// Writes the page.
pub fn run(args: &Args) -> Result<()> {
    let root = workspace_root();
    let written = match &args.run {
        Some(run) => vec![write_page(&root, run, args.allow)?],
        None => write_remarks(&root)?,
    };
    written.iter().for_each(|page| println!("{}", page.display()));
    Ok(())
}

/// Puts the remarks as they stand into the pages below `root`, and returns the paths of those that changed.
fn write_remarks(root: &Path) -> Result<Vec<PathBuf>> {
    let dir = root.join(PAGES);
    let entries = fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut changed = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(id) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".md")) else { continue };
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let remarks = remarks(id);
        if remarks.is_empty() || carries(&text, remarks) {
            continue;
        }
        let new = page::with_remarks(&text, remarks)
            .with_context(|| format!("{} is no page of `cargo xtask report`", path.display()))?;
        write_atomically(&path, &new).with_context(|| format!("cannot write {}", path.display()))?;
        changed.push(path);
    }
    changed.sort();
    Ok(changed)
}

/// Writes the page of a run into the workspace at `root`, and returns its path.
pub fn write_page(root: &Path, run: &Path, allow: Allow) -> Result<PathBuf> {
    let results = Results::read(run)?;
    allow.check(&results).with_context(|| format!("no page of {}", run.display()))?;
    let target = root.join(PAGES).join(format!("{}.md", results.page()));
    let plots = plots::copy(run, &root.join(PAGES), &results.page())?;
    let text = page::render(&results) + &plots;
    write_atomically(&target, &text).with_context(|| format!("cannot write {}", target.display()))?;
    ranks::update(root)?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    #[test]
    fn an_unfinished_run_and_an_old_one_are_refused() {
        let missing = Results::read(Path::new("no-such-run")).unwrap_err();
        assert!(missing.to_string().contains("finish the run first"));
        let old = Results::parse(r#"{"dataset": "na", "metrics": {}}"#).unwrap_err();
        assert!(old.to_string().contains("another version of the programs"), "{old}");
    }

    #[test]
    fn remarks_are_put_into_the_pages_of_lost_runs() {
        let root = test_dir("report-remarks");
        fs::create_dir_all(root.join(PAGES)).unwrap();
        let (na, own) = (root.join(PAGES).join("na.md"), root.join(PAGES).join("own.md"));
        let write = |text: &str| fs::write(&na, text).unwrap();
        fs::write(&own, "# no page of ours\n").unwrap();
        write("# NA\n\nMade by x\n\n| a |\n|---|\n| 1 |\n\nold\n\n7 s in all.\n");
        assert_eq!(write_remarks(&root).unwrap(), std::slice::from_ref(&na));
        assert!(carries(&fs::read_to_string(&na).unwrap(), remarks("na")));
        assert!(write_remarks(&root).unwrap().is_empty(), "the second time there is nothing to do");
        write("nothing");
        assert!(write_remarks(&root).unwrap_err().to_string().contains("is no page of"));
    }

    #[test]
    fn a_page_of_uncommitted_code_or_embedded_data_must_be_asked_for() {
        let root = test_dir("report-allow");
        let write = |data: &str, commit: &str, dirty: &str| {
            let text = format!(
                r#"{{"format": 2, "title": "NA", "dataset": "na", "encoder": "pace", "data": "{data}", "data_note": "made up",
                "commit": {commit}, "dirty": {dirty}, "seed": 1, "threads": 2, "stages": [], "table": [], "metrics": {{}}}}"#
            );
            fs::write(root.join("results.json"), text).unwrap();
        };
        let page = root.join("docs/results/na.md");
        let none = Allow::default();
        let dirty = Allow { allow_dirty: true, ..none };
        let embedded = Allow { allow_embedded: true, ..none };
        for (data, commit, state, reason, allow) in [
            ("real", "\"abcdef0\"", "true", "changes that are in no commit", dirty),
            ("real", "\"abcdef0\"", "null", "do not say whether", dirty),
            ("real", "null", "null", "git did not know", dirty),
            ("embedded", "\"abcdef0\"", "false", "embedded data (made up)", embedded),
        ] {
            write(data, commit, state);
            let error = format!("{:#}", write_page(&root, &root, none).unwrap_err());
            assert!(error.contains(reason) && error.contains("or add --allow"), "{error}");
            assert!(!page.exists());
            assert_eq!(write_page(&root, &root, allow).unwrap(), page);
            fs::remove_file(&page).unwrap();
        }
        write("real", "\"abcdef0\"", "false");
        write_page(&root, &root, none).unwrap();
        assert!(fs::read_to_string(&page).unwrap().contains("commit abcdef0, real data: made up."));
    }
}
