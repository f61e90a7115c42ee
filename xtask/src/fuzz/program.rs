//! The fuzz programs: built with libFuzzer's instrumentation, asked for their targets.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo::{capture, cargo, host, run};
use crate::root::workspace_root;
use crate::setup::Environment;

/// What cargo-fuzz passes to rustc, without a sanitizer: `cargo xtask ci sanitize` has that. No unstable flag is needed.
const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Ccodegen-units=1",
];

/// The program whose targets need Burn, and the feature that it needs.
pub const MODEL: &str = "model";

/// A program with several targets.
#[derive(Debug)]
pub struct Program(PathBuf);

/// One reader, as its program lists it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its part of all executions, relative to the others.
    pub share: u64,
    /// The longest input, in bytes.
    pub max_len: usize,
    /// The program that holds it.
    pub program: PathBuf,
}

impl Program {
    /// Builds the program `name`. With a target triple, because build scripts and macros must not be instrumented.
    pub fn build(environment: &Environment, name: &str) -> Result<Program> {
        let (host, folder) = (host()?, workspace_root().join("target/fuzz"));
        let mut command = cargo(environment);
        command.env("CARGO_TARGET_DIR", &folder).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f")).args([
            "build",
            "--release",
            "--manifest-path",
            "fuzz/Cargo.toml",
            "--target",
            &host,
            "--bin",
            name,
        ]);
        if name == MODEL {
            eprintln!("fuzz: building {name}; the first time it builds Burn, which takes minutes");
            command.args(["--features", MODEL]);
        }
        run(&mut command)?;
        Ok(Program(folder.join(host).join("release").join(name)))
    }

    /// The targets of the program.
    pub fn targets(&self) -> Result<Vec<Target>> {
        let listed = capture(Command::new(&self.0).env("PACE_FUZZ", "list"))?;
        listed.lines().map(|line| self.target(line)).collect()
    }

    fn target(&self, line: &str) -> Result<Target> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, share, max_len] = words[..] else { bail!("{} lists {line:?}", self.0.display()) };
        let wrong = || format!("{} lists {line:?}", self.0.display());
        let (share, max_len) = (share.parse().with_context(wrong)?, max_len.parse().with_context(wrong)?);
        Ok(Target { name: name.to_owned(), share, max_len, program: self.0.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_target_has_three_words() {
        let program = Program("/somewhere/readers".into());
        let target = program.target("json-lines 20 2048").unwrap();
        assert_eq!((target.name.as_str(), target.share, target.max_len), ("json-lines", 20, 2048));
        assert!(program.target("WARNING: nothing").is_err());
    }
}
