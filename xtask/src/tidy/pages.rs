//! Rules about docs/results: every page names a commit that everybody can look at, and its numbers are those of the code today.

use std::path::Path;

use anyhow::Result;

use super::{Entry, Findings, Violation};
use crate::git::History;
use crate::report::{ENCODERS, MadeBy, PAGES, carries, ranks, remarks};

/// What the numbers of a page depend on.
const CODE: [&str; 8] = [
    "Cargo.lock",
    "Cargo.toml",
    "crates/pace-graph/src",
    "crates/pace-model/src",
    "crates/pace-search/src",
    "crates/pace-search/weights",
    "crates/pace-train/src",
    "examples/src",
];
/// Commits that a warning names.
const SHOWN: usize = 5;

/// Checks the pages of the repository at `root`.
pub fn check(root: &Path, entries: &[Entry]) -> Result<Findings> {
    let mut findings = Findings::default();
    let pages: Vec<(&str, &Entry)> = entries.iter().filter_map(|entry| Some((page(&entry.path)?, entry))).collect();
    let ids: Vec<&str> = pages.iter().map(|(id, _)| *id).collect();
    let history = History::of(root);
    for (id, entry) in pages {
        let text = entry.text.as_deref().unwrap_or_default();
        let remake = format!("make it again by `cargo xtask reproduce {id} --fresh` and `cargo xtask report`");
        let say = |message: String| Violation::new(&entry.path, 0, message);
        let commit = match MadeBy::read(text) {
            Some(MadeBy::Commit(commit)) => commit,
            Some(MadeBy::Dirty(_)) => {
                findings
                    .violations
                    .push(say(format!("made by changes that are in no commit; commit them and {remake}")));
                continue;
            }
            Some(MadeBy::Unknown) => {
                findings.violations.push(say(format!("names no commit that made it; {remake} in a clone")));
                continue;
            }
            None => {
                findings
                    .notes
                    .push(say("no page of `cargo xtask report`: it does not say which code it is about".into()));
                continue;
            }
        };
        if !carries(text, remarks(id)) {
            let message =
                format!("its remarks differ from xtask/src/report/{id}.md; run `cargo xtask report` on its run");
            findings.stale.push(say(message));
        }
        match &history {
            None => findings.notes.push(say(format!("made by {commit}; without git nobody knows how old that is"))),
            Some(history) if history.holds(commit) => {
                let commits = history.since(commit, &determines(id, &ids))?;
                if !commits.is_empty() {
                    findings.stale.push(say(stale(commit, &commits, &remake)));
                }
            }
            Some(history) if history.is_shallow => findings.notes.push(say(format!(
                "made by {commit}, which this shallow clone does not hold; `git fetch --unshallow` to check it"
            ))),
            Some(_) => {
                let message =
                    format!("made by {commit}, which is not in the history of HEAD (rebased away?); {remake}");
                findings.violations.push(say(message));
            }
        }
    }
    let text_of = |path: &str| entries.iter().find(|entry| entry.path == path).and_then(|entry| entry.text.clone());
    let shown = text_of("README.md").and_then(|readme| ranks::shown(&readme).map(str::to_owned));
    let ranks = ranks::table(|id| text_of(&format!("{PAGES}/{id}-encoders.md")));
    if let (Some(shown), Some(ranks)) = (shown, ranks)
        && shown != ranks
    {
        let message =
            "its table of ranks differs from the pages of encoders; run `cargo xtask report` on one of their runs";
        findings.violations.push(Violation::new("README.md", 0, message));
    }
    Ok(findings)
}

/// The dataset of a page, by its path.
fn page(path: &str) -> Option<&str> {
    path.strip_prefix(PAGES)?.strip_prefix('/')?.strip_suffix(".md").filter(|id| !id.contains('/'))
}

/// The paths that determine the numbers of a page, for git: not what only the other pages need.
fn determines(id: &str, ids: &[&str]) -> Vec<String> {
    let mut paths: Vec<String> = CODE.iter().map(|&path| path.to_owned()).collect();
    // The page of a dataset and the one with all its encoders are made by the same program.
    let dataset = |id: &str| id.strip_suffix(ENCODERS).unwrap_or(id).to_owned();
    for other in ids.iter().map(|other| dataset(other)).filter(|other| *other != dataset(id)) {
        let program = "examples/src";
        paths.extend([
            format!(":(exclude){program}/{other}.rs"),
            format!(":(exclude){program}/{other}"),
            format!(":(exclude){program}/bin/{other}.rs"),
            format!(":(exclude)crates/pace-search/weights/{other}.bin"),
        ]);
    }
    paths
}

