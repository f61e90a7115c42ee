//! What git knows about the working tree and its history.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::cargo::capture;

/// The files that count as code, wherever they lie; the programs ask git for the same ones (`RunId` in pace-train).
const CODE: [&str; 4] = [":/*.rs", ":/*.toml", ":/*.lock", ":/*.bin"];

/// The code of a working tree.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// The last commit that changed code.
    commit: String,
    /// What is in no commit yet, as `git status --short` prints it.
    changes: Vec<String>,
}

impl Code {
    /// Errs if git does not know.
    pub fn at(root: &Path) -> Result<Code> {
        let commit = capture(git(root).args(["log", "-1", "--format=%H", "--"]).args(CODE))?.trim().to_owned();
        if commit.is_empty() {
            bail!("no commit of {} holds code", root.display());
        }
        let status = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=all", "--"];
        let changes = capture(git(root).args(status).args(CODE))?.lines().map(str::to_owned).collect();
        Ok(Code { commit, changes })
    }

    /// Errs if there is code that is in no commit.
    pub fn clean(&self) -> Result<()> {
        match self.changes.as_slice() {
            [] => Ok(()),
            [first, ..] => {
                bail!("{} files of code hold changes that are in no commit ({})", self.changes.len(), first.trim())
            }
        }
    }
}

/// The commits that lead to HEAD.
pub struct History<'a> {
    root: &'a Path,
    /// Whether old commits are missing.
    pub is_shallow: bool,
}

impl History<'_> {
    /// `None` without git, without a commit, and if another repository holds the folder.
    pub fn of(root: &Path) -> Option<History<'_>> {
        let ask = |args: &[&str]| capture(git(root).args(args)).ok().map(|answer| answer.trim().to_owned());
        ask(&["rev-parse", "--verify", "HEAD"])?;
        let is_top = ask(&["rev-parse", "--show-prefix"])?.is_empty();
        is_top.then_some(History { root, is_shallow: ask(&["rev-parse", "--is-shallow-repository"])? == "true" })
    }

    /// Whether the commit is HEAD or leads to it.
    pub fn holds(&self, commit: &str) -> bool {
        capture(git(self.root).args(["merge-base", "--is-ancestor", commit, "HEAD"])).is_ok()
    }

    /// The commits after `commit` that changed one of the paths, the newest first, each with its title.
    pub fn since(&self, commit: &str, paths: &[String]) -> Result<Vec<String>> {
        let range = format!("{commit}..HEAD");
        let log = capture(git(self.root).args(["log", "--format=%h %s", &range, "--"]).args(paths))?;
        Ok(log.lines().map(str::to_owned).collect())
    }
}

/// Git in a folder, whatever a hook that called us has set for another one.
fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command.arg("-C").arg(root);
    command
}

/// A repository of a test: makes it, changes files and commits them.
#[cfg(test)]
pub mod scratch {
    use std::path::{Path, PathBuf};

    use super::{capture, git};
    use crate::root::test_dir;

    /// A repository without commits.
    pub fn repository(name: &str) -> PathBuf {
        let root = test_dir(name);
        capture(git(&root).args(["init", "--quiet"])).unwrap();
        root
    }

    /// Writes a file and commits everything; returns the commit.
    pub fn commit(root: &Path, path: &str, text: &str) -> String {
        write(root, path, text);
        capture(git(root).args(["add", "."])).unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        capture(git(root).args(author).args(["commit", "--quiet", "-m", &format!("Change {path}")])).unwrap();
        capture(git(root).args(["rev-parse", "HEAD"])).unwrap().trim().to_owned()
    }

    /// Writes a file.
    pub fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A clone of the last commit only.
    pub fn shallow_clone(root: &Path, name: &str) -> PathBuf {
        let clone = test_dir(name);
        let source = format!("file://{}", root.display());
        capture(git(&clone).args(["clone", "--quiet", "--depth", "1", &source, "."])).unwrap();
        clone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    #[test]
    fn code_is_clean_until_a_file_of_it_changes() {
        assert!(Code::at(&test_dir("git-none")).is_err());
        let root = scratch::repository("git-clean");
        assert!(Code::at(&root).unwrap_err().to_string().contains("git"), "no commit");
        let first = scratch::commit(&root, "a.rs", "");
        scratch::commit(&root, "README.md", "");
        scratch::write(&root, "README.md", "words");
        let code = Code::at(&root).unwrap();
        assert_eq!(code.commit, first, "documentation is not code");
        code.clean().unwrap();
        scratch::write(&root, "sub/b.rs", "");
        let error = Code::at(&root).unwrap().clean().unwrap_err().to_string();
        assert!(error.contains("1 files of code") && error.contains("sub/b.rs"), "{error}");
    }

    #[test]
    fn a_folder_of_another_repository_has_no_history() {
        let root = scratch::repository("git-inside");
        assert!(History::of(&root).is_none(), "no commit yet");
        scratch::commit(&root, "sub/a.rs", "");
        assert!(History::of(&root).is_some_and(|history| !history.is_shallow));
        assert!(History::of(&root.join("sub")).is_none());
    }
}
