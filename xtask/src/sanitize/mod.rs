//! `cargo xtask ci sanitize`: the tests of unchecked code and of parallel code under the compiler's sanitizers, and Miri.
//!
//! The runtimes come with every toolchain; `RUSTC_BOOTSTRAP=1` lets a stable rustc use them. Each sanitizer has its own folder
//! below `target/sanitize`. Only what is linked into the tests is instrumented, not build scripts and macros, and not the
//! standard library, which comes compiled; `latch.rs` and `tsan.supp` say what that means for ThreadSanitizer. Each sanitizer first
//! has to find a fault that was planted (`planted.rs`).

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

mod latch;
mod planted;

use crate::cargo::{capture, cargo, host, show};
use crate::root::workspace_root;
use crate::setup::Environment;

/// What looks for faults while the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sanitizer {
    /// Reads and writes outside of what was allocated, also in nauty's C code.
    Address,
    /// Two threads at one place, one of them writing, without order between them.
    Thread,
}

/// Some tests of one package.
#[derive(Debug)]
struct Suite {
    sanitizer: Sanitizer,
    package: &'static str,
    /// The tests whose names contain one of these; all if there are none.
    tests: &'static [&'static str],
    /// Why these.
    why: &'static str,
}

/// Those without Burn first: they build in a minute or two.
const SUITES: [Suite; 6] = [
    Suite {
        sanitizer: Sanitizer::Address,
        package: "pace-graph",
        tests: &[],
        why: "nauty and Traces, and all readers",
    },
    Suite {
        sanitizer: Sanitizer::Thread,
        package: "pace-graph",
        tests: &["canon", "dag2seq", "dataset"],
        why: "rayon",
    },
    Suite {
        sanitizer: Sanitizer::Thread,
        package: "pace-search",
        tests: &["journal", "search_", "oracle_table", "dngo"],
        why: "journal, searches and surrogates on rayon",
    },
    Suite {
        sanitizer: Sanitizer::Address,
        package: "pace-model",
        tests: &["kernel", "parity", "message"],
        why: "the instructions behind the kernels",
    },
    Suite { sanitizer: Sanitizer::Thread, package: "pace-model", tests: &["kernel"], why: "kernels on rayon" },
    Suite {
        sanitizer: Sanitizer::Thread,
        package: "pace-train",
        tests: &["team", "fit", "embed"],
        why: "thread teams",
    },
];

/// Their code runs little in these tests, and takes most of the build if it is optimised.
const PLAIN: [&str; 14] = [
    "burn-flex",
    "burn-autodiff",
    "burn-core",
    "burn-dispatch",
    "gemm-common",
    "gemm-f16",
    "gemm-f32",
    "gemm-f64",
    "gemm-c32",
    "gemm-c64",
    "nano-gemm-f32",
    "nano-gemm-f64",
    "nano-gemm-c32",
    "nano-gemm-c64",
];

/// Options of `ci sanitize`.
#[derive(Debug, clap::Args)]
#[group(id = "sanitize")]
pub struct Options {
    /// sanitize: only this package; may be given several times. pace-graph and pace-search build without Burn
    #[arg(long = "sanitize", value_name = "PACKAGE")]
    packages: Vec<String>,
}

/// Runs all suites, then Miri; the error names the suites that failed.
pub fn run(environment: &Environment, options: &Options) -> Result<()> {
    let (mut lines, mut n_failed) = (Vec::new(), 0);
    let wanted =
        |suite: &&Suite| options.packages.is_empty() || options.packages.iter().any(|name| name == suite.package);
    for sanitizer in [Sanitizer::Address, Sanitizer::Thread] {
        if SUITES.iter().filter(wanted).any(|suite| suite.sanitizer == sanitizer) {
            planted::check(sanitizer)?;
        }
    }
    for suite in SUITES.iter().filter(wanted) {
        let outcome = suite.run(environment);
        n_failed += usize::from(outcome.is_err());
        let outcome = outcome.map_or_else(|error| format!("FAILED: {error:#}"), |n| format!("{n} tests passed"));
        lines.push(format!("sanitize: {:?} {} ({}): {outcome}", suite.sanitizer, suite.package, suite.why));
    }
    lines.push(miri(environment)?);
    lines.iter().for_each(|line| println!("{line}"));
    if n_failed > 0 {
        bail!("{n_failed} suites failed; the reports are above");
    }
    Ok(())
}

impl Suite {
    /// Runs the tests; returns how many passed.
    fn run(&self, environment: &Environment) -> Result<usize> {
        let mut command = self.command(environment)?;
        eprintln!("sanitize: {:?}: {}", self.sanitizer, show(&command));
        let output = command.stderr(Stdio::inherit()).output().context("could not start cargo")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let n_passed = passed(&text);
        match output.status.success() && n_passed > 0 {
            true => Ok(n_passed),
            false => {
                println!("{text}");
                bail!("{n_passed} tests passed, then {}", output.status)
            }
        }
    }

