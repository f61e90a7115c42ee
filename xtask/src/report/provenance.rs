//! [`Provenance`]: the line of a page that says where its numbers come from.

use std::fmt;

use super::results::Results;

/// Digits of a commit that a page shows.
const DIGITS: usize = 12;
/// What a page begins its line with.
const MADE_BY: &str = "Made by `cargo xtask ";
const COMMIT: &str = ", commit ";
const UNKNOWN: &str = "unknown";
const DIRTY: &str = " with changes that are in no commit";
const UNSURE: &str = " (git did not say whether it was clean)";

/// Where the numbers of a page come from.
pub struct Provenance<'a> {
    results: &'a Results,
}

impl Provenance<'_> {
    pub fn of(results: &Results) -> Provenance<'_> {
        Provenance { results }
    }
}

impl fmt::Display for Provenance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Results { encoder, seed, threads, data, data_note, .. } = self.results;
        write!(
            f,
            "{MADE_BY}{}` and `cargo xtask report`; do not edit. Encoder {encoder}, seed {seed}, {threads} threads",
            command(self.results)
        )?;
        let commit = self.results.commit.as_deref().unwrap_or(UNKNOWN);
        let commit: String = commit.chars().take(DIGITS).collect();
        let state = match self.results.dirty {
            Some(false) => "",
            Some(true) => DIRTY,
            None => UNSURE,
        };
        write!(f, "{COMMIT}{commit}{state}, {data} data: {data_note}.")
    }
}

/// What somebody types to make the results.
fn command(Results { dataset, encoder, encoders, .. }: &Results) -> String {
    match dataset.as_str() {
        "speed" => "bench encoders".to_owned(),
        _ if encoders.is_empty() => format!("reproduce {dataset}"),
        _ => format!("reproduce {dataset} --encoder {encoder}"),
    }
}

/// The code that a page says it was made by.
#[derive(Debug, PartialEq, Eq)]
pub enum MadeBy<'a> {
    /// A commit as it is.
    Commit(&'a str),
    /// A commit and what somebody had changed since.
    Dirty(&'a str),
    /// Nobody knows which commit, or whether it was as it is.
    Unknown,
}

impl MadeBy<'_> {
    /// `None` if `cargo xtask report` did not make the page.
    pub fn read(page: &str) -> Option<MadeBy<'_>> {
        let line = page.lines().find(|line| line.starts_with(MADE_BY))?;
        let (_, commit) = line.split_once(COMMIT)?;
        let (commit, rest) = commit.split_at(commit.find([' ', ',']).unwrap_or(commit.len()));
        let is_hash = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(match rest {
            _ if !is_hash || rest.starts_with(UNSURE) => MadeBy::Unknown,
            _ if rest.starts_with(DIRTY) => MadeBy::Dirty(commit),
            _ => MadeBy::Commit(commit),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(commit: &str, dirty: &str) -> String {
        let text = format!(
            r#"{{"format": 2, "title": "NA", "dataset": "na", "encoder": "pace", "data": "real", "data_note": "ten, commit 3 graphs",
            "commit": {commit}, "dirty": {dirty}, "seed": 1, "threads": 2, "stages": [], "table": [], "metrics": {{}}}}"#
        );
        Provenance::of(&Results::parse(&text).unwrap()).to_string()
    }

    #[test]
    fn a_page_can_be_asked_for_its_commit() {
        let long = "\"0123456789abcdef\"";
        let page = format!("# NA\n\n{}\n\n| metric |\n", header(long, "false"));
        assert_eq!(MadeBy::read(&page), Some(MadeBy::Commit("0123456789ab")));
        assert_eq!(MadeBy::read(&header(long, "true")), Some(MadeBy::Dirty("0123456789ab")));
        assert_eq!(MadeBy::read(&header(long, "null")), Some(MadeBy::Unknown));
        assert_eq!(MadeBy::read(&header("null", "null")), Some(MadeBy::Unknown));
        assert_eq!(MadeBy::read("# Notes\n\nAt commit 0123456789ab we looked."), None);
    }
}
