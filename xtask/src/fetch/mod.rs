//! `cargo xtask fetch <id>`: downloads the public data of one dataset into `datasets/.cache/<id>/`.

mod download;
mod manifest;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;
use crate::root::workspace_root;
use crate::setup::Environment;
use download::{Outcome, download, is_complete};
use manifest::{Dataset, Manifest};

/// Which dataset.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The dataset; without one, lists what there is
    id: Option<String>,
    /// What there is to download [default: datasets/manifest.json]
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Folder for the dataset's folder [default: datasets/.cache]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

/// Downloads what is missing, or lists the datasets.
pub fn run(args: &Args) -> Result<()> {
    let root = workspace_root();
    let manifest = Manifest::read(args.manifest.as_ref().unwrap_or(&root.join("datasets/manifest.json")))?;
    let Some(id) = &args.id else {
        manifest
            .datasets
            .iter()
            .for_each(|dataset| println!("{:8} {} ({})", dataset.id, dataset.title, dataset.licence));
        return Ok(());
    };
    let dataset = manifest.dataset(id)?;
    let folder = args.into.clone().unwrap_or_else(|| root.join("datasets/.cache")).join(&dataset.id);
    if !cfg!(feature = "https") && needs_tls(dataset, &folder) {
        return run_with_tls(id, args);
    }
    fetch(dataset, &folder)
}

/// Downloads, verifies and unpacks every file of `dataset` below `folder`.
fn fetch(dataset: &Dataset, folder: &Path) -> Result<()> {
    eprintln!("fetch: {} ({})", dataset.title, dataset.licence);
    for file in &dataset.files {
        let target = folder.join(&file.path);
        match download(file, &target)? {
            Outcome::AlreadyThere => eprintln!("fetch: {} is already there", target.display()),
            Outcome::Verified => eprintln!("fetch: {} is complete, checksum verified", target.display()),
            Outcome::Unverified { sha256 } => {
                eprintln!(
                    "fetch: {} is complete; upstream publishes no checksum, seen: sha256 {sha256}",
                    target.display()
                );
            }
        }
        if let Some(name) = &file.unpack_to {
            unpack::unpack(&target, &folder.join(name))?;
        }
    }
    Ok(())
}

fn needs_tls(dataset: &Dataset, folder: &Path) -> bool {
    dataset.files.iter().any(|file| file.url.starts_with("https:") && !is_complete(file, &folder.join(&file.path)))
}

/// Builds this crate once more with TLS in it and lets that one do the work.
fn run_with_tls(id: &str, args: &Args) -> Result<()> {
    eprintln!("fetch: building the https client (once, about a minute)");
    let mut command = cargo(&Environment::default());
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--features", "https", "--", "fetch", id]);
    for (flag, path) in [("--manifest", &args.manifest), ("--into", &args.into)] {
        if let Some(path) = path {
            // That one runs at the root of the workspace.
            command.arg(flag).arg(std::path::absolute(path)?);
        }
    }
    match command.status().context("could not start cargo")? {
        status if status.success() => Ok(()),
        _ => bail!("{id} was not fetched; the reason is above"),
    }
}
