//! `cargo xtask ci msrv`: the `rust-version` that we state is not too old, neither for this toolchain nor for a dependency.

use anyhow::{Context, Result, bail};

use crate::cargo::{capture, cargo};
use crate::metadata::Metadata;
use crate::setup::Environment;

/// Major, minor, patch.
type Version = [u64; 3];

/// Fails with the names of those that want a newer Rust.
pub fn run(environment: &Environment) -> Result<()> {
    let metadata = Metadata::read(None)?;
    let ours = metadata.member("xtask").and_then(|package| package.rust_version.clone());
    let ours = ours.context("Cargo.toml states no rust-version; add one below [workspace.package]")?;
    let (said, stated) = (capture(cargo(environment).arg("--version"))?, version(&ours)?);
    // `cargo 1.95.0 (f2d3ce0bd 2026-03-21)`
    let toolchain = said.split_whitespace().nth(1).with_context(|| format!("{said:?} names no version"))?;
    if version(toolchain)? < stated {
        bail!("this is Rust {toolchain}, but Cargo.toml states rust-version {ours}; `rustup update stable`");
    }
    let offenders = newer(&metadata, stated)?;
    if !offenders.is_empty() {
        bail!(
            "these want a newer Rust than the {ours} that Cargo.toml states: {}; state a newer one or keep older versions of \
             them by `cargo update --precise`",
            offenders.join(", ")
        );
    }
    let n_silent = metadata.packages.iter().filter(|package| package.rust_version.is_none()).count();
    println!(
        "msrv: {} packages build with Rust {ours} by what they say, {n_silent} of them say nothing; this is {toolchain}",
        metadata.packages.len()
    );
    Ok(())
}

/// The packages that want a newer Rust than `stated`.
fn newer(metadata: &Metadata, stated: Version) -> Result<Vec<String>> {
    let mut offenders = Vec::new();
    for package in &metadata.packages {
        if let Some(wanted) = &package.rust_version
            && version(wanted).with_context(|| format!("the rust-version of {}", package.name))? > stated
        {
            offenders.push(format!("{} {} (rust-version {wanted})", package.name, package.version));
        }
    }
    Ok(offenders)
}

/// `1.95` is `1.95.0`, and so is `1.95.0-nightly`.
fn version(text: &str) -> Result<Version> {
    let mut version = Version::default();
    let plain = text.split(['-', '+']).next().unwrap_or_default();
    for (index, part) in plain.split('.').enumerate() {
        let place = version.get_mut(index).with_context(|| format!("{text:?} is no version of Rust"))?;
        *place = part.parse().with_context(|| format!("{text:?} is no version of Rust"))?;
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version("1.95").unwrap(), [1, 95, 0]);
        assert_eq!(version("1.96.0-nightly").unwrap(), [1, 96, 0]);
        assert!(version("1.100").unwrap() > version("1.95.2").unwrap());
        assert!(version("stable").is_err() && version("1.2.3.4").is_err());
    }

    #[test]
    fn those_that_want_a_newer_rust_are_named() {
        let found = newer(&metadata::example(), [1, 95, 0]).unwrap();
        assert_eq!(found, ["linked 1.0.0 (rust-version 1.95.1)", "built 1.0.0 (rust-version 1.96)"]);
        assert!(newer(&metadata::example(), [1, 96, 0]).unwrap().is_empty());
    }
}
