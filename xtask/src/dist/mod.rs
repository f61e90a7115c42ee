//! `cargo xtask dist`: one archive with programs that run without Rust, and without any library of the system if possible; and
//! the wheel of the Python package.

mod elf;
mod pack;
mod third_party;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cargo::{capture, cargo, executable, host, show};
use crate::metadata::{Metadata, Package};
use crate::python;
use crate::root::workspace_root;
use crate::setup::{self, Environment, Policy};
use pack::Archive;

/// What is packed: package and program.
const PROGRAMS: [(&str, &str); 1] = [("pace-cli", "pace")];
/// What goes beside the programs, from the root of the repository.
const PAPERS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// An archive above this is a mistake.
const MAX_BYTES: u64 = 30 << 20;

/// What a packager wants to know below the options.
const HELP: &str = "\
Writes target/dist/pace-VERSION-TARGET.tar.gz and its sha256. Inside: the programs, README.md, our licences, and
THIRD-PARTY.txt with the licences of everything that is linked. On Linux with glibc the programs are linked statically and
checked: they name no interpreter, so they run on any Linux of that processor.

Beside it lies the wheel of the Python package, for any Python from 3.10 on.

The build has flags of its own, so the first one compiles Burn again, which takes minutes.

Examples:
  cargo xtask dist              build, check and pack
  cargo xtask dist --dynamic    with the libraries of this system, e.g. where no static glibc is installed
  cargo xtask dist --wheel      only the wheel";

/// How to link.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Link to the libraries of this system; such a program runs on systems as new as this one
    #[arg(long)]
    dynamic: bool,
    /// Only the wheel of the Python package
    #[arg(long, conflicts_with = "dynamic")]
    wheel: bool,
}

/// Builds, checks, packs and prints the size.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    if !args.wheel {
        programs(args, policy)?;
    }
    wheel(policy)
}

/// Builds the wheel and puts it beside the archive.
fn wheel(policy: Policy) -> Result<()> {
    let built = python::wheel(&setup::ensure(policy)?)?;
    let out = workspace_root().join("target/dist");
    std::fs::create_dir_all(&out).with_context(|| format!("could not make {}", out.display()))?;
    let target = out.join(built.file_name().context("a wheel has a name")?);
    std::fs::copy(&built, &target).with_context(|| format!("could not write {}", target.display()))?;
    println!("dist: {}", target.display());
    Ok(())
}

fn programs(args: &Args, policy: Policy) -> Result<()> {
    let target = host()?;
    let metadata = Metadata::read(Some(&target))?;
    // Before the set-up: that may take a while.
    let packages = PROGRAMS.iter().map(|(package, _)| find(&metadata, package)).collect::<Result<Vec<_>>>()?;
    let environment = setup::ensure(policy)?;
    let is_static = !args.dynamic && target.ends_with("-linux-gnu");
    let mut files = Vec::new();
    for (package, program) in PROGRAMS {
        let path = build(&environment, &target, package, program, is_static)?;
        if is_static {
            must_be_static(&path)?;
        }
        files.push(path);
    }
    let root = workspace_root();
    files.extend(PAPERS.iter().map(|name| root.join(name)));
    let archive = Archive {
        name: format!("pace-{}-{target}", packages[0].version),
        files,
        third_party: third_party::describe(&metadata, &packages)?,
        time: commit_time(&root),
    };
    let packed = archive.write(&root.join("target/dist"), MAX_BYTES)?;
    println!("dist: {} ({:.1} MB), sha256 {}", packed.path.display(), packed.n_bytes as f64 / 1e6, packed.sha256);
    Ok(())
}

fn find<'a>(metadata: &'a Metadata, package: &str) -> Result<&'a Package> {
    metadata.member(package).with_context(|| {
        format!("this workspace has no package {package}, so there is no program to pack; add crates/{package} first")
    })
}

/// Builds one program, stripped, and returns where it lies.
///
/// The target is named although it is this machine: else the flags would hold for build scripts and macros too, and macros
/// cannot be linked statically.
fn build(environment: &Environment, target: &str, package: &str, program: &str, is_static: bool) -> Result<PathBuf> {
    let mut command = cargo(environment);
    command.args(["build", "--release", "--locked", "--package", package, "--bin", program, "--target", target]);
    command.args(["--message-format", "json-render-diagnostics"]).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    if is_static {
        command.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    let shown = show(&command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({}); its messages are above", output.status);
    }
    executable(&String::from_utf8_lossy(&output.stdout), program)
        .with_context(|| format!("`{shown}` did not say where it put {program}"))
}

/// Fails if the program wants a loader, and so the libraries of some system.
fn must_be_static(program: &Path) -> Result<()> {
    let bytes = std::fs::read(program).with_context(|| format!("could not read {}", program.display()))?;
    match elf::interpreter(&bytes).with_context(|| format!("{} is no program", program.display()))? {
        None => Ok(()),
        Some(interpreter) => bail!(
            "{} is linked dynamically: it wants {interpreter}; install the static glibc (Debian: libc6-dev has it), or \
             pack it as it is by --dynamic",
            program.display()
        ),
    }
}

/// Seconds since 1970 of the last commit, so that packing it twice gives the same bytes; 0 without git.
fn commit_time(root: &Path) -> u64 {
    let seconds = capture(Command::new("git").current_dir(root).args(["log", "-1", "--format=%ct"]));
    seconds.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;

    #[test]
    fn a_package_that_is_not_there_is_named() {
        let message = find(&metadata::example(), "pace-cli").unwrap_err().to_string();
        assert!(message.contains("no package pace-cli") && message.contains("add crates/pace-cli"), "{message}");
    }

    #[test]
    fn the_papers_are_there() {
        PAPERS.iter().for_each(|name| assert!(workspace_root().join(name).is_file(), "{name}"));
    }

    #[test]
    fn a_program_that_wants_a_loader_is_refused() {
        let dir = crate::root::test_dir("dist-static");
        std::fs::write(dir.join("dynamic"), elf::tests::program(Some("/lib64/ld.so"))).unwrap();
        std::fs::write(dir.join("static"), elf::tests::program(None)).unwrap();
        must_be_static(&dir.join("static")).unwrap();
        let message = must_be_static(&dir.join("dynamic")).unwrap_err().to_string();
        assert!(message.contains("wants /lib64/ld.so") && message.contains("--dynamic"), "{message}");
        std::fs::write(dir.join("text"), "#!/bin/sh").unwrap();
        assert!(must_be_static(&dir.join("text")).is_err());
    }
}
