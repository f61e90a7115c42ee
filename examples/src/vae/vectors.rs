//! The vectors of graphs, computed and kept.

use std::fs::File;
use std::io::BufWriter;

use anyhow::{Context, Result};
use burn::tensor::Device;
use pace_graph::Vectors;
use pace_model::DagTable;
use pace_train::embed::{MatrixFile, SHARD_GRAPHS, embed_all};
use pace_train::record::Run;

use super::pipeline::AnyVae;

/// The vectors of all graphs of a table.
pub fn latents(model: &AnyVae, table: &DagTable, device: &Device) -> Vectors {
    embed_all(table, SHARD_GRAPHS, device, |batch| model.embed(batch))
}

/// Writes vectors, the training graphs before the test graphs, as safetensors and npy.
///
/// # Errors
/// If a file cannot be written.
pub fn write_embeddings(run: &Run, train: &Vectors, test: &Vectors) -> Result<()> {
    let (n_rows, width) = (train.len() + test.len(), train.width());
    let create = |name: &str| {
        let path = run.path(name);
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        anyhow::Ok(BufWriter::new(file))
    };
    let mut tensors = MatrixFile::safetensors(create("embeddings.safetensors")?, "embeddings", n_rows, width)?;
    let mut npy = MatrixFile::npy(create("embeddings.npy")?, n_rows, width)?;
    for part in [train, test] {
        tensors.write(part.values())?;
        npy.write(part.values())?;
    }
    tensors.finish()?;
    npy.finish()?;
    Ok(())
}
