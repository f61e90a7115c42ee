//! One file from the first source that has it: resumed, verified, and visible under its name only when it is whole.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow};

use super::manifest::RemoteFile;
use super::part::{Part, is_complete};
use super::progress::Progress;
use super::receive::{Trouble, receive};
use super::source::Source;

/// What a download came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file was there before, whole.
    AlreadyThere,
    /// Downloaded; the checksum is the manifest's.
    Verified,
    /// Downloaded; the manifest knows no checksum.
    Unverified {
        /// The digest seen.
        sha256: String,
    },
    /// The next source speaks https, which this build does not.
    NeedsTls,
}

/// When to give up on a source.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How often a broken connection is taken up again.
    pub attempts: u32,
    /// Before the second attempt; doubled before each that follows.
    pub pause: Duration,
    /// How long a server may say nothing.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { attempts: 5, pause: Duration::from_millis(400), silence: Duration::from_secs(30) }
    }
}

/// Downloads `file` to `target` by way of `target.part`, which a later call takes up where this one stopped.
///
/// The sources are tried in their order. All are held to the size and the digest of the manifest.
pub fn download(file: &RemoteFile, sources: &[Source], target: &Path, patience: Patience) -> Result<Outcome> {
    if is_complete(file, target) {
        return Ok(Outcome::AlreadyThere);
    }
    let part = Part::of(target)?;
    let mut progress = Progress::new(&file.path, file.bytes);
    for (index, source) in sources.iter().enumerate() {
        if source.needs_tls() && !cfg!(feature = "https") {
            progress.finish();
            return Ok(Outcome::NeedsTls);
        }
        progress.say(&format!("from {source}"));
        match from_source(file, source, &part, patience, &mut progress) {
            Ok(sha256) => {
                progress.finish();
                part.publish(target)?;
                return Ok(if file.sha256.is_some() { Outcome::Verified } else { Outcome::Unverified { sha256 } });
            }
            Err(refused) if index + 1 < sources.len() => {
                progress.say(&format!("not from {source}: {:#}; trying the next source", refused.reason()));
                refused.clean(&part)?;
            }
            Err(refused) => return Err(refused.explain(file, source, part, target)),
        }
    }
    Err(anyhow!("nobody is known to have {}", file.path))
}

/// Why a source did not serve.
enum Refused {
    /// Something did not arrive.
    Incomplete(anyhow::Error),
    /// It arrived and is another file.
    Wrong(anyhow::Error),
}

/// Receives the file into the part and returns its digest.
///
/// A part of somebody else's that was continued may be the reason why the whole is wrong: then it starts over, once.
fn from_source(
    file: &RemoteFile,
    source: &Source,
    part: &Part,
    patience: Patience,
    progress: &mut Progress,
) -> Result<String, Refused> {
    if file.bytes.is_none() && file.sha256.is_none() {
        // Nothing would tell if it is a part of another version of the file.
        part.cut(0).map_err(Refused::Incomplete)?;
    }
    let resumes = part.len() > 0;
    patiently(file, source, part, patience, progress).map_err(Refused::Incomplete)?;
    match part.verify(file) {
        Err(wrong) if resumes => {
            progress.say(&format!("{wrong:#}; it continued an older part, so starting over"));
            part.cut(0).map_err(Refused::Incomplete)?;
            patiently(file, source, part, patience, progress).map_err(Refused::Incomplete)?;
            part.verify(file).map_err(Refused::Wrong)
        }
        verified => verified.map_err(Refused::Wrong),
    }
}

/// Takes up a broken connection again.
fn patiently(
    file: &RemoteFile,
    source: &Source,
    part: &Part,
    patience: Patience,
    progress: &mut Progress,
) -> Result<()> {
    let mut attempt = 1;
    loop {
        match receive(file, source, part, patience.silence, progress) {
            Ok(()) => return Ok(()),
            Err(Trouble::Passing(reason)) if attempt < patience.attempts => {
                progress.say(&format!("{reason:#}; trying again ({attempt} of {})", patience.attempts));
                std::thread::sleep(patience.pause * (1 << (attempt - 1)));
                attempt += 1;
            }
            Err(Trouble::Passing(reason) | Trouble::Final(reason)) => return Err(reason),
        }
    }
}

impl Refused {
    fn reason(&self) -> &anyhow::Error {
        match self {
            Refused::Incomplete(reason) | Refused::Wrong(reason) => reason,
        }
    }

    /// Leaves to the next source only what it may continue.
    fn clean(&self, part: &Part) -> Result<()> {
        match self {
            Refused::Incomplete(_) => Ok(()),
            Refused::Wrong(_) => part.cut(0),
        }
    }

    /// The error for the user, with what has become of the part and what to do.
    fn explain(self, file: &RemoteFile, source: &Source, part: Part, target: &Path) -> anyhow::Error {
        match self {
            Refused::Incomplete(reason) => reason.context(format!(
                "could not download {} from {source}; what has arrived is kept, so run the command again when there is \
                 a network, name a mirror with --mirror, or bring the file by other means and put it at {}",
                file.path,
                target.display()
            )),
            Refused::Wrong(reason) => match part.discard() {
                Ok(()) => anyhow!(
                    "{reason:#}; it came from {source} and was removed, so run the command again; if this repeats, \
                     upstream (or a proxy on the way) has changed the file: compare with the dataset's README"
                ),
                Err(kept) => kept.context(reason),
            },
        }
    }
}