    fn command(&self, environment: &Environment) -> Result<Command> {
        let (host, root) = (host()?, workspace_root());
        let (folder, here) = (root.join("target/sanitize"), root.join("xtask/src/sanitize"));
        let mut command = cargo(environment);
        command
            .env("RUSTC_BOOTSTRAP", "1")
            // Frames with lines, and no more: full information doubles the build.
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_PROFILE_RELEASE_STRIP", "none")
            // More threads than this machine may have cores: races need company.
            .env("RAYON_NUM_THREADS", "4")
            // Many times slower than plain tests: fewer random cases, and no whole datasets.
            .env("PROPTEST_CASES", "32")
            .env("PACE_DATA", folder.join("no-data"))
            .args(["test", "--release", "--package", self.package, "--lib", "--test", "it", "--target", &host]);
        for package in PLAIN {
            command.args(["--config", &format!("profile.release.package.{package}.opt-level=1")]);
        }
        match self.sanitizer {
            Sanitizer::Address => command
                .env("CARGO_TARGET_DIR", folder.join("address"))
                .env("CARGO_ENCODED_RUSTFLAGS", "-Zsanitizer=address")
                // nauty's C code calls the same runtime: gcc and clang agree on its interface.
                .env(format!("CFLAGS_{}", host.replace('-', "_")), "-fsanitize=address -fno-omit-frame-pointer")
                // nauty defines some constants once per word size.
                .env("ASAN_OPTIONS", "detect_odr_violation=0")
                .env("LSAN_OPTIONS", format!("suppressions={}", here.join("lsan.supp").display())),
            Sanitizer::Thread => {
                let rayon = latch::copy(environment, &folder)?;
                // The copy of rayon-core would change the lock file.
                let lock = folder.join("Cargo.lock");
                std::fs::copy(root.join("Cargo.lock"), &lock).context("could not copy Cargo.lock")?;
                command
                    .env("CARGO_TARGET_DIR", folder.join("thread"))
                    .env("CARGO_ENCODED_RUSTFLAGS", "-Zsanitizer=thread\x1f-Cunsafe-allow-abi-mismatch=sanitizer")
                    .env("TSAN_OPTIONS", format!("suppressions={}", here.join("tsan.supp").display()))
                    .args(["-Zlockfile-path", "--config", &format!("resolver.lockfile-path='{}'", lock.display())])
                    .args(["--config", &format!("patch.crates-io.rayon-core.path='{}'", rayon.display())])
            }
        };
        command.arg("--").args(self.tests);
        if self.sanitizer == Sanitizer::Thread {
            // Or the harness's own threads are reported, too.
            command.arg("--test-threads=1");
        }
        Ok(command)
    }
}

/// How many tests passed, by the summaries of the test programs.
fn passed(text: &str) -> usize {
    let summaries = text.lines().filter_map(|line| line.split_once("test result: ").map(|(_, summary)| summary));
    let counts = summaries.filter_map(|summary| summary.split_once(". ")?.1.split(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

/// Miri interprets what it can: no C code, no files of other programs. It is a part of nightly toolchains only.
fn miri(environment: &Environment) -> Result<String> {
    if capture(Command::new("cargo").args(["+nightly", "miri", "--version"])).is_err() {
        return Ok(
            "sanitize: MIRI WAS NOT RUN: this machine has none; `rustup toolchain install nightly --component miri` \
                   brings it"
                .to_owned(),
        );
    }
    let mut command = Command::new("cargo");
    command
        .current_dir(workspace_root())
        .envs(environment.variables())
        .env("CARGO_TARGET_DIR", workspace_root().join("target/sanitize/miri"))
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .env("PROPTEST_CASES", "2")
        .args(["+nightly", "miri", "test", "--package", "pace-graph", "--lib", "--"])
        // Those that call neither nauty nor the file locks of the system.
        .args(["key", "csr", "vectors", "tree"]);
    eprintln!("sanitize: Miri: {}", show(&command));
    let output = command.stderr(Stdio::inherit()).output().context("could not start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.success() {
        true => Ok(format!("sanitize: Miri pace-graph (the library's own tests): {} tests passed", passed(&text))),
        false => {
            println!("{text}");
            bail!("Miri found a fault in pace-graph, or could not go on; its report is above")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_over_all_programs() {
        let text =
            "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 40 passed; 0 failed\n";
        assert_eq!(passed(text), 43);
        assert_eq!(passed("test result: FAILED. 2 passed; 1 failed"), 2);
        assert_eq!(passed("error: could not compile"), 0);
    }
}
