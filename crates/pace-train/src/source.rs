//! [`Source`]: where batches come from.

use std::ops::Range;

use burn::tensor::Device;
use pace_model::ast::{AstBatch, AstTable};
use pace_model::{DagBatch, DagTable};

/// A dataset that is prepared once and indexed at every step.
pub trait Source: Sync {
    /// What a model takes.
    type Batch: Send;

    /// How many graphs there are.
    fn n_graphs(&self) -> usize;

    /// The graphs with the given numbers, for evaluation.
    fn batch(&self, rows: &[usize], device: &Device) -> Self::Batch;

    /// The same for training: dropout, noise and corruption come from `seed`.
    fn train_batch(&self, rows: &[usize], seed: u64, device: &Device) -> Self::Batch;

    /// Cuts graphs into `order.len() / batch_size` batches, rounded up.
    fn cut<'o>(&self, order: &'o [usize], batch_size: usize) -> Vec<&'o [usize]> {
        order.chunks(batch_size).collect()
    }

    /// The order in which these graphs are computed fastest. Their vectors do not depend on it.
    fn order(&self, rows: Range<usize>) -> Vec<usize> {
        rows.collect()
    }
}

impl Source for DagTable {
    type Batch = DagBatch;

    fn n_graphs(&self) -> usize {
        self.len()
    }

    fn batch(&self, rows: &[usize], device: &Device) -> DagBatch {
        DagTable::batch(self, rows, device)
    }

    fn train_batch(&self, rows: &[usize], seed: u64, device: &Device) -> DagBatch {
        DagTable::batch(self, rows, device).train(seed)
    }

    fn order(&self, rows: Range<usize>) -> Vec<usize> {
        self.alike(rows)
    }
}

impl Source for AstTable {
    type Batch = AstBatch;

    fn n_graphs(&self) -> usize {
        self.len()
    }

    fn batch(&self, rows: &[usize], device: &Device) -> AstBatch {
        AstTable::batch(self, rows, device)
    }

    fn train_batch(&self, rows: &[usize], seed: u64, device: &Device) -> AstBatch {
        AstTable::batch(self, rows, device).train(seed)
    }

    /// Batches of about equally many nodes: trees differ a thousandfold, and nodes are what steps and their memory cost.
    fn cut<'o>(&self, order: &'o [usize], batch_size: usize) -> Vec<&'o [usize]> {
        let n_batches = order.len().div_ceil(batch_size);
        let total: usize = order.iter().map(|&tree| self.n_nodes(tree)).sum();
        let (mut rest, mut seen, mut batches) = (order, 0, Vec::with_capacity(n_batches));
        for batch in 0..n_batches {
            let (end, n_later) = (total as u128 * (batch as u128 + 1) / n_batches as u128, n_batches - batch - 1);
            let mut count = 0;
            // None is empty, and a tree belongs where most of it lies.
            while count < rest.len() - n_later {
                let n_nodes = self.n_nodes(rest[count]);
                if count > 0 && (seen + n_nodes / 2) as u128 > end {
                    break;
                }
                (seen, count) = (seen + n_nodes, count + 1);
            }
            let (own, others) = rest.split_at(count);
            batches.push(own);
            rest = others;
        }
        batches
    }
}

/// Pairs of graphs of a table, for objectives that look at two graphs at once. Row i of this source is pair i; the two
/// graphs of a pair are neighbours in a batch.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    table: &'a DagTable,
    pairs: &'a [(usize, usize)],
}

impl<'a> Pairs<'a> {
    /// These pairs of rows of `table`.
    ///
    /// # Panics
    /// If a pair names a row that the table lacks.
    pub fn new(table: &'a DagTable, pairs: &'a [(usize, usize)]) -> Pairs<'a> {
        let n_graphs = table.len();
        assert!(
            pairs.iter().all(|&(a, b)| a < n_graphs && b < n_graphs),
            "pairs of the {n_graphs} graphs of the table"
        );
        Pairs { table, pairs }
    }

    fn rows(&self, pairs: &[usize]) -> Vec<usize> {
        pairs.iter().flat_map(|&pair| [self.pairs[pair].0, self.pairs[pair].1]).collect()
    }
}

impl Source for Pairs<'_> {
    type Batch = DagBatch;

    fn n_graphs(&self) -> usize {
        self.pairs.len()
    }

    fn batch(&self, pairs: &[usize], device: &Device) -> DagBatch {
        self.table.batch(&self.rows(pairs), device)
    }

    fn train_batch(&self, pairs: &[usize], seed: u64, device: &Device) -> DagBatch {
        self.batch(pairs, device).train(seed)
    }
}