fn stale(commit: &str, commits: &[String], remake: &str) -> String {
    let shown: String = commits.iter().take(SHOWN).map(|line| format!("\n    {line}")).collect();
    let more = match commits.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!("\n    and {n} before"),
    };
    let n = commits.len();
    format!(
        "made by {commit}; since then {n} commits may have changed its numbers:{shown}{more}\n  {remake}, or all pages by \
         `cargo xtask reproduce all --fresh`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::scratch;
    use crate::root::test_dir;

    /// A page by that commit with the remarks of the dataset.
    fn text(id: &str, commit: &str) -> String {
        let remarks = remarks(id);
        format!(
            "# T\n\nMade by `cargo xtask reproduce {id}` and `cargo xtask report`; seed 1, commit {commit}, real.\n\n{remarks}"
        )
    }

    fn entry(id: &str, text: String) -> Entry {
        Entry { path: format!("docs/results/{id}.md"), size: text.len() as u64, text: Some(text) }
    }

    fn counts(root: &Path, entries: &[Entry]) -> (usize, usize, usize) {
        let Findings { violations, stale, notes } = check(root, entries).unwrap();
        (violations.len(), stale.len(), notes.len())
    }

    #[test]
    fn a_page_is_stale_once_the_code_of_its_numbers_changes() {
        let root = scratch::repository("pages-stale");
        let commit = scratch::commit(&root, "crates/pace-model/src/lib.rs", "");
        let pages = ["na", "bn", "nas101"].map(|id| entry(id, text(id, &commit[..12])));
        assert_eq!(counts(&root, &pages), (0, 0, 0));
        for path in ["README.md", "docs/results/na.md", "xtask/src/main.rs", "crates/pace-model/tests/a.rs"] {
            scratch::commit(&root, path, "new");
        }
        assert_eq!(counts(&root, &pages), (0, 0, 0), "none of these determines a number");
        scratch::commit(&root, "examples/src/nas101/mod.rs", "new");
        scratch::commit(&root, "examples/src/na.rs", "new");
        let stale: Vec<String> = check(&root, &pages).unwrap().stale.into_iter().map(|page| page.path).collect();
        assert_eq!(stale, ["docs/results/na.md", "docs/results/nas101.md"], "each program concerns its page");
        for round in 0..6 {
            scratch::commit(&root, "crates/pace-train/src/fit.rs", &round.to_string());
        }
        let findings = check(&root, &pages).unwrap();
        assert!(findings.violations.is_empty() && findings.stale.len() == 3);
        let message = &findings.stale[1].message;
        assert!(message.contains("6 commits") && message.contains("and 1 before"), "{message}");
        assert!(message.contains("Change crates/pace-train/src/fit.rs"), "{message}");
        assert!(message.contains("cargo xtask reproduce bn --fresh"), "{message}");
    }

    #[test]
    fn a_commit_that_nobody_can_look_at_breaks_the_rule() {
        let root = scratch::repository("pages-broken");
        let commit = scratch::commit(&root, "a.rs", "");
        let broken = ["0123456789ab", "unknown", &format!("{commit} with changes that are in no commit")];
        for state in broken {
            assert_eq!(counts(&root, &[entry("na", text("na", state))]), (1, 0, 0), "{state}");
        }
    }

    #[test]
    fn what_cannot_be_known_is_said_and_does_not_fail() {
        let root = scratch::repository("pages-deep");
        let first = scratch::commit(&root, "examples/src/na.rs", "");
        let last = scratch::commit(&root, "examples/src/na.rs", "new");
        let clone = scratch::shallow_clone(&root, "pages-shallow");
        assert_eq!(counts(&clone, &[entry("na", text("na", &first))]), (0, 0, 1));
        assert_eq!(counts(&clone, &[entry("na", text("na", &last))]), (0, 0, 0));
        assert_eq!(counts(&root, &[entry("na", text("na", &first))]), (0, 1, 0));
        let outside = test_dir("pages-no-git");
        assert_eq!(counts(&outside, &[entry("na", text("na", &first))]), (0, 0, 1));
        assert_eq!(counts(&root, &[entry("notes", "# Notes".to_owned())]), (0, 0, 1));
    }

    #[test]
    fn remarks_that_were_edited_since_are_found() {
        let root = scratch::repository("pages-remarks");
        let commit = scratch::commit(&root, "a.rs", "");
        assert_eq!(counts(&root, &[entry("na", text("na", &commit).replace("Read the raw row", "Read"))]), (0, 1, 0));
    }
}
