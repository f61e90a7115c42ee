//! `cargo xtask tidy`: what a reviewer would otherwise have to remember. Also a test of this crate.

mod commands;
mod links;
mod pages;
mod repository;
mod source;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::capture;
use crate::root::workspace_root;

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    /// Relative to the workspace.
    path: String,
    /// From 1; 0 means the whole file.
    line: usize,
    /// What is wrong and what to do.
    message: String,
}

impl Violation {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line, message: message.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// One file of the repository.
struct Entry {
    /// Relative to the workspace, with `/`.
    path: String,
    /// Size in bytes.
    size: u64,
    /// Its text; `None` if it is not UTF-8.
    text: Option<String>,
}

/// How strictly to check.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fail on result pages that are older than the code, too
    #[arg(long)]
    strict: bool,
}

/// Prints the broken rules and fails if there are any. A page is out of date as soon as somebody improves the code, which is
/// not their fault: unless asked to be strict, it only says so.
pub fn run(args: &Args) -> Result<()> {
    let Findings { violations, stale, notes } = check(&workspace_root())?;
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    stale.iter().for_each(|page| eprintln!("warning: {page}"));
    violations.iter().for_each(|violation| eprintln!("{violation}"));
    match violations.len() {
        0 if args.strict && !stale.is_empty() => bail!("{} pages of results are out of date", stale.len()),
        0 => Ok(()),
        n => bail!("{n} house rules broken; the reasons are in CONTRIBUTING.md"),
    }
}

/// What a check found.
#[derive(Debug, Default)]
struct Findings {
    /// Broken rules.
    violations: Vec<Violation>,
    /// Pages that are out of date.
    stale: Vec<Violation>,
    /// What could not be checked here.
    notes: Vec<Violation>,
}

/// Checks every file of the repository at `root`.
fn check(root: &Path) -> Result<Findings> {
    let entries = read(root, &list(root)?)?;
    let mut findings = pages::check(root, &entries)?;
    let violations = &mut findings.violations;
    violations.extend(repository::check(&entries));
    violations.extend(links::check(&entries));
    violations.extend(commands::check(&entries));
    for entry in entries.iter().filter(|entry| entry.path.ends_with(".rs")) {
        violations.extend(source::check(&entry.path, entry.text.as_deref().unwrap_or_default()));
    }
    Ok(findings)
}

/// The files that git tracks or would track; without git, all but the folders that git ignores.
fn list(root: &Path) -> Result<Vec<PathBuf>> {
    let git = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    if let Ok(listed) = capture(Command::new("git").current_dir(root).args(git)) {
        return Ok(listed.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect());
    }
    let mut files = Vec::new();
    walk(root, Path::new(""), &mut files)?;
    Ok(files)
}

fn walk(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    const IGNORED: [&str; 4] = [".git", "target", "runs", "datasets/.cache"];
    let folder = root.join(below);
    for entry in std::fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        match entry.file_type()? {
            kind if kind.is_dir() && IGNORED.iter().all(|ignored| path != Path::new(ignored)) => {
                walk(root, &path, files)?;
            }
            kind if kind.is_file() => files.push(path),
            _ => {}
        }
    }
    Ok(())
}

fn read(root: &Path, paths: &[PathBuf]) -> Result<Vec<Entry>> {
    let mut entries = Vec::with_capacity(paths.len());
    for path in paths {
        let full = root.join(path);
        // A file that git still lists may be deleted in the working tree.
        if full.is_file() {
            let bytes = std::fs::read(&full).with_context(|| format!("could not read {}", full.display()))?;
            let path = path.to_string_lossy().replace('\\', "/");
            entries.push(Entry { path, size: bytes.len() as u64, text: String::from_utf8(bytes).ok() });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    #[test]
    fn this_repository_is_tidy() {
        let violations = check(&workspace_root()).unwrap().violations;
        let shown: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(shown.is_empty(), "\n{}", shown.join("\n"));
    }

    #[test]
    fn without_git_the_folders_are_walked() {
        let root = test_dir("tidy-walk");
        for path in ["a.rs", "sub/b.rs", "target/c.rs", "datasets/.cache/d", "datasets/e"] {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let mut files = Vec::new();
        walk(&root, Path::new(""), &mut files).unwrap();
        files.sort();
        assert_eq!(files, ["a.rs", "datasets/e", "sub/b.rs"].map(PathBuf::from));
    }
}
