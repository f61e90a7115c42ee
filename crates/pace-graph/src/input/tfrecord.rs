//! TFRecord frames: length, checksum of the length, payload, checksum of the payload.
//!
//! ```text
//! u64 length | u32 masked crc32c(length) | payload | u32 masked crc32c(payload)      (all little-endian)
//! ```

use std::io::{self, Read, Write};

use super::{MAX_ROW_BYTES, read_failed};
use crate::error::Error;

/// TensorFlow rotates and shifts its checksums, so that a checksum of data that holds checksums stays useful.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Reads record number `row` (from 1); `None` at the end of the file.
pub(crate) fn read_record(reader: &mut dyn Read, file: &str, row: usize) -> Result<Option<Vec<u8>>, Error> {
    let header = read_up_to(reader, 12, file, row)?;
    if header.is_empty() {
        return Ok(None);
    }
    let (length, crc) = header.split_at_checked(8).ok_or_else(|| cut(file, row, "in the length"))?;
    check(length, crc, file, row, "in the length")?;
    let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
    let n_bytes = usize::try_from(length).ok().filter(|&n_bytes| n_bytes <= MAX_ROW_BYTES);
    let n_bytes = n_bytes.ok_or_else(|| {
        Error::syntax(format!("a record of at most {MAX_ROW_BYTES} bytes"), &length.to_string()).at(file, row)
    })?;
    let payload = read_up_to(reader, n_bytes, file, row)?;
    if payload.len() < n_bytes {
        return Err(cut(file, row, "in the payload"));
    }
    let crc = read_up_to(reader, 4, file, row)?;
    check(&payload, &crc, file, row, "in the checksum")?;
    Ok(Some(payload))
}

/// Writes one record.
pub(crate) fn write_record(writer: &mut dyn Write, payload: &[u8]) -> io::Result<()> {
    let length = (payload.len() as u64).to_le_bytes();
    writer.write_all(&length)?;
    writer.write_all(&masked_crc(&length).to_le_bytes())?;
    writer.write_all(payload)?;
    writer.write_all(&masked_crc(payload).to_le_bytes())
}

/// Reads `n_bytes`, or fewer at the end of the file. Grows with what arrives, not with what is promised.
fn read_up_to(reader: &mut dyn Read, n_bytes: usize, file: &str, row: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    reader.take(n_bytes as u64).read_to_end(&mut bytes).map_err(|source| read_failed(source, file, row - 1))?;
    Ok(bytes)
}

fn check(bytes: &[u8], crc: &[u8], file: &str, row: usize, place: &str) -> Result<(), Error> {
    let stored = u32::from_le_bytes(crc.try_into().map_err(|_| cut(file, row, place))?);
    let found = masked_crc(bytes);
    if found == stored {
        return Ok(());
    }
    let hex = |crc: u32| format!("{crc:08x}");
    Err(Error::Checksum { file: file.to_owned(), row, expected: hex(stored), found: hex(found) })
}

fn cut(file: &str, row: usize, place: &str) -> Error {
    Error::Truncated { file: file.to_owned(), rows: row - 1, detail: format!("record {row} ends {place}") }
}
