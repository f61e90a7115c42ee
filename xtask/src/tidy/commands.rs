//! Rules about the commands that the documentation shows: our own still exist, with these options.

use clap::Parser;
use clap::error::ErrorKind;

use super::{Entry, Violation};

/// One command of a `sh` block.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// The file.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// The program and its arguments.
    pub words: Vec<String>,
}

/// Parses every `cargo xtask ...` of the documentation as xtask itself would.
pub fn check(entries: &[Entry]) -> Vec<Violation> {
    let refuse = |shown: Shown| {
        let reason = refusal(&shown.words)?;
        Some(Violation::new(&shown.path, shown.line, format!("`{}`: {reason}", shown.words.join(" "))))
    };
    shown(entries, &["cargo", "xtask"]).into_iter().filter_map(refuse).collect()
}

/// The commands in the `sh` blocks of all Markdown files that begin with the words of `program`, such as `["pace"]`.
pub fn shown(entries: &[Entry], program: &[&str]) -> Vec<Shown> {
    let pages = entries.iter().filter(|entry| entry.path.ends_with(".md"));
    let mut commands: Vec<Shown> = pages.flat_map(blocks).collect();
    commands.retain(|shown| shown.words.iter().map(String::as_str).take(program.len()).eq(program.iter().copied()));
    commands
}

/// All commands in the `sh` blocks of a file.
fn blocks(entry: &Entry) -> Vec<Shown> {
    let mut commands = Vec::new();
    let (mut in_block, mut open) = (false, None);
    for (index, line) in entry.text.as_deref().unwrap_or_default().lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = line.trim() == "```sh";
            continue;
        }
        if !in_block {
            continue;
        }
        // A backslash at the end continues the line.
        let (start, mut so_far) = open.take().unwrap_or((index + 1, String::new()));
        match line.strip_suffix('\\') {
            Some(begun) => {
                so_far.push_str(begun);
                open = Some((start, so_far));
            }
            None => {
                let parts = split(&(so_far + line)).into_iter();
                commands.extend(parts.map(|words| Shown { path: entry.path.clone(), line: start, words }));
            }
        }
    }
    commands
}

/// The commands of a line as lists of words: quotes keep a word together, `#` begins a comment, variables before a program
/// are dropped.
fn split(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut word, mut quote) = (vec![Vec::new()], None::<String>, None);
    for c in line.chars().chain([' ']) {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (' ' | '\t', None) => commands.last_mut().into_iter().for_each(|words| words.extend(word.take())),
            (';' | '|' | '&', None) => {
                commands.last_mut().into_iter().for_each(|words| words.extend(word.take()));
                commands.push(Vec::new());
            }
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    for words in &mut commands {
        let is_variable = |word: &String| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
        let n_variables = words.iter().take_while(|word| is_variable(word)).count();
        words.drain(..n_variables);
    }
    commands.retain(|words| !words.is_empty());
    commands
}

/// Why xtask would not take these words, which begin with `cargo xtask`.
fn refusal(words: &[String]) -> Option<String> {
    let error = crate::Cli::try_parse_from(&words[1..]).err()?;
    let asked_for_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let text = error.to_string();
    let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    (!asked_for_help).then(|| format!("{reason}; correct the command or the page"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn entry(text: &str) -> Entry {
        Entry { path: "a.md".to_owned(), size: text.len() as u64, text: Some(text.to_owned()) }
    }

    #[test]
    fn lines_become_commands() {
        let words = |line: &str| split(line).iter().map(|words| words.join("|")).collect::<Vec<_>>();
        assert_eq!(words("cargo xtask test  # all of 'em"), ["cargo|xtask|test"]);
        assert_eq!(
            words("A=1 cargo xtask fetch na --mirror \"\" && ls | wc"),
            ["cargo|xtask|fetch|na|--mirror|", "ls", "wc"]
        );
        assert_eq!(words("pace embed 'my graphs.txt' --x=1"), ["pace|embed|my graphs.txt|--x=1"]);
        assert!(words("# nothing").is_empty());
    }

    #[test]
    fn a_command_that_does_not_exist_is_named() {
        let page = "```sh\ncargo xtask test\ncargo xtask fetch \\\n  na --frobnicate\ncargo xtask --help\npace embed\n```\n\
                    ```\ncargo xtask other\n```\n    cargo xtask other";
        let found: Vec<String> = check(&[entry(page)]).iter().map(Violation::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a.md:3: `cargo xtask fetch na --frobnicate`: unexpected argument"), "{found:?}");
        assert_eq!(shown(&[entry(page)], &["pace"])[0].line, 6);
    }

    #[test]
    fn the_examples_of_our_own_help_are_right() {
        let command = crate::Cli::command();
        let helps = std::iter::once(&command).chain(command.get_subcommands()).filter_map(|one| one.get_after_help());
        let text = helps.map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let examples = text.lines().filter_map(|line| line.strip_prefix("  cargo xtask"));
        let mut n_examples = 0;
        for example in examples {
            // What it does follows after a wide gap.
            let line = format!("cargo xtask{}", example.split("   ").next().unwrap_or_default());
            assert_eq!(refusal(&split(&line)[0]), None, "{line}");
            n_examples += 1;
        }
        assert!(n_examples > 10);
    }
}
