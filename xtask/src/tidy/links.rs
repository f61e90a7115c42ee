//! Rules about links in Markdown: what they point to is there, the heading too.

use std::collections::{HashMap, HashSet};

use super::{Entry, Violation};
use crate::report::PAGES;

/// Remarks become parts of pages, so their links start from there.
const REMARKS: &str = "xtask/src/report/";

/// Checks the relative links of all Markdown files. Addresses on the network are left alone.
pub fn check(entries: &[Entry]) -> Vec<Violation> {
    let mut places: HashSet<&str> = HashSet::from([""]);
    for entry in entries {
        places.extend(entry.path.match_indices('/').map(|(at, _)| &entry.path[..at]));
        places.insert(&entry.path);
    }
    let pages = entries.iter().filter(|entry| entry.path.ends_with(".md"));
    let pages: Vec<(&str, &str)> = pages.filter_map(|entry| Some((&*entry.path, entry.text.as_deref()?))).collect();
    let anchors: HashMap<&str, HashSet<String>> = pages.iter().map(|(path, text)| (*path, anchors(text))).collect();
    let mut violations = Vec::new();
    for (path, text) in &pages {
        for (line, link) in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { Some((*path).to_owned()) } else { resolve(folder(path), file) };
            let is_there = target.as_deref().is_some_and(|target| places.contains(target));
            let known = target.as_deref().and_then(|target| anchors.get(target));
            if !is_there {
                violations.push(Violation::new(path, line, format!("{link} points to no file of the repository")));
            } else if !anchor.is_empty() && known.is_some_and(|known| !known.contains(anchor)) {
                violations.push(Violation::new(path, line, format!("{link} points to no heading of that file")));
            }
        }
    }
    violations
}

/// Where the relative links of a file start.
fn folder(path: &str) -> &str {
    if path.starts_with(REMARKS) { PAGES } else { path.rsplit_once('/').map_or("", |(folder, _)| folder) }
}

/// `file` as seen from `folder`; `None` if it leaves the repository.
fn resolve(folder: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines outside of fenced code, from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((index + 1, line))
    })
}

/// The relative targets of `[text](target)` and `[name]: target`, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // Every second piece is code.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let inline = plain.match_indices("](").filter_map(|(at, mark)| plain[at + mark.len()..].split(')').next());
        let definition = plain.starts_with('[').then(|| plain.split_once("]: ").map(|(_, target)| target)).flatten();
        for target in inline.chain(definition) {
            // A title may follow.
            let target = target.split_whitespace().next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// The anchors that GitHub makes of the headings.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let mut unique = anchor.clone();
        for count in 1.. {
            if anchors.insert(unique.clone()) {
                break;
            }
            unique = format!("{anchor}-{count}");
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let entry = |&(path, text): &(&str, &str)| Entry {
            path: path.to_owned(),
            size: text.len() as u64,
            text: Some(text.to_owned()),
        };
        let entries: Vec<Entry> = files.iter().map(entry).collect();
        check(&entries).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn files_folders_and_headings_are_found() {
        let readme = "# One `b`: two\n\n# Twice\n# Twice\n[a](docs/a.md) [b](docs) [c](#one-b-two) [d](docs/a.md#x_y \"title\")\n\
                      [e](#twice-1) [f](https://example.org/nowhere) `[g](nowhere)`\n```\n[h](nowhere)\n# No heading\n```\n[i]: docs/a.md";
        let good = [("README.md", readme), ("docs/a.md", "## x_y\n[up](../README.md#twice)")];
        assert!(found(&good).is_empty(), "{:?}", found(&good));
    }

    #[test]
    fn what_is_not_there_is_named() {
        let bad = "# A\n[a](b.md)\n[b](#b) and [c](../../x)\n```\n# B\n```\n[d]: gone.md";
        let lines: Vec<String> = found(&[("docs/a.md", bad)]);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("docs/a.md:2: b.md points to no file"), "{lines:?}");
        assert!(lines[1].contains("#b points to no heading"), "{lines:?}");
    }

    #[test]
    fn remarks_are_read_where_they_will_stand() {
        assert!(found(&[("xtask/src/report/na.md", "[a](bn.md)"), ("docs/results/bn.md", "")]).is_empty());
    }
}
