//! [`read_npy`]: NumPy's format, versions 1.0 to 3.0.
//!
//! ```text
//! \x93NUMPY | u8 major | u8 minor | u16 or u32 length | {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } | numbers
//! ```

use std::io::Read;

use pace_graph::Vectors;

use super::{Number, in_file, read_numbers};
use crate::error::Error;

/// The longest header that is read; NumPy itself stops at 10,000 bytes.
const MAX_HEADER_BYTES: u32 = 1 << 16;

/// Reads a matrix of 32-bit or 64-bit floats, little-endian and row by row. A list of numbers becomes rows of one.
///
/// ```
/// let mut file = b"\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}\n".to_vec();
/// file.extend([1.0_f32, 2.0].into_iter().flat_map(f32::to_le_bytes));
/// let vectors = pace_formats::read_npy(&mut file.as_slice(), "my.npy")?;
/// assert_eq!(vectors.row(0), [1.0, 2.0]);
/// # Ok::<(), pace_formats::Error>(())
/// ```
///
/// # Errors
/// Another type or order, numbers that are not finite in 32 bits, or a file that ends early.
pub fn read_npy(reader: &mut dyn Read, file: &str) -> Result<Vectors, Error> {
    read(reader).map_err(|reason| in_file(reason, file))
}

fn read(reader: &mut dyn Read) -> Result<Vectors, Error> {
    let magic = exactly(reader, 8)?;
    let version = match magic.strip_prefix(b"\x93NUMPY") {
        Some(&[major, _]) => major,
        _ => return Err(Error::expected("an npy file", "other bytes at its start")),
    };
    let length = match version {
        1 => exactly(reader, 2)?,
        2 | 3 => exactly(reader, 4)?,
        _ => return Err(Error::syntax("npy version 1, 2 or 3", &version.to_string())),
    };
    let length = length.iter().rev().fold(0, |so_far, &byte| so_far << 8 | u32::from(byte));
    if length > MAX_HEADER_BYTES {
        let remedy = "save the array again without named fields";
        return Err(Error::TooMuch { what: "bytes of header", max: u64::from(MAX_HEADER_BYTES), remedy });
    }
    let header = String::from_utf8(exactly(reader, length as usize)?).map_err(|_| Error::NotUtf8)?;
    let number = match value(&header, "descr")?.trim_matches(['\'', '"']) {
        "<f4" => Number::F32,
        "<f8" => Number::F64,
        other => return Err(Error::syntax("numbers of type <f4 or <f8 (use astype)", other)),
    };
    if value(&header, "fortran_order")? != "False" {
        return Err(Error::expected("rows one after another (use numpy.ascontiguousarray)", "columns"));
    }
    let shape = value(&header, "shape")?;
    let sizes: Option<Vec<usize>> =
        shape.strip_prefix('(').and_then(|shape| shape.strip_suffix(')')).and_then(|shape| {
            shape.trim_end().trim_end_matches(',').split(',').map(|size| size.trim().parse().ok()).collect()
        });
    match sizes.as_deref() {
        Some(&[n_rows]) => read_numbers(reader, number, n_rows, 1),
        Some(&[n_rows, width]) => read_numbers(reader, number, n_rows, width),
        _ => Err(Error::syntax("an array of one or two dimensions", shape)),
    }
}

/// The value of a key of the header, which is a Python dictionary.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, Error> {
    let missing = || Error::syntax(format!("a header with '{key}'"), header.trim_end());
    let after = header.split_once(&format!("'{key}'")).ok_or_else(missing)?.1;
    let after = after.trim_start().strip_prefix(':').ok_or_else(missing)?.trim_start();
    let end = match after.strip_prefix('(') {
        Some(_) => after.find(')').map(|at| at + 1),
        None => after.find([',', '}']),
    };
    end.map(|end| after[..end].trim_end()).ok_or_else(missing)
}

fn exactly(reader: &mut dyn Read, n_bytes: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    reader.take(n_bytes as u64).read_to_end(&mut bytes).map_err(|source| Error::read(source, ""))?;
    let cut = Error::Truncated { place: "in the middle of the header".to_owned() };
    if bytes.len() < n_bytes { Err(cut) } else { Ok(bytes) }
}
