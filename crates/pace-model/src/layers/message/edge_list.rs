//! [`EdgeList`]: the edges of a batch, to send messages along.

use std::sync::OnceLock;

use burn::tensor::{Device, Int, Tensor};

use super::segments::Segments;
use crate::batch::{floats, ints};

/// Whom a node hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// Its predecessors: messages run along the edges.
    Forward,
    /// Its successors.
    Backward,
    /// Both, as if the graph were undirected.
    Both,
}

/// E edges between R rows, sorted by target. Made by [`DagBatch::edge_list`](crate::DagBatch::edge_list).
#[derive(Clone, Debug)]
pub struct EdgeList {
    n_rows: usize,
    host_sources: Vec<u32>,
    /// The row that speaks, `[E]`.
    sources: Tensor<1, Int>,
    segments: Segments,
    symmetric: OnceLock<[Tensor<2>; 2]>,
    against: OnceLock<Tensor<1, Int>>,
    with_loops: OnceLock<Box<EdgeList>>,
    device: Device,
}

impl EdgeList {
    /// Edges `(source, target)` between rows below `n_rows`, in any order.
    pub(crate) fn new(mut edges: Vec<(usize, usize)>, n_rows: usize, device: &Device) -> EdgeList {
        // Sums then write rows in order.
        edges.sort_unstable_by_key(|&(source, target)| (target, source));
        let sources = edges.iter().map(|&(source, _)| source as i32).collect();
        EdgeList {
            n_rows,
            host_sources: edges.iter().map(|&(source, _)| source as u32).collect(),
            sources: ints(sources, [edges.len()], device),
            segments: Segments::new(edges.iter().map(|&(_, target)| target as u32).collect(), n_rows, device),
            symmetric: OnceLock::new(),
            against: OnceLock::new(),
            with_loops: OnceLock::new(),
            device: device.clone(),
        }
    }

    /// The edges by who hears along them.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// What each edge's source has. Shapes: [R, D] -> [E, D].
    pub fn of_sources(&self, x: Tensor<2>) -> Tensor<2> {
        x.select(0, self.sources.clone())
    }

    /// What each edge's target has. Shapes: [R, D] -> [E, D].
    pub fn of_targets(&self, x: Tensor<2>) -> Tensor<2> {
        self.segments.of_targets(x)
    }

    /// The weights of a graph convolution (Kipf & Welling, 2017) on a directed graph with a loop at every node:
    ///
    /// ```text
    /// c_uv = 1 / sqrt((out(u) + 1) (in(v) + 1))      c_v = 1 / (in(v) + 1)
    /// ```
    ///
    /// Shapes: edges [E, 1], nodes [R, 1].
    pub fn symmetric(&self) -> [Tensor<2>; 2] {
        let make = || {
            let heard = self.segments.counts();
            let mut spoken = vec![0; self.n_rows];
            self.host_sources.iter().for_each(|&row| spoken[row as usize] += 1);
            let edge =
                |(source, target): (usize, usize)| (((spoken[source] + 1) * (heard[target] + 1)) as f32).sqrt().recip();
            let edges = self.pairs().map(edge).collect();
            let nodes = heard.iter().map(|&count| ((count + 1) as f32).recip()).collect();
            let (e, r) = (self.host_sources.len(), self.n_rows);
            [floats(edges, [e, 1], &self.device), floats(nodes, [r, 1], &self.device)]
        };
        self.symmetric.get_or_init(make).clone()
    }

    /// 1 for each message that runs against its edge, 0 for one along it, `[E]`.
    pub fn against(&self) -> Tensor<1, Int> {
        let make = || {
            // Sequences are topological, so an edge leads to a later row.
            let against = self.pairs().map(|(source, target)| i32::from(source > target)).collect();
            ints(against, [self.host_sources.len()], &self.device)
        };
        self.against.get_or_init(make).clone()
    }

    /// The same edges, and every row hears itself, padding too.
    pub fn with_loops(&self) -> &EdgeList {
        self.with_loops.get_or_init(|| {
            let edges = self.pairs().chain((0..self.n_rows).map(|row| (row, row))).collect();
            Box::new(EdgeList::new(edges, self.n_rows, &self.device))
        })
    }

    /// The edges `(source, target)` in their order.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let counts = self.segments.counts().into_iter().enumerate();
        let targets = counts.flat_map(|(row, count)| std::iter::repeat_n(row, count));
        self.host_sources.iter().map(|&source| source as usize).zip(targets)
    }
}
