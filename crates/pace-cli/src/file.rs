//! Files that appear whole or not at all, written by code with errors of its own.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use anyhow::{Context, Result};
use pace_graph::disk::stream_whole;

/// Writes a file piece by piece. Under its name it appears whole; if `write` fails, it does not.
///
/// # Errors
/// Those of `write`, or of the disk.
pub fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let mut failure = None;
    let written = stream_whole(path, |out| {
        write(out).map_err(|error| {
            failure = Some(error);
            io::Error::other("nothing is written")
        })
    });
    match failure {
        Some(error) => Err(error),
        None => {
            written.with_context(|| format!("cannot write {}; check the folder and the free space", path.display()))
        }
    }
}
