//! [`DagTable`]: a dataset made ready once, so that a training step does no graph work.
//!
//! Canonical order, neighbours and mask of every graph are computed here, in parallel, and kept as bits. A step picks
//! rows and expands them: see [`DagTable::batch`].

use std::borrow::Cow;
use std::sync::Arc;

use pace_graph::structure::{Mask, mask};
use pace_graph::{Dag, canonical_order};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::batch::DagBatch;
use crate::layout::{Attention, Label, Layout, Neighbours, Order};
use burn::tensor::Device;

/// The sequences of a dataset, in host memory, under one [`Layout`].
#[derive(Clone, Debug)]
pub struct DagTable {
    layout: Arc<Layout>,
    rows: Vec<Arc<Row>>,
    targets: Vec<f32>,
}

/// One graph.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Operation by position.
    pub ops: Vec<u16>,
    /// Label by position, clipped.
    pub labels: Vec<u32>,
    /// Positions of the neighbours that the positional encoding sums: those of position `j` are
    /// `neighbours[offsets[j]..offsets[j + 1]]`.
    pub neighbours: Vec<u32>,
    pub offsets: Vec<u32>,
    /// Positions of the direct predecessors as `(from, to)`.
    pub edges: Vec<(u32, u32)>,
    /// Who may attend to whom; none where everybody may.
    pub mask: Option<Mask>,
}

impl DagTable {
    /// Lays out graphs of `layout.spec` (without its start symbol, which is added here).
    ///
    /// # Panics
    /// If a graph is larger than the spec allows, or stored in an order that is not topological where the layout keeps
    /// it. Datasets are validated when they are read; this is the last line of defence.
    pub fn new(dags: &[Dag], layout: &Layout) -> DagTable {
        let rows = dags.par_iter().map(|dag| Arc::new(Row::new(dag, layout))).collect();
        DagTable { layout: Arc::new(layout.clone()), rows, targets: Vec::new() }
    }

    /// Adds what is to be predicted, one number per graph.
    ///
    /// # Panics
    /// If there are not as many targets as graphs.
    pub fn with_targets(mut self, targets: Vec<f32>) -> DagTable {
        assert_eq!(targets.len(), self.rows.len(), "one target per graph");
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
        let targets = (!self.targets.is_empty()).then(|| indices.iter().map(|&index| self.targets[index]).collect());
        DagBatch::new(rows, targets, self.layout.clone(), device)
    }

    /// The tensors of all graphs.
    pub fn whole(&self, device: &Device) -> DagBatch {
        self.batch(&(0..self.len()).collect::<Vec<_>>(), device)
    }
}

impl Row {
    fn new(dag: &Dag, layout: &Layout) -> Row {
        let with_start;
        let dag = if layout.has_start() {
            with_start = layout.spec.add_start_symbol(dag);
            &with_start
        } else {
            dag
        };
        let n_nodes = dag.n_nodes();
        assert!(
            n_nodes <= layout.spec.max_nodes,
            "{n_nodes} nodes, but '{}' allows {}",
            layout.spec.name,
            layout.spec.max_nodes
        );
        let canonical =
            (layout.order == Order::Canonical || layout.label == Label::Canonical).then(|| canonical_order(dag));
        let in_order = |order: &[usize]| order.iter().enumerate().all(|(position, &node)| position == node);
        let ordered = match (&canonical, layout.order) {
            (Some(order), Order::Canonical) if !in_order(order) => Cow::Owned(dag.relabel(order)),
            _ => Cow::Borrowed(dag),
        };
        assert!(ordered.is_topologically_numbered(), "a stored order must be topological: {dag}");
        let mut labels: Vec<u32> = match layout.label {
            Label::Position => (0..n_nodes as u32).collect(),
            Label::Op => ordered.ops().map(u32::from).collect(),
            Label::Canonical => canonical_index(canonical.as_deref().expect("computed above"), layout.order),
        };
        let last = layout.n_labels as u32 - 1;
        labels.iter_mut().for_each(|label| *label = (*label).min(last));
        let (mut neighbours, mut offsets) = (Vec::with_capacity(dag.n_edges()), vec![0]);
        for node in 0..n_nodes {
            match layout.neighbours {
                Neighbours::Predecessors => neighbours.extend(ordered.predecessors(node).map(|other| other as u32)),
                Neighbours::Successors => neighbours.extend(ordered.successors(node).map(|other| other as u32)),
            }
            offsets.push(neighbours.len() as u32);
        }
        let mask = match layout.attention {
            Attention::Masked(rule) | Attention::Penalised(rule) => Some(mask(&ordered, rule)),
            Attention::Open => None,
        };
        let edges = ordered.edges().map(|(from, to)| (from as u32, to as u32)).collect();
        Row { ops: ordered.ops().collect(), labels, neighbours, offsets, edges, mask }
    }

    pub fn len(&self) -> usize {
        self.ops.len()
    }

    pub fn neighbours(&self, position: usize) -> &[u32] {
        &self.neighbours[self.offsets[position] as usize..self.offsets[position + 1] as usize]
    }
}

/// The canonical index of the node at each position.
fn canonical_index(canonical: &[usize], order: Order) -> Vec<u32> {
    match order {
        Order::Canonical => (0..canonical.len() as u32).collect(),
        Order::Stored => {
            let mut index = vec![0; canonical.len()];
            canonical.iter().enumerate().for_each(|(position, &node)| index[node] = position as u32);
            index
        }
    }
}
