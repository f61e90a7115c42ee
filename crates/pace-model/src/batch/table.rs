//! [`DagTable`]: a dataset as sequences, so that a training step does no graph work.
//!
//! Canonical order, mask and requested structure of every graph are computed once, in parallel. A step picks graphs and
//! expands them to tensors: see [`DagTable::batch`].

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Device;
use pace_graph::Dag;
use rayon::prelude::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator, ParallelSliceMut};

use super::dag::DagBatch;
use super::layout::Layout;
use super::row::Row;

/// The sequences of a dataset, in host memory, under one [`Layout`].
#[derive(Clone, Debug)]
pub struct DagTable {
    layout: Arc<Layout>,
    rows: Vec<Arc<Row>>,
    targets: Vec<f32>,
}

impl DagTable {
    /// Lays out graphs of `layout.spec` (without its start symbol, which is added here).
    ///
    /// # Panics
    /// If a graph is larger than the spec allows, or if the layout keeps the stored order and that is not topological. Datasets
    /// are validated when they are read, so this is the last line of defence.
    pub fn new(dags: &[Dag], layout: &Layout) -> DagTable {
        let rows = dags.par_iter().map(|dag| Arc::new(Row::new(dag, layout))).collect();
        DagTable { layout: Arc::new(layout.clone()), rows, targets: Vec::new() }
    }

    /// Adds what is to be predicted: one number per graph, or several, those of a graph side by side.
    ///
    /// # Panics
    /// If there are not equally many for all graphs, and at least one.
    pub fn with_targets(mut self, targets: Vec<f32>) -> DagTable {
        let (n_targets, n_graphs) = (targets.len(), self.rows.len());
        assert!(n_targets >= n_graphs && n_targets.is_multiple_of(n_graphs.max(1)), "targets for every graph");
        self.targets = targets;
        self
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The layout of all rows.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The tensors of the graphs with the given indices, for evaluation; `.train(seed)` makes it a training pass.
    pub fn batch(&self, indices: &[usize], device: &Device) -> DagBatch {
        let rows = indices.iter().map(|&index| self.rows[index].clone()).collect();
        let width = self.targets.len() / self.rows.len().max(1);
        let of_graph = |&index: &usize| &self.targets[index * width..(index + 1) * width];
        let targets = (!self.targets.is_empty()).then(|| indices.iter().flat_map(of_graph).copied().collect());
        DagBatch::new(rows, targets, self.layout.clone(), device)
    }

    /// The graphs in `rows` sorted such that graphs that begin alike are neighbours. Batches in this order have few distinct
    /// nodes, which speeds up evaluation.
    pub fn alike(&self, rows: Range<usize>) -> Vec<usize> {
        let key = |row: usize| (self.rows[row].beginning, row);
        let mut keys: Vec<(u64, usize)> = rows.into_par_iter().map(key).collect();
        keys.par_sort_unstable();
        keys.into_iter().map(|(_, row)| row).collect()
    }

    /// The tensors of all graphs.
    pub fn whole(&self, device: &Device) -> DagBatch {
        self.batch(&(0..self.len()).collect::<Vec<_>>(), device)
    }
}
