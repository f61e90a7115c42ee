//! The vectors of graphs, computed and kept.

use anyhow::Result;
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
    let parts = [train.values(), test.values()];
    run.stream("embeddings.safetensors", |file| {
        let mut file = MatrixFile::safetensors(file, "embeddings", n_rows, width)?;
        parts.iter().try_for_each(|part| file.write(part))?;
        file.finish().map(drop)
    })?;
    run.stream("embeddings.npy", |file| {
        let mut file = MatrixFile::npy(file, n_rows, width)?;
        parts.iter().try_for_each(|part| file.write(part))?;
        file.finish().map(drop)
    })?;
    Ok(())
}
