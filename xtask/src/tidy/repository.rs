//! Rules about the repository as a whole: sizes, paths, the README and xtask's own dependencies.

use super::{Entry, Violation};

const MAX_BYTES: u64 = 500_000;
const MAX_ARCHITECTURE_LINES: usize = 199;
/// What a newcomer types; CI types the second.
const COMMANDS: [&str; 2] = ["cargo xtask reproduce nas101", "cargo xtask test"];
/// Folders of somebody's machine, in two halves so that this file does not contain them.
const HOMES: [&str; 4] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/Use", "rs/")];

/// Checks everything that is not about a single Rust file.
pub fn check(entries: &[Entry]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for entry in entries {
        if entry.size > MAX_BYTES {
            let message =
                format!("{} bytes, the limit is {MAX_BYTES}: data belongs in datasets/manifest.json", entry.size);
            violations.push(Violation::new(&entry.path, 0, message));
        }
        violations.extend(home_paths(&entry.path, entry.text.as_deref().unwrap_or_default()));
    }
    let text = |path: &str| entries.iter().find(|entry| entry.path == path).and_then(|entry| entry.text.as_deref());
    let n_lines = text("docs/ARCHITECTURE.md").map_or(0, |text| text.lines().count());
    if n_lines > MAX_ARCHITECTURE_LINES {
        violations.push(Violation::new(
            "docs/ARCHITECTURE.md",
            n_lines,
            "must stay under 200 lines, else nobody reads it",
        ));
    }
    let readme = text("README.md").unwrap_or_default();
    for command in COMMANDS.iter().filter(|command| !readme.lines().any(|line| line.trim() == **command)) {
        violations.push(Violation::new("README.md", 0, format!("must show `{command}` on a line of its own")));
    }
    violations.extend(xtask_dependencies(text("xtask/Cargo.toml").unwrap_or_default()));
    violations
}

/// Absolute paths that exist on one machine only.
fn home_paths(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for home in HOMES {
            // Not the middle of a longer path or of a URL.
            let starts_there = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/}>".contains(c));
            if line.match_indices(home).any(|(at, _)| starts_there(at)) {
                violations.push(Violation::new(path, index + 1, format!("{home}... exists on one machine only")));
            }
        }
    }
    violations
}

/// xtask must build on a machine on which the other crates cannot build yet.
fn xtask_dependencies(manifest: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut in_dependencies = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let name = if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_matches(['[', ']']);
            in_dependencies = section.ends_with("dependencies");
            section.split_once("dependencies.").map(|(_, name)| name)
        } else {
            line.split(['=', '.']).next().filter(|_| in_dependencies)
        };
        let name = name.unwrap_or_default().trim().trim_matches('"').to_ascii_lowercase();
        if ["burn", "pace-", "nauty"].iter().any(|kind| name.starts_with(kind)) {
            let message = format!("xtask must not depend on {name}: it sets up the machine that builds it");
            violations.push(Violation::new("xtask/Cargo.toml", index + 1, message));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, text: &str) -> Entry {
        Entry { path: path.to_owned(), size: text.len() as u64, text: Some(text.to_owned()) }
    }

    #[test]
    fn readme_commands() {
        assert_eq!(check(&[]).len(), 2);
        let readme = format!("```sh\n{}\n```", COMMANDS.join("\n"));
        assert!(check(&[entry("README.md", &readme)]).is_empty());
    }

    #[test]
    fn sizes() {
        let readme = entry("README.md", &COMMANDS.join("\n"));
        let big = Entry { path: "data.bin".to_owned(), size: 500_001, text: None };
        let long = entry("docs/ARCHITECTURE.md", &"x\n".repeat(200));
        let paths: Vec<String> = check(&[readme, big, long]).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["data.bin", "docs/ARCHITECTURE.md"]);
    }

    #[test]
    fn paths_of_one_machine() {
        for home in HOMES {
            assert_eq!(home_paths("a", &format!("see {home}me/x")).len(), 1);
            assert_eq!(home_paths("a", &format!("{home}x")).len(), 1);
            assert!(home_paths("a", &format!("https://example.org{home}x and my{home}x")).is_empty());
        }
    }

    #[test]
    fn dependencies_of_xtask() {
        let bad = "[package]\nname = \"xtask\"\n[dependencies]\nclap.workspace = true\nburn = \"1\"\npace-graph.workspace = true\n\
                   [dev-dependencies.nauty-Traces-sys]\nversion = \"1\"\n[features]\nburn = []";
        let lines: Vec<usize> = xtask_dependencies(bad).iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [5, 6, 7]);
    }
}
