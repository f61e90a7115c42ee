//! A dataset to a matrix, shard by shard: memory for a few shards, whatever the size of the dataset.
//!
//! ```
//! # use pace_graph::DagSpec;
//! # use pace_model::{DagTable, encoder::{GraphEncoder, PaceConfig}, device::device};
//! use pace_train::embed::{MatrixFile, embed};
//!
//! let (spec, config, device) = (DagSpec::nas101(), PaceConfig::mlm(), device("")?);
//! let dags = [spec.parse("input conv3x3-bn-relu output : 0>1 1>2")?];
//! let (encoder, table) = (config.init(&spec, 1, &device), DagTable::new(&dags, &config.layout(&spec)));
//! let mut file = MatrixFile::npy(Vec::new(), dags.len(), 64)?;
//! embed(&table, 1024, &device, |batch| encoder.embed(batch), |shard| file.write(shard))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::convert::Infallible;
use std::io::{self, Write};
use std::ops::Range;

use burn::tensor::{Device, Tensor};
use pace_graph::dataset::Ast;
use pace_graph::{Dag, Error as GraphError};
use pace_model::ast::{AstBatch, AstLayout, AstTable};
use pace_model::device::is_flex;
use pace_model::{DagBatch, DagTable, Layout};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::source::Source;

/// A good number of graphs per shard: the more graphs, the more nodes have an equal past and are computed once, until the
/// vectors of a shard no longer fit the caches.
pub const SHARD_GRAPHS: usize = 4096;

/// Shards per thread between two visits to the sink: enough that nobody waits long for the slowest.
const SHARDS_PER_THREAD: usize = 4;

/// Embeds all graphs of `source` in order and hands every shard of at most `batch_size` rows, row-major, to `sink`;
/// [`SHARD_GRAPHS`] is a good size for graphs of some ten nodes.
///
/// On the CPU every thread takes a shard through the whole model by itself, and all get as many of equal size; other devices
/// take one at a time. Nothing is differentiated: `device` is a plain one, and `model` computes with a
/// module without autodiff.
///
/// # Errors
/// The sink's.
pub fn embed<S: Source, E: Send>(
    source: &S,
    batch_size: usize,
    device: &Device,
    model: impl Fn(&S::Batch) -> Tensor<2> + Sync,
    sink: impl FnMut(&[f32]) -> Result<(), E>,
) -> Result<(), E> {
    let shard = |rows: Range<usize>| Ok(model(&source.batch(&rows.collect::<Vec<_>>(), device)));
    embed_shards(source.n_graphs(), batch_size, device, shard, sink)
}

/// [`embed`] for graphs that are embedded once: canonical order, mask and tensors of a shard are made with it.
///
/// # Errors
/// The sink's.
pub fn embed_dags<E: Send>(
    dags: &[Dag],
    layout: &Layout,
    batch_size: usize,
    device: &Device,
    model: impl Fn(&DagBatch) -> Tensor<2> + Sync,
    sink: impl FnMut(&[f32]) -> Result<(), E>,
) -> Result<(), E> {
    let shard = |rows: Range<usize>| Ok(model(&DagTable::new(&dags[rows], layout).whole(device)));
    embed_shards(dags.len(), batch_size, device, shard, sink)
}

/// [`embed_dags`] for syntax trees.
///
/// # Errors
/// The sink's, or a graph that is no tree of the layout.
pub fn embed_asts<E: Send + From<GraphError>>(
    asts: &[Ast],
    layout: &AstLayout,
    batch_size: usize,
    device: &Device,
    model: impl Fn(&AstBatch) -> Tensor<2> + Sync,
    sink: impl FnMut(&[f32]) -> Result<(), E>,
) -> Result<(), E> {
    let shard = |rows: Range<usize>| {
        let all: Vec<usize> = (0..rows.len()).collect();
        Ok(model(&AstTable::new(&asts[rows], *layout)?.batch(&all, device)))
    };
    embed_shards(asts.len(), batch_size, device, shard, sink)
}

/// Computes shards of rows, some at the same time, and hands them to the sink in order.
fn embed_shards<E: Send>(
    n_graphs: usize,
    batch_size: usize,
    device: &Device,
    shard: impl Fn(Range<usize>) -> Result<Tensor<2>, E> + Sync,
    mut sink: impl FnMut(&[f32]) -> Result<(), E>,
) -> Result<(), E> {
    let run = |rows: &Range<usize>| shard(rows.clone()).map(values);
    if !is_flex(device) {
        return shards(n_graphs, batch_size, 1).iter().try_for_each(|rows| sink(&run(rows)?));
    }
    let threads = rayon::current_num_threads();
    for window in shards(n_graphs, batch_size, threads).chunks(SHARDS_PER_THREAD * threads) {
        let rows: Vec<Vec<f32>> = window.par_iter().map(run).collect::<Result<_, E>>()?;
        rows.iter().try_for_each(|rows| sink(rows))?;
    }
    Ok(())
}

