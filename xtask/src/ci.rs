//! `cargo xtask ci`: what a reviewer would run before merging.

use std::process::Command;

use anyhow::Result;
use clap::ValueEnum;

use crate::asm;
use crate::browser;
use crate::cargo::{cargo, run as run_command};
use crate::deny;
#[cfg(unix)]
use crate::faults;
use crate::fuzz;
use crate::mpi;
use crate::msrv;
#[cfg(unix)]
use crate::postgres;
use crate::python;
use crate::root::workspace_root;
use crate::sanitize;
use crate::setup::{self, Environment, Policy};
use crate::test;

/// Which steps to run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The steps, in the order to run them [default: fmt clippy test doc]
    #[arg(value_enum)]
    steps: Vec<Step>,
    #[command(flatten)]
    browser: browser::Options,
    #[command(flatten)]
    fuzz: fuzz::Options,
    #[command(flatten)]
    python: python::Options,
    #[command(flatten)]
    sanitize: sanitize::Options,
}

/// One step of the check.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Step {
    /// cargo fmt --check
    Fmt,
    /// cargo clippy, warnings are errors
    Clippy,
    /// cargo test (the house rules are among the tests)
    Test,
    /// cargo doc, warnings are errors
    Doc,
    /// Licences, versions and origins of all dependencies, by deny.toml; the first time it installs cargo-deny below target/
    Deny,
    /// The rust-version of Cargo.toml suffices for every dependency, and this toolchain is not older
    Msrv,
    /// cargo package of the library crates, each built from its package; the first time it builds Burn, which takes minutes
    Package,
    /// Read the machine code of the CPU kernels: loops on full vectors, no scalar multiply-adds, no gathers. Needs objdump
    Asm,
    /// Load a report in Chromium: it is silent, safe, narrow, dark and printable, and its maps answer. Installs chromium if missing
    Browser,
    /// Kill the programs, fill their disk, write what they write: nothing is lost. Takes minutes; a full disk wants root
    #[cfg(unix)]
    Faults,
    /// Searches by many processes on a PostgreSQL server, with kills and a restart. Installs postgresql if missing; the tests start
    /// a server of their own
    #[cfg(unix)]
    Postgres,
    /// Type-check the CUDA path of pace-model; needs neither a GPU nor the toolkit
    Cuda,
    /// Train and encode by 1, 2 and 4 processes of an MPI world: equal bits, also after a kill. Installs Open MPI if missing
    Mpi,
    /// Build the wheel, install it where nothing else is, and run the tests of the Python package beside the packages it works
    /// with. The first time it downloads PyTorch; --no-torch does without
    Python,
    /// The tests of pace-model on the ndarray device, which uses no fused kernel
    Ndarray,
    /// The tests of pace-model on a Vulkan device in software; a long build and slow tests. Wants Mesa 26 (Debian sid:
    /// mesa-vulkan-drivers): the shader compilers of 22.3 and 25.0 crash
    Vulkan,
    /// Fuzz every reader: ten million executions, guided by coverage, from seeds that our own writers make. Needs a C++ compiler
    Fuzz,
    /// The tests of nauty, readers and kernels under AddressSanitizer, of parallel code under ThreadSanitizer, and Miri if there
    /// is one; the first time it builds Burn twice
    Sanitize,
}

/// What runs when no step is named.
const USUAL: [Step; 4] = [Step::Fmt, Step::Clippy, Step::Test, Step::Doc];

/// Runs the steps and stops at the first that fails.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let environment = setup::ensure(policy)?;
    let steps = if args.steps.is_empty() { &USUAL } else { args.steps.as_slice() };
    for step in steps {
        eprintln!("ci: {}", step.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default());
        step.run(&environment, args, policy)?;
    }
    Ok(())
}

impl Step {
    /// Everything in the release profile: nauty's C code and the build scripts are then built once for all steps.
    fn run(self, environment: &Environment, args: &Args, policy: Policy) -> Result<()> {
        let mut command = cargo(environment);
        match self {
            Step::Fmt => {
                run_command(cargo(environment).args(["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"]))?;
                command.args(["fmt", "--all", "--check"])
            }
            Step::Clippy => {
                command.args(["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"])
            }
            Step::Test => return test::run_in(environment, &[]),
            Step::Doc => {
                command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--release", "--workspace", "--no-deps"])
            }
            Step::Deny => return deny::run(environment),
            Step::Msrv => return msrv::run(environment),
            Step::Package => package(&mut command),
            Step::Asm => return asm::run(environment),
            Step::Browser => return browser::run(environment, &args.browser, policy),
            #[cfg(unix)]
            Step::Faults => return faults::run(environment),
            #[cfg(unix)]
            Step::Postgres => return postgres::run(environment, policy),
            // The build script behind this feature fetches LLVM unless it believes to be building documentation; its
            // artefacts must not mix with real ones.
            Step::Cuda => command
                .env("DOCS_RS", "1")
                .env("CARGO_TARGET_DIR", workspace_root().join("target/cuda"))
                .args(["check", "--release", "--package", "pace-model", "--features", "cuda"]),
            Step::Mpi => return mpi::run(environment, policy),
            Step::Python => return python::run(environment, &args.python),
            Step::Ndarray => model_tests(&mut command, "ndarray", "ndarray"),
            Step::Vulkan => model_tests(&mut command, "vulkan", "vulkan:cpu"),
            Step::Fuzz => return fuzz::run(environment, &args.fuzz),
            Step::Sanitize => return sanitize::run(environment, &args.sanitize),
        };
        run_command(&mut command)
    }
}

/// Packages the library crates and builds each from its package. They share one folder, so that Burn is built once; a
/// reviewer packages before the commit, so the working tree may be dirty.
fn package(command: &mut Command) -> &mut Command {
    let stays_here = ["xtask", "pace-examples", "pace-checkout", "pace-py"];
    command
        .env("CARGO_TARGET_DIR", workspace_root().join("target/packages"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .args(["package", "--workspace", "--allow-dirty"])
        .args(stays_here.into_iter().flat_map(|package| ["--exclude", package]))
}

/// The tests of pace-model with one backend only, on the named device.
fn model_tests<'a>(command: &'a mut Command, feature: &str, device: &str) -> &'a mut Command {
    let arguments = ["test", "--release", "--package", "pace-model", "--tests", "--no-default-features", "--features"];
    command.env("PACE_TEST_DEVICE", device).args(arguments).arg(feature)
}
