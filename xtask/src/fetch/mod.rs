//! `cargo xtask fetch <id>`: downloads the public data of one dataset into `datasets/.cache/<id>/`.

mod download;
mod manifest;
mod part;
mod progress;
mod receive;
mod source;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;
use crate::root::workspace_root;
use crate::setup::Environment;
use download::{Outcome, Patience, download};
use manifest::{Dataset, Manifest, RemoteFile};
pub use part::sha256_of;
use source::{MIRROR_VARIABLE, Mirror, Source};

/// What a newcomer wants to know below the options.
const HELP: &str = "\
A download that was killed or cut off resumes where it stopped: give the same command again. A file gets its name only
when it is whole and its size and sha256 are those of the manifest; until then it is called NAME.part. A file with
another checksum is removed and the command fails.

A mirror holds the files as <mirror>/<dataset>/<path in the manifest>, so a copy of datasets/.cache is one. It is tried
before the address in the manifest and is held to the same checksums; what it lacks comes from upstream. PACE_MIRROR
names a mirror for all commands, --mirror \"\" ignores it.

Examples:
  cargo xtask fetch                                     list the datasets
  cargo xtask fetch nas101                              download one from its authors
  cargo xtask fetch nas101 --mirror https://example.org/pace
  cargo xtask fetch nas101 --mirror file:///mnt/usb/pace    a folder: no network at all
  cargo xtask fetch na --into ../shared/data            another folder; give it to --data or PACE_DATA later";

/// Which dataset, from where and whereto.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The dataset; without one, lists what there is
    id: Option<String>,
    /// Try this copy of the files first: http://, https:// or file:///folder [default: PACE_MIRROR, if set]
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
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
    let mirror = Mirror::chosen(args.mirror.as_deref(), std::env::var(MIRROR_VARIABLE).ok().as_deref())?;
    let dataset = manifest.dataset(id)?;
    if dataset.files.is_empty() {
        bail!("the manifest lists no files of {id}; datasets/{id}/README.md may say how to get them by hand");
    }
    let folder = args.into.clone().unwrap_or_else(|| root.join("datasets/.cache")).join(&dataset.id);
    eprintln!("fetch: {} ({})", dataset.title, dataset.licence);
    match fetch(dataset, &folder, mirror.as_ref())? {
        Done::Whole => Ok(()),
        // A mirror that needs no TLS was tried already.
        Done::NeedsTls => run_with_tls(id, args, mirror.filter(Mirror::needs_tls)),
    }
}

/// What came of a dataset.
enum Done {
    /// Every file is there.
    Whole,
    /// Some can only be had with TLS, which this build lacks.
    NeedsTls,
}

/// Downloads, verifies and unpacks every file of `dataset` below `folder`.
fn fetch(dataset: &Dataset, folder: &Path, mirror: Option<&Mirror>) -> Result<Done> {
    let mut done = Done::Whole;
    for file in &dataset.files {
        let target = folder.join(&file.path);
        match download(file, &sources(dataset, file, mirror), &target, Patience::default())? {
            Outcome::NeedsTls => {
                done = Done::NeedsTls;
                continue;
            }
            Outcome::AlreadyThere => eprintln!("fetch: {} is already there", target.display()),
            Outcome::Verified => eprintln!("fetch: {} is complete, checksum verified", target.display()),
            Outcome::Unverified { sha256 } => {
                eprintln!(
                    "fetch: {} is complete; the manifest knows no checksum, seen: sha256 {sha256}",
                    target.display()
                );
            }
        }
        if let Some(name) = &file.unpack_to {
            unpack::unpack(&target, &folder.join(name))?;
        }
    }
    Ok(done)
}

/// The mirror comes first: whoever names one has a reason.
fn sources(dataset: &Dataset, file: &RemoteFile, mirror: Option<&Mirror>) -> Vec<Source> {
    let mirror = mirror.map(|mirror| mirror.source(&dataset.id, file));
    mirror.into_iter().chain([Source::upstream(file)]).collect()
}

/// Builds this crate once more with TLS in it and lets that one do the rest of the work.
fn run_with_tls(id: &str, args: &Args, mirror: Option<Mirror>) -> Result<()> {
    eprintln!("fetch: building the https client (once, about a minute)");
    let mut command = cargo(&Environment::default());
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--features", "https", "--", "fetch", id]);
    command.arg("--mirror").arg(mirror.as_ref().map_or("", Mirror::base));
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
