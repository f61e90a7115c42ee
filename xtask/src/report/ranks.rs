//! The README's table: every system, and its rank on each page of encoders, beside its rank among the paper's numbers.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::PAGES;
use crate::root::write_atomically;

/// The pages, what the README calls their datasets, and whether less is better in their first column.
const COLUMNS: [(&str, &str, bool); 4] =
    [("na", "NA", true), ("bn", "BN", true), ("nas101", "NAS101", true), ("nas301", "NAS301", false)];
/// Where the table stands.
const START: &str = "<!-- ranks: made by `cargo xtask report` -->\n";
const END: &str = "<!-- /ranks -->";

/// A row of a page, as far as ranks go.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    title: &'a str,
    /// A control trains nothing and has no rank.
    is_control: bool,
    ours: Option<f64>,
    paper: Option<f64>,
}

/// The table of the pages that `read` gives by their dataset; `None` if there is none.
pub fn table(read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let texts: Vec<(&str, bool, String)> =
        COLUMNS.iter().filter_map(|(id, title, lower)| Some((*title, *lower, read(id)?))).collect();
    let pages: Vec<(&str, bool, Vec<Row<'_>>)> =
        texts.iter().map(|(title, lower, text)| (*title, *lower, rows(text))).collect();
    let longest = pages.iter().max_by_key(|(_, _, rows)| rows.len())?;
    let (mut head, mut line) = ("| system |".to_owned(), "|---|".to_owned());
    for (title, ..) in &pages {
        let _ = write!(head, " {title} |");
        line.push_str("---:|");
    }
    let mut table = format!("{head}\n{line}\n");
    for row in &longest.2 {
        let cells: String =
            pages.iter().map(|(_, lower, rows)| format!(" {} |", cell(row.title, *lower, rows))).collect();
        // A method without vectors is a row of some pages only.
        if !cells.chars().all(|c| " -|".contains(c)) {
            let _ = writeln!(table, "| {} |{cells}", row.title);
        }
    }
    Some(table)
}

/// The table of the pages below `root`.
pub fn of(root: &Path) -> Option<String> {
    table(|id| std::fs::read_to_string(root.join(PAGES).join(format!("{id}-encoders.md"))).ok())
}

/// The table that a README shows.
pub fn shown(readme: &str) -> Option<&str> {
    let start = readme.find(START)? + START.len();
    Some(&readme[start..start + readme[start..].find(END)?])
}

/// Puts the table into the README, if it has a place for it.
pub fn update(root: &Path) -> Result<()> {
    let path = root.join("README.md");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    let (Some(table), Some(old)) = (of(root), shown(&text)) else { return Ok(()) };
    let new = text.replacen(&format!("{START}{old}"), &format!("{START}{table}"), 1);
    write_atomically(&path, &new).with_context(|| format!("cannot write {}", path.display()))
}

/// The rows of the first table of a page: system, encoders, then the number that counts.
fn rows(page: &str) -> Vec<Row<'_>> {
    let lines = page.lines().skip_while(|line| !line.starts_with("| system |")).skip(2);
    lines.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [title, encoders, number, ..] = cells[..] else { return None };
    let (ours, paper) = (number.split([' ', '(']).next(), number.rsplit_once('(').map(|(_, paper)| paper));
    let parse = |text: Option<&str>| text?.trim_matches(['*', ')']).parse().ok();
    Some(Row { title, is_control: encoders == "-", ours: parse(ours), paper: parse(paper) })
}

/// Rank here, and in the paper; of a control how many systems it beats.
fn cell(title: &str, lower: bool, rows: &[Row<'_>]) -> String {
    let systems = || rows.iter().filter(|row| !row.is_control);
    let better = |a: f64, b: f64| if lower { a < b } else { a > b };
    let Some(row) = rows.iter().find(|row| row.title == title) else { return "-".to_owned() };
    let Some(ours) = row.ours else { return "-".to_owned() };
    let beaten_by = systems().filter_map(|other| other.ours).filter(|&other| better(other, ours)).count();
    if row.is_control {
        let n = systems().filter(|other| other.ours.is_some()).count();
        return format!("beats {} of {n}", n - beaten_by);
    }
    let in_paper = row.paper.map_or_else(String::new, |paper| {
        let ahead = systems().filter_map(|other| other.paper).filter(|&other| better(other, paper)).count();
        format!(" ({})", ahead + 1)
    });
    format!("{}{in_paper}", beaten_by + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    const NA: &str = "text\n| system | encoders | RMSE | seconds |\n|---|---:|---:|---:|\n\
        | PACE | 3 | 0.237 ± 0.003 (0.254) | 1 |\n| GCN | 1 | **0.120** (0.832) | 1 |\n| GIN | 1 | 0.3 | 2 |\n\
        | raw features | - | 0.170 | - |\n\nmore\n";
    const NAS301: &str = "| system | encoders | best |\n|---|---|---|\n| PACE | 3 | **94.9** (94.5) |\n\
        | local search | - | 94.8 |\n| GCN | 1 | 94.7 (94.6) |\n";

    #[test]
    fn ranks_here_and_in_the_paper() {
        let read = |id: &str| match id {
            "na" => Some(NA.to_owned()),
            "nas301" => Some(NAS301.to_owned()),
            _ => None,
        };
        let expected = "| system | NA | NAS301 |\n|---|---:|---:|\n| PACE | 2 (1) | 1 (2) |\n| GCN | 1 (2) | 2 (1) |\n\
            | GIN | 3 | - |\n| raw features | beats 2 of 3 | - |\n";
        assert_eq!(table(read).unwrap(), expected);
        assert_eq!(table(|_| None), None);
    }

    #[test]
    fn the_readme_gets_the_table() {
        let root = test_dir("report-ranks");
        std::fs::create_dir_all(root.join(PAGES)).unwrap();
        std::fs::write(root.join(PAGES).join("na-encoders.md"), NA).unwrap();
        std::fs::write(root.join("README.md"), format!("a\n{START}old\n{END}\nb\n")).unwrap();
        update(&root).unwrap();
        let text = std::fs::read_to_string(root.join("README.md")).unwrap();
        assert_eq!(shown(&text), of(&root).as_deref());
        assert!(text.starts_with("a\n") && text.ends_with("-->\nb\n") && !text.contains("old"));
    }
}
