//! One file over HTTP: resumed, verified, and visible under its name only when it is whole.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};

use super::manifest::RemoteFile;

/// How often a broken connection is taken up again before giving up.
const ATTEMPTS: u32 = 5;

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
}

/// Why one attempt failed. A failure that may pass is tried again and resumes where it stopped.
enum Trouble {
    Passing(anyhow::Error),
    Final(anyhow::Error),
}

/// Whether `target` is there and is what the manifest says.
pub fn is_complete(file: &RemoteFile, target: &Path) -> bool {
    let size_fits = std::fs::metadata(target).is_ok_and(|meta| file.bytes.is_none_or(|bytes| bytes == meta.len()));
    size_fits && file.sha256.as_ref().is_none_or(|wanted| sha256_of(target).is_ok_and(|seen| seen == *wanted))
}

/// Downloads `file` to `target` by way of `target.part`, which a later call takes up where this one stopped.
pub fn download(file: &RemoteFile, target: &Path) -> Result<Outcome> {
    if is_complete(file, target) {
        return Ok(Outcome::AlreadyThere);
    }
    let partial = partial_path(target);
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).with_context(|| {
            format!("could not make {}; check the path, the permissions and the free space", folder.display())
        })?;
    }
    let _lock = lock(&partial)?;
    if file.bytes.is_none() && file.sha256.is_none() {
        // Nothing would tell if it is a part of another version of the file.
        cut(&partial, 0)?;
    }
    let bar = progress_bar(file);
    let mut attempt = 1;
    loop {
        match receive(file, &partial, &bar) {
            Ok(()) => break,
            Err(Trouble::Passing(reason)) if attempt < ATTEMPTS => {
                // Not by the bar: it prints nothing without a terminal, and a log should say so too.
                bar.suspend(|| {
                    eprintln!("fetch: {}: {reason:#}; trying again ({attempt} of {ATTEMPTS})", file.path);
                });
                std::thread::sleep(Duration::from_millis(200 << attempt));
                attempt += 1;
            }
            Err(Trouble::Passing(reason)) => return Err(reason.context(offline_remedy(file, target))),
            Err(Trouble::Final(reason)) => return Err(reason.context(offline_remedy(file, target))),
        }
    }
    bar.finish_and_clear();
    let sha256 = verify(file, &partial)?;
    let synced = File::open(&partial).and_then(|file| file.sync_all());
    synced.and_then(|()| std::fs::rename(&partial, target)).with_context(|| {
        format!(
            "could not rename {} to {}; check the permissions and the free space",
            partial.display(),
            target.display()
        )
    })?;
    if let Some(folder) = target.parent().and_then(|folder| File::open(folder).ok()) {
        // Keeps the name through a crash. Some systems cannot sync folders.
        folder.sync_all().ok();
    }
    Ok(if file.sha256.is_some() { Outcome::Verified } else { Outcome::Unverified { sha256 } })
}

/// Keeps other processes from downloading the same file, as long as the handle lives.
fn lock(partial: &Path) -> Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(partial);
    let file = file.with_context(|| {
        format!("could not open {}; check the path, the permissions and the free space", partial.display())
    })?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("another process is downloading {}; wait until it has ended", partial.display());
    }
    Ok(file)
}

fn partial_path(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    target.with_file_name(name)
}

fn offline_remedy(file: &RemoteFile, target: &Path) -> String {
    format!(
        "could not download {} from {}; what has arrived is kept, so run the command again when there is a network, \
         or bring the file by other means and put it at {}",
        file.path,
        file.url,
        target.display()
    )
}

