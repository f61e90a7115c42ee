//! [`Source`]: where batches come from.

use burn::tensor::Device;
use pace_model::ast::{AstBatch, AstTable};
use pace_model::{DagBatch, DagTable};

/// A dataset that was laid out once and is indexed per step.
pub trait Source: Sync {
    /// What a model takes.
    type Batch: Send;

    /// How many graphs there are.
    fn n_graphs(&self) -> usize;

    /// The graphs with the given numbers, for evaluation.
    fn batch(&self, rows: &[usize], device: &Device) -> Self::Batch;

    /// The same as a training pass: dropout, noise and corruption come from `seed`.
    fn train_batch(&self, rows: &[usize], seed: u64, device: &Device) -> Self::Batch;
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
}
