//! Child processes: cargo with the set-up's environment, and anything else with errors that name the command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::root::workspace_root;
use crate::setup::Environment;

/// A cargo that runs at the root of the workspace with `environment`.
pub fn cargo(environment: &Environment) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace_root());
    // `cargo run` describes xtask to us in these variables. Build scripts that watch them (ring's does) would rebuild
    // each time a command goes through xtask and again each time it does not.
    for (name, _) in std::env::vars_os().filter(|(name, _)| describes_this_package(name)) {
        command.env_remove(name);
    }
    command.envs(environment.variables());
    command
}

fn describes_this_package(name: &OsStr) -> bool {
    const PREFIXES: [&str; 5] =
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_NAME", "CARGO_BIN_NAME", "CARGO_PRIMARY_PACKAGE"];
    name.to_str().is_some_and(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Builds one target, e.g. `["--bin", "na"]`, in the release profile, and returns the program.
///
/// Of the whole workspace, like the tests: a dependency's features are those that all selected packages ask for together,
/// so to select another package is to build Burn again.
pub fn build(environment: &Environment, target: [&str; 2]) -> Result<PathBuf> {
    build_and_find(environment, &target, |messages| executable(messages, target[1]))
}

/// [`build`] with a feature of one package more, e.g. `pace-cli/mpi`.
pub fn build_with(environment: &Environment, target: [&str; 2], feature: &str) -> Result<PathBuf> {
    let selection = [target[0], target[1], "--features", feature];
    build_and_find(environment, &selection, |messages| executable(messages, target[1]))
}

/// Builds the libraries of the workspace in the release profile, and returns the file of the named one, e.g. `pace_model`.
pub fn build_library(environment: &Environment, name: &str) -> Result<PathBuf> {
    build_and_find(environment, &["--lib"], |messages| library(messages, name))
}

/// Builds what is selected and looks for a file in cargo's messages, which name it whether or not it was new.
fn build_and_find(
    environment: &Environment,
    selection: &[&str],
    find: impl Fn(&str) -> Option<PathBuf>,
) -> Result<PathBuf> {
    let mut command = cargo(environment);
    command.args(["build", "--release", "--workspace", "--message-format", "json-render-diagnostics"]).args(selection);
    let shown = show(&command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({}); its messages are above", output.status);
    }
    find(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| format!("`{shown}` did not say where it put what it built"))
}

/// A program of ours that runs at the root of the workspace.
pub fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(workspace_root());
    command
}

/// The program of the named target in cargo's messages.
pub fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    about(messages, name).filter_map(|message| message["executable"].as_str().map(PathBuf::from)).last()
}

/// The file of the named library in cargo's messages; a target of that name may be a program, too.
fn library(messages: &str, name: &str) -> Option<PathBuf> {
    let files = about(messages, name).filter_map(|message| message["filenames"].as_array().cloned()).flatten();
    files.filter_map(|file| file.as_str().filter(|file| file.ends_with(".rlib")).map(PathBuf::from)).last()
}

/// Cargo's messages about the named target.
fn about<'a>(messages: &'a str, name: &'a str) -> impl Iterator<Item = serde_json::Value> + 'a {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.filter(move |message| message["target"]["name"] == name)
}

/// Runs a command that talks to the user; fails if it does.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| format!("could not start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status}); its messages are above");
    }
    Ok(())
}

/// Runs a command and returns what it printed; its complaints go into the error.
pub fn capture(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`{shown}` failed ({}): {}", output.status, last_lines(&complaint, 12));
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

/// The target triple of this machine, as rustc calls it.
pub fn host() -> Result<String> {
    let printed = capture(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` names no host")?;
    Ok(host.to_owned())
}

/// The command as one would type it.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn last_lines(text: &str, n_lines: usize) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(n_lines)..].join("\n")
}

/// Whether the arguments choose packages themselves, so that `--workspace` would contradict them.
pub fn choose_packages(args: &[OsString]) -> bool {
    let before_dashes = args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    before_dashes.into_iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"na"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"na"},"executable":"/somewhere/na"}
{"reason":"compiler-artifact","target":{"name":"bn"},"executable":"/somewhere/bn"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages, "na"), Some(PathBuf::from("/somewhere/na")));
        assert_eq!(executable(messages, "nas101"), None);
    }

    #[test]
    fn the_library_is_found_among_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"pace_model","kind":["lib"]},"filenames":["/t/libpace_model.rlib","/t/deps/libpace_model-1.rmeta"],"executable":null,"fresh":true}
{"reason":"compiler-artifact","target":{"name":"pace_graph","kind":["lib"]},"filenames":["/t/libpace_graph.rlib"],"executable":null}
{"reason":"build-finished","success":true}"#;
        assert_eq!(library(messages, "pace_model"), Some(PathBuf::from("/t/libpace_model.rlib")));
        assert_eq!(library(messages, "pace_train"), None);
    }
}
