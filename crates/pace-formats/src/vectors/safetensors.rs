//! [`read_safetensors`]: one matrix of a safetensors file.

use std::io::{self, Read};

use pace_graph::Vectors;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::{Number, in_file, read_numbers};
use crate::error::{Error, shortened};

/// The longest header that is read, far above that of any model.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// Reads a matrix of 32-bit or 64-bit floats. `tensor` is its name; without one the file must hold one tensor only. A list of
/// numbers becomes rows of one. Other tensors are skipped and not held.
///
/// # Errors
/// No such tensor, another type, numbers that are not finite in 32 bits, or a file that ends early.
pub fn read_safetensors(reader: &mut dyn Read, file: &str, tensor: Option<&str>) -> Result<Vectors, Error> {
    read(reader, tensor).map_err(|reason| in_file(reason, file))
}

fn read(reader: &mut dyn Read, wanted: Option<&str>) -> Result<Vectors, Error> {
    let failed = |source| Error::read(source, "");
    let cut = || Error::Truncated { place: "in the middle of the header".to_owned() };
    let mut header = Vec::new();
    (&mut *reader).take(8).read_to_end(&mut header).map_err(failed)?;
    let length = u64::from_le_bytes(header.as_slice().try_into().map_err(|_| cut())?);
    if length > MAX_HEADER_BYTES {
        let remedy = "is the file safetensors?";
        return Err(Error::TooMuch { what: "bytes of header", max: MAX_HEADER_BYTES, remedy });
    }
    header.clear();
    (&mut *reader).take(length).read_to_end(&mut header).map_err(failed)?;
    if (header.len() as u64) < length {
        return Err(cut());
    }
    let header: Metadata = serde_json::from_slice(&header)
        .map_err(|error| Error::expected("the header of a safetensors file", error.to_string()))?;
    let tensors = header.tensors();
    let mut names: Vec<&str> = tensors.keys().map(String::as_str).collect();
    names.sort_unstable();
    let name = match (wanted, names.as_slice()) {
        (Some(name), _) if names.contains(&name) => name,
        (None, &[name]) => name,
        (wanted, _) => {
            let known = if names.is_empty() { "no tensors".to_owned() } else { listed(&names) };
            let expected = wanted
                .map_or("the name of a tensor, or a file with one".to_owned(), |name| format!("a tensor '{name}'"));
            return Err(Error::expected(expected, known));
        }
    };
    tensors.get(name).map_or_else(|| Err(Error::expected("a tensor", "none")), |info| matrix(reader, info))
}

fn matrix(reader: &mut dyn Read, info: &TensorInfo) -> Result<Vectors, Error> {
    let (number, size) = match info.dtype {
        Dtype::F32 => (Number::F32, 4),
        Dtype::F64 => (Number::F64, 8),
        other => return Err(Error::expected("numbers of type F32 or F64", format!("{other:?}"))),
    };
    let (n_rows, width) = match info.shape[..] {
        [n_rows] => (n_rows, 1),
        [n_rows, width] => (n_rows, width),
        _ => return Err(Error::expected("a tensor of one or two dimensions", format!("{:?}", info.shape))),
    };
    let (start, end) = info.data_offsets;
    let n_bytes = n_rows.checked_mul(width).and_then(|n| n.checked_mul(size));
    if end.checked_sub(start).is_none_or(|found| Some(found) != n_bytes) {
        return Err(Error::expected("offsets that fit the shape", format!("{start} to {end} for {:?}", info.shape)));
    }
    let skipped =
        io::copy(&mut (&mut *reader).take(start as u64), &mut io::sink()).map_err(|source| Error::read(source, ""))?;
    if skipped < start as u64 {
        return Err(Error::Truncated { place: "before the tensor".to_owned() });
    }
    read_numbers(reader, number, n_rows, width)
}

fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{}'", shortened(name))).collect();
    format!("{}{}", shown.join(", "), if names.len() > SHOWN { ", ..." } else { "" })
}
