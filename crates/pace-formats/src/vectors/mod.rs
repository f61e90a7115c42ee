//! Vectors in files: Parquet is written, npy and safetensors are read. (`pace_train::embed::MatrixFile` writes the latter two.)

use std::io::Read;

use pace_graph::Vectors;

use crate::error::{Error, Place};

mod npy;
mod parquet;
mod safetensors;

pub use npy::read_npy;
pub use parquet::ParquetFile;
pub use safetensors::read_safetensors;

/// A type of numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    F32,
    F64,
}

/// Reads `n_rows` rows of `width` numbers. Memory grows with the bytes that arrive, not with what a header promises.
fn read_numbers(reader: &mut dyn Read, number: Number, n_rows: usize, width: usize) -> Result<Vectors, Error> {
    const CHUNK: usize = 1 << 16;
    if width == 0 {
        return Err(Error::expected("rows of at least one number", "rows of none"));
    }
    let size = if number == Number::F32 { 4 } else { 8 };
    let too_many = || Error::expected("as many numbers as fit the memory", format!("{n_rows} rows of {width}"));
    let mut missing = n_rows.checked_mul(width).filter(|n| n.checked_mul(size).is_some()).ok_or_else(too_many)?;
    let (mut values, mut bytes): (Vec<f32>, Vec<u8>) = (Vec::new(), Vec::new());
    while missing > 0 {
        let n_bytes = missing.min(CHUNK) * size;
        bytes.clear();
        (&mut *reader).take(n_bytes as u64).read_to_end(&mut bytes).map_err(|source| Error::read(source, ""))?;
        if bytes.len() < n_bytes {
            let n_whole = (values.len() + bytes.len() / size) / width;
            return Err(Error::Truncated { place: format!("after {n_whole} of {n_rows} rows") });
        }
        for chunk in bytes.chunks_exact(size) {
            let value = match number {
                Number::F32 => chunk.try_into().map(f32::from_le_bytes).map(f64::from),
                Number::F64 => chunk.try_into().map(f64::from_le_bytes),
            }
            .unwrap_or(f64::NAN);
            let narrow = value as f32;
            if !narrow.is_finite() {
                let (row, column) = (values.len() / width + 1, values.len() % width + 1);
                return Err(Error::BadNumber { row, column, value });
            }
            values.push(narrow);
        }
        missing -= bytes.len() / size;
    }
    Ok(Vectors::new(values, width))
}

/// Names the file in an error of a function that does not know it.
fn in_file(reason: Error, file: &str) -> Error {
    match reason {
        Error::Io { source, .. } => Error::Io { file: file.to_owned(), source },
        Error::At { reason, place, .. } => reason.at(file, place),
        reason => reason.at(file, Place::Whole),
    }
}
