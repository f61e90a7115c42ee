//! The latents of a finished run of NA.

use std::error::Error;
use std::path::Path;

use pace_checkout::data_dir;
use pace_graph::dataset::Na;
use pace_graph::split_reference;
use pace_search::Matrix;

use crate::data::Data;

/// `embeddings.safetensors` of `cargo xtask reproduce na`: one tensor of 32-bit floats [19020, D], train rows before test
/// rows. The scores come from the table of NA.
pub fn read(path: &Path) -> Result<Data, Box<dyn Error>> {
    let na = data_dir(None).read(&Na::default(), "na", "final_structures6.txt", &mut |_| {})?;
    let split = split_reference(na.samples.len(), 0.9);
    let rows = [split.train.clone(), split.test].concat();
    let scores: Vec<f64> = na.targets(&rows).expect("NA has targets");
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let x = tensor(&bytes).ok_or_else(|| format!("{} holds no matrix called embeddings", path.display()))?;
    if x.nrows() != scores.len() {
        let counts = format!("{} rows, but NA has {}", x.nrows(), scores.len());
        return Err(format!("{}: {counts}; was the run on the embedded data?", path.display()).into());
    }
    Ok(Data::split(&x, &scores, split.train.len()))
}

/// The length of the header, the header as JSON, the numbers; all little-endian.
fn tensor(bytes: &[u8]) -> Option<Matrix> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (header, data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let header: serde_json::Value = serde_json::from_slice(header).ok()?;
    let shape: [usize; 2] = serde_json::from_value(header["embeddings"]["shape"].clone()).ok()?;
    let values: Vec<f64> = data.as_chunks().0.iter().map(|&value| f64::from(f32::from_le_bytes(value))).collect();
    let is_whole = shape[0].checked_mul(shape[1]) == Some(values.len());
    is_whole.then(|| Matrix::from_fn(shape[0], shape[1], |i, d| values[i * shape[1] + d]))
}