/// Cuts the graphs into shards of at most `most`, as even as can be: so many that `threads` get the same number.
fn shards(n_graphs: usize, most: usize, threads: usize) -> Vec<Range<usize>> {
    let count = n_graphs.div_ceil(most.max(1)).next_multiple_of(threads);
    let size = n_graphs.div_ceil(count.max(1)).max(1);
    (0..n_graphs).step_by(size).map(|first| first..n_graphs.min(first + size)).collect()
}

/// Embeds all graphs into one row-major buffer.
pub fn embed_all<S: Source>(
    source: &S,
    batch_size: usize,
    device: &Device,
    model: impl Fn(&S::Batch) -> Tensor<2> + Sync,
) -> Vec<f32> {
    let mut all = Vec::new();
    let Ok(()) = embed(source, batch_size, device, model, |shard| {
        all.extend_from_slice(shard);
        Ok::<(), Infallible>(())
    });
    all
}

fn values(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().convert::<f32>().try_to_vec().expect("converted to f32")
}

/// A matrix file whose rows are written as they come; the shape is told first.
#[derive(Debug)]
pub struct MatrixFile<W> {
    file: W,
    /// Numbers that are still to come.
    missing: usize,
}

impl<W: Write> MatrixFile<W> {
    /// NumPy's format, version 1.0, of 32-bit floats: `numpy.load` reads it.
    ///
    /// # Errors
    /// The writer's.
    pub fn npy(mut file: W, n_rows: usize, n_columns: usize) -> io::Result<MatrixFile<W>> {
        let shape = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
        // Magic, version and length are 10 bytes; the numbers start at a multiple of 64.
        let padding = 63 - (10 + shape.len()) % 64;
        let header = format!("{shape}{}\n", " ".repeat(padding));
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&(header.len() as u16).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        Ok(MatrixFile { file, missing: n_rows * n_columns })
    }

    /// The safetensors format with one tensor called `name`. It puts the header first, so a matrix can be streamed, which the
    /// `safetensors` crate does not offer.
    ///
    /// # Errors
    /// The writer's.
    pub fn safetensors(mut file: W, name: &str, n_rows: usize, n_columns: usize) -> io::Result<MatrixFile<W>> {
        let tensor = serde_json::json!({
            "dtype": "F32", "shape": [n_rows, n_columns], "data_offsets": [0, 4 * n_rows * n_columns]
        });
        let mut header = serde_json::json!({ name: tensor }).to_string();
        // The numbers start at a multiple of 8, as the format asks.
        header.push_str(&" ".repeat((8 - header.len() % 8) % 8));
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        Ok(MatrixFile { file, missing: n_rows * n_columns })
    }

    /// Writes the next rows.
    ///
    /// # Errors
    /// The writer's, or more rows than were announced.
    pub fn write(&mut self, shard: &[f32]) -> io::Result<()> {
        let too_many = || io::Error::new(io::ErrorKind::InvalidInput, "more rows than the header says");
        self.missing = self.missing.checked_sub(shard.len()).ok_or_else(too_many)?;
        let bytes: Vec<u8> = shard.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.file.write_all(&bytes)
    }

    /// Ends the file and gives the writer back.
    ///
    /// # Errors
    /// The writer's, or fewer rows than were announced.
    pub fn finish(mut self) -> io::Result<W> {
        if self.missing > 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "fewer rows than the header says"));
        }
        self.file.flush()?;
        Ok(self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::shards;

    #[test]
    fn shards_are_even_and_cover_the_graphs() {
        for (n_graphs, most, threads) in [(0, 8, 2), (1, 8, 2), (9, 8, 2), (19_020, 4096, 2), (100, 1, 3), (5, 0, 4)] {
            let shards = shards(n_graphs, most, threads);
            assert_eq!(shards.iter().map(ExactSizeIterator::len).sum::<usize>(), n_graphs);
            assert!(shards.iter().all(|rows| !rows.is_empty() && rows.len() <= most.max(1)));
            assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        assert_eq!(shards(19_020, 4096, 2).len(), 6);
    }
}