/// One request: the whole file, or the rest of it after what `partial` already holds.
fn receive(file: &RemoteFile, partial: &Path, bar: &ProgressBar) -> Result<(), Trouble> {
    let mut have = std::fs::metadata(partial).map_or(0, |meta| meta.len());
    if file.bytes.is_some_and(|bytes| have > bytes) {
        cut(partial, 0).map_err(Trouble::Final)?;
        have = 0;
    }
    if have > 0 && file.bytes == Some(have) {
        return Ok(());
    }
    let mut request = agent().get(&file.url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|error| Trouble::Passing(error.into()))?;
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let length = response.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match response.status().as_u16() {
        // A server that ignores the range sends everything: start over.
        200 => have = 0,
        206 if range.as_deref().and_then(range_start) == Some(have) => {}
        416 if range.as_deref().and_then(range_total) == Some(have) => return Ok(()),
        206 | 416 => {
            cut(partial, 0).map_err(Trouble::Final)?;
            return Err(Trouble::Passing(anyhow!("the server cannot continue at byte {have}, starting over")));
        }
        status @ (408 | 429 | 500..) => return Err(Trouble::Passing(anyhow!("the server answered {status}"))),
        status => return Err(Trouble::Final(anyhow!("the server answered {status}"))),
    }
    if length.is_none() && file.bytes.is_none() && file.sha256.is_none() {
        return Err(Trouble::Final(anyhow!(
            "neither the server nor the manifest says how large the file is, so a part could pass for the whole; add its \
             bytes or sha256 to datasets/manifest.json"
        )));
    }
    let total = length.map(|length| have + length);
    bar.set_length(total.or(file.bytes).unwrap_or(0));
    bar.set_position(have);
    cut(partial, have).map_err(Trouble::Final)?;
    let file = OpenOptions::new().append(true).open(partial);
    let mut file = file.with_context(|| format!("could not open {}", partial.display())).map_err(Trouble::Final)?;
    copy(&mut response.into_body().into_reader(), &mut file, partial, bar)?;
    match std::fs::metadata(partial).map_or(0, |meta| meta.len()) {
        now if total.is_some_and(|total| now < total) => {
            Err(Trouble::Passing(anyhow!("the connection broke off after {now} bytes")))
        }
        _ => Ok(()),
    }
}

/// Copies the body to the file; a failing network may pass, a full disk does not.
fn copy(body: &mut impl Read, file: &mut File, partial: &Path, bar: &ProgressBar) -> Result<(), Trouble> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n_bytes) => {
                let written = file.write_all(&buffer[..n_bytes]);
                let remedy = || format!("could not write {}; free some space", partial.display());
                written.with_context(remedy).map_err(Trouble::Final)?;
                bar.inc(n_bytes as u64);
            }
            Err(error) => return Err(Trouble::Passing(error.into())),
        }
    }
}

/// Shortens the file. It is never removed while it is downloaded: the lock is on it.
fn cut(partial: &Path, length: u64) -> Result<()> {
    let cut = OpenOptions::new().write(true).open(partial).and_then(|file| file.set_len(length));
    cut.with_context(|| format!("could not shorten {}", partial.display()))
}

/// The first byte of `bytes 100-199/200`.
fn range_start(range: &str) -> Option<u64> {
    range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}

/// The size in `bytes */200`.
fn range_total(range: &str) -> Option<u64> {
    range.rsplit_once('/')?.1.parse().ok()
}

/// Compares size and digest with the manifest. What does not fit is removed: resuming it could never succeed.
fn verify(file: &RemoteFile, partial: &Path) -> Result<String> {
    let sha256 = sha256_of(partial).with_context(|| format!("could not read {}", partial.display()))?;
    let size = std::fs::metadata(partial)?.len();
    let complaint = match (&file.sha256, file.bytes) {
        (Some(wanted), _) if *wanted != sha256 => format!("has sha256 {sha256}, but the manifest says {wanted}"),
        (_, Some(wanted)) if wanted != size => format!("has {size} bytes, but the manifest says {wanted}"),
        _ => return Ok(sha256),
    };
    std::fs::remove_file(partial)?;
    bail!(
        "{} from {} {complaint}; it was removed, so run the command again; if this repeats, upstream (or a proxy on the \
         way) has changed the file: compare with the dataset's README",
        file.path,
        file.url
    )
}

fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n_bytes => hasher.update(&buffer[..n_bytes]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Time limits on silence, not on the whole: a big file over a slow line is fine.
fn agent() -> ureq::Agent {
    let limit = Some(Duration::from_secs(30));
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_connect(limit);
    let config = config.timeout_recv_response(limit);
    // The machine's own certificates, because institutes put their proxies' there.
    #[cfg(feature = "https")]
    let config =
        config.tls_config(ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build());
    config.build().into()
}

fn progress_bar(file: &RemoteFile) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let bar = ProgressBar::new(file.bytes.unwrap_or(0)).with_message(file.path.clone());
    style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
}
