//! [`embed`]: the vectors of a dataset, shard by shard. Needs memory for a few shards, however large the dataset is.
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
use std::ops::Range;

use burn::tensor::{Device, Tensor};
use pace_graph::dataset::Ast;
use pace_graph::{Dag, Error as GraphError, Vectors};
use pace_model::ast::{AstBatch, AstLayout, AstTable};
use pace_model::device::is_flex;
use pace_model::{DagBatch, DagTable, Layout};
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice, ParallelSliceMut};

use crate::source::Source;

mod matrix_file;

pub use matrix_file::MatrixFile;

/// A good number of graphs per shard. Large shards share more work, because nodes with equal pasts are computed once; the
/// data of a shard of this size still fits the caches.
pub const SHARD_GRAPHS: usize = 2048;

/// Shards per thread between two calls of the sink: enough that threads do not wait long for the slowest, and that many
/// graphs begin alike.
const SHARDS_PER_THREAD: usize = 8;

/// Embeds all graphs of `source` and passes the vectors to `sink` in order, row-major, at most `batch_size` at a time.
/// [`SHARD_GRAPHS`] is a good size for graphs of about ten nodes.
///
/// On the CPU every thread takes its own shards through the whole model; all threads get equally many, of equal size. Other
/// devices take one shard at a time. Graphs that begin alike go into the same shard ([`Source::order`]). There are no
/// gradients: `device` is a plain one, and `model` has no autodiff.
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
    let window = |rows: Range<usize>| {
        let order = source.order(rows.clone()).into_iter().map(|row| row - rows.start).collect();
        (order, rows.start)
    };
    let shard = |first: &usize, rows: &[usize]| {
        let rows: Vec<usize> = rows.iter().map(|row| first + row).collect();
        Ok(model(&source.batch(&rows, device)))
    };
    embed_windows(source.n_graphs(), batch_size, device, window, shard, sink)
}

/// [`embed`] for graphs that are embedded only once: tables are made window by window, and not kept.
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
    let window = |rows: Range<usize>| {
        let table = DagTable::new(&dags[rows], layout);
        (table.alike(0..table.len()), table)
    };
    let shard = |table: &DagTable, rows: &[usize]| Ok(model(&table.batch(rows, device)));
    embed_windows(dags.len(), batch_size, device, window, shard, sink)
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
    let window = |rows: Range<usize>| ((0..rows.len()).collect(), &asts[rows]);
    let shard = |asts: &&[Ast], rows: &[usize]| {
        let mut table = AstTable::empty(*layout);
        rows.iter().try_for_each(|&row| table.push(&asts[row]))?;
        let all: Vec<usize> = (0..rows.len()).collect();
        Ok(model(&table.batch(&all, device)))
    };
    embed_windows(asts.len(), batch_size, device, window, shard, sink)
}

/// Works window by window. `window` prepares its graphs and chooses the order of computation; `shard` computes some of them,
/// several shards in parallel; `sink` gets the vectors in the order of the graphs. Rows count from the start of the window.
fn embed_windows<W: Sync, E: Send>(
    n_graphs: usize,
    batch_size: usize,
    device: &Device,
    window: impl Fn(Range<usize>) -> (Vec<usize>, W),
    shard: impl Fn(&W, &[usize]) -> Result<Tensor<2>, E> + Sync,
    mut sink: impl FnMut(&[f32]) -> Result<(), E>,
) -> Result<(), E> {
    let threads = if is_flex(device) { rayon::current_num_threads() } else { 1 };
    let (batch_size, mut vectors) = (batch_size.max(1), Vec::new());
    for first in (0..n_graphs).step_by(SHARDS_PER_THREAD * threads * batch_size) {
        let end = n_graphs.min(first + SHARDS_PER_THREAD * threads * batch_size);
        let (order, ready) = window(first..end);
        let size = shard_size(order.len(), batch_size, threads);
        let run = |rows: &[usize]| shard(&ready, rows).map(values);
        let computed: Vec<Vec<f32>> = match threads {
            1 => order.chunks(size).map(run).collect::<Result<_, E>>()?,
            _ => order.par_chunks(size).map(run).collect::<Result<_, E>>()?,
        };
        let width = computed.iter().map(Vec::len).sum::<usize>() / order.len();
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| places[row] = place);
        vectors.resize(order.len() * width, 0.0);
        vectors.par_chunks_mut(width.max(1)).zip(places).with_min_len(1024).for_each(|(vector, place)| {
            vector.copy_from_slice(&computed[place / size][place % size * width..][..width]);
        });
        vectors.chunks((batch_size * width).max(1)).try_for_each(&mut sink)?;
    }
    Ok(())
}

/// Graphs per shard, at most `most`, such that all `threads` get the same number of shards.
fn shard_size(n_graphs: usize, most: usize, threads: usize) -> usize {
    let count = n_graphs.div_ceil(most).next_multiple_of(threads);
    n_graphs.div_ceil(count.max(1)).max(1)
}

/// Embeds all graphs of `source`. Without graphs there is no telling how wide vectors are; one column is assumed.
pub fn embed_all<S: Source>(
    source: &S,
    batch_size: usize,
    device: &Device,
    model: impl Fn(&S::Batch) -> Tensor<2> + Sync,
) -> Vectors {
    let mut all = Vec::new();
    let Ok(()) = embed(source, batch_size, device, model, |shard| {
        all.extend_from_slice(shard);
        Ok::<(), Infallible>(())
    });
    let width = all.len() / source.n_graphs().max(1);
    Vectors::new(all, width.max(1))
}

fn values(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().convert::<f32>().try_to_vec().expect("converted to f32")
}

#[cfg(test)]
mod tests {
    use super::shard_size;

    #[test]
    fn shards_are_even() {
        for (n_graphs, most, threads) in [(1, 8, 2), (9, 8, 2), (19_020, 4096, 2), (100, 1, 3), (5, 1, 4)] {
            let size = shard_size(n_graphs, most, threads);
            assert!((1..=most).contains(&size), "{size} of {most}");
        }
        assert_eq!(shard_size(19_020, 4096, 2), 3170, "six shards, three for each");
    }
}
