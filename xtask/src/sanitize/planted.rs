//! Faults that are there on purpose: a sanitizer that does not find them finds nothing, and its silence means nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Sanitizer;
use crate::root::workspace_root;

/// Compiles the planted fault of a sanitizer, runs it under the settings of the suites, and errs if it goes unnoticed.
pub fn check(sanitizer: Sanitizer) -> Result<()> {
    let (name, source, flags, words) = match sanitizer {
        Sanitizer::Address => (
            "overflow",
            include_str!("planted_overflow.txt"),
            ["-Zsanitizer=address", "-Cdebuginfo=1"],
            "heap-buffer-overflow",
        ),
        Sanitizer::Thread => (
            "race",
            include_str!("planted_race.txt"),
            ["-Zsanitizer=thread", "-Cunsafe-allow-abi-mismatch=sanitizer"],
            "data race",
        ),
    };
    let folder = workspace_root().join("target/sanitize/planted");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (file, program) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&file, source).with_context(|| format!("cannot write {}", file.display()))?;
    let mut rustc = Command::new("rustc");
    rustc.env("RUSTC_BOOTSTRAP", "1").args(["--edition", "2024", "-O"]).args(flags).arg("-o").arg(&program).arg(&file);
    let compiled = rustc.output().context("could not start rustc")?;
    ensure!(compiled.status.success(), "rustc: {}", String::from_utf8_lossy(&compiled.stderr));
    let found = run(&program)?;
    ensure!(
        found.contains(words),
        "the planted {name} went unnoticed, so this sanitizer says nothing here; its output: {found}"
    );
    eprintln!("sanitize: {sanitizer:?} finds the planted {name}");
    Ok(())
}

/// What the program says, with the suppressions of the suites.
fn run(program: &Path) -> Result<String> {
    let suppressions = workspace_root().join("xtask/src/sanitize/tsan.supp");
    let options = format!("suppressions={}", suppressions.display());
    let output = Command::new(program).env("TSAN_OPTIONS", options).output();
    let output = output.with_context(|| format!("could not start {}", program.display()))?;
    ensure!(!output.status.success(), "the planted fault went unnoticed: {}", program.display());
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
