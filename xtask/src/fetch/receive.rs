//! One attempt at one source: the whole file, or the rest of it after what the part already holds.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use super::manifest::RemoteFile;
use super::part::Part;
use super::progress::Progress;
use super::source::Source;

/// Why an attempt failed. A failure that may pass is tried again and resumes where it stopped.
pub enum Trouble {
    Passing(anyhow::Error),
    Final(anyhow::Error),
}

/// Receives what is missing. `silence` limits how long the other side may say nothing, not how long all of it takes: a big
/// file over a slow line is fine.
pub fn receive(
    file: &RemoteFile,
    source: &Source,
    part: &Part,
    silence: Duration,
    progress: &mut Progress,
) -> Result<(), Trouble> {
    if file.bytes.is_some_and(|bytes| part.len() > bytes) {
        part.cut(0).map_err(Trouble::Final)?;
    }
    let have = part.len();
    if have > 0 && file.bytes == Some(have) {
        return Ok(());
    }
    match source {
        Source::Http(url) => over_http(file, url, part, have, silence, progress),
        Source::File(path) => from_folder(path, part, have, progress).map_err(Trouble::Final),
    }
}

fn from_folder(path: &Path, part: &Part, have: u64, progress: &mut Progress) -> Result<()> {
    let say = || format!("could not read {}", path.display());
    let mut file = File::open(path).with_context(say)?;
    let total = file.metadata().with_context(say)?.len();
    // A longer part is none of this file.
    let have = if have <= total { have } else { 0 };
    part.cut(have)?;
    progress.start(have, Some(total));
    file.seek(SeekFrom::Start(have)).with_context(say)?;
    let mut out = part.append()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).with_context(say)? {
            0 => return Ok(()),
            n_bytes => write(&mut out, &buffer[..n_bytes], part, progress)?,
        }
    }
}

fn over_http(
    file: &RemoteFile,
    url: &str,
    part: &Part,
    mut have: u64,
    silence: Duration,
    progress: &mut Progress,
) -> Result<(), Trouble> {
    let mut request = agent(silence).get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|error| Trouble::Passing(error.into()))?;
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (range, length) = (header("content-range"), header("content-length").and_then(|value| value.parse().ok()));
    match response.status().as_u16() {
        // A server that ignores the range sends everything: start over.
        200 => have = 0,
        206 if range.as_deref().and_then(range_start) == Some(have) => {}
        416 if range.as_deref().and_then(range_total) == Some(have) => return Ok(()),
        206 | 416 => {
            part.cut(0).map_err(Trouble::Final)?;
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
    let total = length.map(|length: u64| have + length);
    progress.start(have, total.or(file.bytes));
    part.cut(have).map_err(Trouble::Final)?;
    copy(response.into_body().into_reader(), part, silence, progress)?;
    match part.len() {
        now if total.is_some_and(|total| now < total) => {
            Err(Trouble::Passing(anyhow!("the connection broke off after {now} bytes")))
        }
        _ => Ok(()),
    }
}

/// Copies the body to the part; a failing network may pass, a full disk does not.
///
/// Another thread reads, because the client limits either the whole body or nothing. If the server falls silent, that thread
/// is left to its socket.
fn copy(
    mut body: impl Read + Send + 'static,
    part: &Part,
    silence: Duration,
    progress: &mut Progress,
) -> Result<(), Trouble> {
    let (sender, pieces) = sync_channel(16);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let piece = match body.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                piece => piece.map(|n_bytes| buffer[..n_bytes].to_vec()),
            };
            let is_last = piece.as_ref().map_or(true, Vec::is_empty);
            if sender.send(piece).is_err() || is_last {
                break;
            }
        }
    });
    let mut out = part.append().map_err(Trouble::Final)?;
    loop {
        match pieces.recv_timeout(silence) {
            Ok(Ok(piece)) if piece.is_empty() => return Ok(()),
            Ok(Ok(piece)) => write(&mut out, &piece, part, progress).map_err(Trouble::Final)?,
            Ok(Err(error)) => return Err(Trouble::Passing(error.into())),
            Err(RecvTimeoutError::Timeout) => {
                let limit = silence.as_secs_f64();
                return Err(Trouble::Passing(anyhow!("the server has sent nothing for {limit:.0} s")));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Passing(anyhow!("the connection broke off"))),
        }
    }
}

fn write(out: &mut File, piece: &[u8], part: &Part, progress: &mut Progress) -> Result<()> {
    let remedy = || format!("could not write {}; free some space", part.path().display());
    out.write_all(piece).with_context(remedy)?;
    progress.add(piece.len() as u64);
    Ok(())
}

/// The first byte of `bytes 100-199/200`.
fn range_start(range: &str) -> Option<u64> {
    range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}

/// The size in `bytes */200`.
fn range_total(range: &str) -> Option<u64> {
    range.rsplit_once('/')?.1.parse().ok()
}

fn agent(silence: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_connect(Some(silence));
    let config = config.timeout_recv_response(Some(silence));
    // The machine's own certificates, because institutes put their proxies' there.
    #[cfg(feature = "https")]
    let config =
        config.tls_config(ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build());
    config.build().into()
}
