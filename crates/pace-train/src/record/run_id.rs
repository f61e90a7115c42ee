//! [`RunId`]: what makes two runs the same.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What identifies a run. A folder that holds another run is not written to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunId {
    /// The dataset, e.g. `na`.
    pub dataset: String,
    /// The encoder, e.g. `pace`.
    pub encoder: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Worker threads: sums of floats depend on them.
    pub threads: usize,
    /// All settings.
    pub config: Value,
    /// The last commit that changed code, if git knows it: a run does not resume with outcomes of other code.
    pub commit: Option<String>,
    /// Whether the code held changes that are in no commit, if git knows. A dirty run may be resumed from a clean tree and the
    /// other way round, but once dirty it stays dirty.
    pub dirty: Option<bool>,
}

impl RunId {
    /// A run of this working tree.
    pub fn new(dataset: &str, encoder: &str, seed: u64, threads: usize, config: Value) -> RunId {
        let (dataset, encoder) = (dataset.to_owned(), encoder.to_owned());
        let here = Path::new(".");
        RunId { dataset, encoder, seed, threads, config, commit: commit(here), dirty: dirty(here) }
    }

    /// The text of `config.json`.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }

    /// This run, as it resumes the one whose `config.json` was found. The error is the text that should have been found.
    pub(super) fn resuming(self, found: &str) -> Result<RunId, String> {
        let earlier = serde_json::from_str::<RunId>(found).ok().and_then(|earlier| earlier.dirty);
        // The texts are compared and not the values, which lose bits of floats when they are read.
        let expected = RunId { dirty: earlier, ..self.clone() }.to_text();
        if expected != found {
            return Err(expected);
        }
        let dirty = match (earlier, self.dirty) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        Ok(RunId { dirty, ..self })
    }
}

/// The files that count as code, wherever they lie; `cargo xtask` asks git for the same ones.
const CODE: [&str; 4] = [":/*.rs", ":/*.toml", ":/*.lock", ":/*.bin"];

/// The last commit of the working tree that changed code; `None` without git. A commit that only changes documentation does
/// not keep a run from resuming.
fn commit(dir: &Path) -> Option<String> {
    git(dir, &["log", "-1", "--format=%H"]).map(|commit| commit.trim().to_owned()).filter(|commit| !commit.is_empty())
}

/// Whether code was changed, added or removed since the last commit; `None` without git. Files that git ignores do not count.
fn dirty(dir: &Path) -> Option<bool> {
    git(dir, &["--no-optional-locks", "status", "--porcelain", "--untracked-files=all"]).map(|list| !list.is_empty())
}

/// What git says about the code.
fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // A hook of git sets these for another folder.
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"].iter().for_each(|name| {
        command.env_remove(name);
    });
    let output = command.arg("-C").arg(dir).args(args).arg("--").args(CODE).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Runs git on a repository of a test.
    fn git_in(dir: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let output = command.arg("-C").arg(dir).args(author).args(args).output().expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn only_code_that_is_in_no_commit_is_dirt() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert_eq!((commit(dir), dirty(dir)), (None, None), "no repository");
        git_in(dir, &["init", "--quiet"]);
        for (name, text) in [(".gitignore", "/runs\n"), ("a.rs", ""), ("README.md", "")] {
            fs::write(dir.join(name), text).unwrap();
        }
        assert_eq!((commit(dir), dirty(dir)), (None, Some(true)), "nothing is committed");
        git_in(dir, &["add", "."]);
        git_in(dir, &["commit", "--quiet", "-m", "one"]);
        assert!(commit(dir).is_some() && dirty(dir) == Some(false));

        fs::write(dir.join("README.md"), "words").unwrap();
        fs::create_dir(dir.join("runs")).unwrap();
        fs::write(dir.join("runs/b.rs"), "").unwrap();
        assert_eq!(dirty(dir), Some(false), "documentation and ignored files");
        fs::create_dir(dir.join("sub")).unwrap();
        fs::write(dir.join("sub/c.rs"), "").unwrap();
        assert_eq!((dirty(dir), dirty(&dir.join("runs"))), (Some(true), Some(true)), "a new file, from anywhere");
        fs::remove_file(dir.join("sub/c.rs")).unwrap();
        fs::write(dir.join("a.rs"), "fn a() {}").unwrap();
        assert_eq!(dirty(dir), Some(true), "a change");
        git_in(dir, &["add", "."]);
        assert_eq!(dirty(dir), Some(true), "a change that is staged");
        git_in(dir, &["commit", "--quiet", "-m", "two"]);
        assert_eq!(dirty(dir), Some(false));
    }

    #[test]
    fn a_run_is_as_dirty_as_its_dirtiest_start() {
        let start = |dirty| RunId { dirty, ..RunId::new("na", "pace", 1, 2, serde_json::json!({"lr": 0.1 + 0.2})) };
        for (earlier, now, expected) in [
            (Some(false), Some(false), Some(false)),
            (Some(true), Some(false), Some(true)),
            (Some(false), Some(true), Some(true)),
            (None, Some(true), Some(true)),
            (None, Some(false), None),
            (Some(false), None, None),
        ] {
            let resumed = start(now).resuming(&start(earlier).to_text()).unwrap();
            assert_eq!(resumed.dirty, expected, "{earlier:?}, then {now:?}");
        }
        let other = RunId { seed: 2, ..start(Some(true)) };
        assert!(other.resuming(&start(Some(false)).to_text()).unwrap_err().contains("\"seed\": 2"));
    }
}
