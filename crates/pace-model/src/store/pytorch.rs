//! Weights from PyTorch: `nn.Linear` stores [out, in], `nn.MultiheadAttention` packs its projections, blocks are layers.

use burn::module::Module;

use super::tensors::{Host, Tensors, fill};
use crate::Error;

/// Puts a PyTorch state dict, saved as safetensors, into `module`.
///
/// Names are the module's, with these differences:
///
/// | here | PyTorch |
/// |---|---|
/// | `stack.blocks.0` of an encoder, `blocks.0` of a decoder | `layers.0`, an `nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer` |
/// | `attention.{wqkv, bqkv, wo, bo}` | `self_attn.{in_proj_weight, in_proj_bias, out_proj.weight, out_proj.bias}` |
/// | `cross.{wq, bq}`, `cross.{wkv, bkv}` | the first, and the other two thirds of `multihead_attn.in_proj_{weight, bias}` |
/// | `feed_forward.{w1, b1, w2, b2}` | `linear1.{weight, bias}`, `linear2.{weight, bias}` |
/// | `norm_attention`, `norm_cross`, `norm_feed_forward` | `norm1`, `norm2`, and `norm3` (`norm2` in an encoder) |
/// | `embedding.{weight, bias}` | `embedding.op`, an `nn.Linear`, or `embedding.table`, an `nn.Embedding` |
/// | `position.{first, second}` | `position.{first, second}`, `nn.Linear` without bias |
/// | `edge_target`, `edge_source` | the left and right half of `edge_hidden`, an `nn.Linear(2D, D)` on `[target ; source]` |
/// | `stack.norm` | `norm` |
/// | other `weight` of two axes | the same name, transposed |
///
/// # Errors
/// As [`load_safetensors`](super::load_safetensors); names and shapes in messages are the file's.
pub fn load_pytorch<M: Module>(module: M, bytes: &[u8]) -> Result<M, Error> {
    let file = Tensors::from_bytes(bytes)?;
    let mut unused = file.0.clone();
    let mut ours = Tensors::default();
    for (name, target) in &Tensors::of(&module).0 {
        let source = source(name, &target.shape, &file);
        let Some(host) = file.0.get(&source.name) else { return Err(Error::MissingTensor { name: source.name }) };
        unused.remove(&source.name);
        ours.0.insert(name.clone(), source.take(host, &target.shape)?);
    }
    match unused.into_keys().next() {
        Some(name) => Err(Error::UnknownTensor { name }),
        None => fill(module, ours),
    }
}

/// Where a parameter comes from: a window of a tensor of the file, perhaps transposed.
struct Source {
    name: String,
    transposed: bool,
    /// First row of the window.
    row: usize,
    /// First column of the window.
    column: usize,
    /// Shape of the whole tensor in the file.
    whole: Vec<usize>,
}

impl Source {
    fn take(&self, host: &Host, shape: &[usize]) -> Result<Host, Error> {
        if host.shape != self.whole {
            let (found, expected) = (host.shape.clone(), self.whole.clone());
            return Err(Error::TensorShape { name: self.name.clone(), found, expected });
        }
        // One axis is a single column of the file.
        let (rows, columns) = if let &[rows, columns] = shape { (rows, columns) } else { (shape[0], 1) };
        let width = self.whole.get(1).copied().unwrap_or(1);
        let at = |row: usize, column: usize| {
            let (row, column) = if self.transposed { (column, row) } else { (row, column) };
            host.values[(self.row + row) * width + self.column + column]
        };
        let values = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Ok(Host { shape: shape.to_vec(), values: values.map(|(row, column)| at(row, column)).collect() })
    }
}

/// The source of the parameter `name` of shape `shape`.
fn source(name: &str, shape: &[usize], file: &Tensors) -> Source {
    let name = name.replace("stack.", "").replace("blocks.", "layers.");
    let (stem, leaf) = name.rsplit_once('.').unwrap_or(("", &name));
    let (above, module) = stem.rsplit_once('.').map_or(("", stem), |(above, module)| (above, module));
    let beside = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
    let transposed = shape.len() == 2;
    let whole: Vec<usize> = if transposed { shape.iter().rev().copied().collect() } else { shape.to_vec() };
    let same = |name: String| Source { name, transposed, row: 0, column: 0, whole: whole.clone() };
    let packed = |name: &str, parts: usize, first: usize| {
        let width = shape[shape.len() - 1] / parts;
        let mut whole = whole.clone();
        whole[0] = 3 * width;
        Source { row: first * width, whole, ..same(beside(name)) }
    };
    let is_decoder = file.0.contains_key(&beside("norm3.weight"));
    match (module, leaf) {
        ("attention", "wqkv") => same(beside("self_attn.in_proj_weight")),
        ("attention", "bqkv") => same(beside("self_attn.in_proj_bias")),
        ("attention", "wo") => same(beside("self_attn.out_proj.weight")),
        ("attention", "bo") => same(beside("self_attn.out_proj.bias")),
        ("cross", "wq") => packed("multihead_attn.in_proj_weight", 1, 0),
        ("cross", "bq") => packed("multihead_attn.in_proj_bias", 1, 0),
        ("cross", "wkv") => packed("multihead_attn.in_proj_weight", 2, 1),
        ("cross", "bkv") => packed("multihead_attn.in_proj_bias", 2, 1),
        ("cross", "wo") => same(beside("multihead_attn.out_proj.weight")),
        ("cross", "bo") => same(beside("multihead_attn.out_proj.bias")),
        ("feed_forward", "w1") => same(beside("linear1.weight")),
        ("feed_forward", "b1") => same(beside("linear1.bias")),
        ("feed_forward", "w2") => same(beside("linear2.weight")),
        ("feed_forward", "b2") => same(beside("linear2.bias")),
        (norm, "gamma" | "beta") => {
            let norm = match norm {
                "norm_attention" => "norm1",
                "norm_cross" => "norm2",
                "norm_feed_forward" if is_decoder => "norm3",
                "norm_feed_forward" => "norm2",
                other => other,
            };
            let leaf = if leaf == "gamma" { "weight" } else { "bias" };
            same(beside(&format!("{norm}.{leaf}")))
        }
        ("embedding", "weight") if file.0.contains_key(&format!("{stem}.table.weight")) => {
            Source { transposed: false, whole: shape.to_vec(), ..same(format!("{stem}.table.weight")) }
        }
        ("embedding", leaf) => same(format!("{stem}.op.{leaf}")),
        ("position", leaf) => same(format!("{stem}.{leaf}.weight")),
        ("edge_target" | "edge_source", "weight") => {
            let column = if module == "edge_target" { 0 } else { shape[0] };
            Source { column, whole: vec![shape[1], 2 * shape[0]], ..same(beside("edge_hidden.weight")) }
        }
        ("edge_target", leaf) => same(beside(&format!("edge_hidden.{leaf}"))),
        _ => same(name.clone()),
    }
}
