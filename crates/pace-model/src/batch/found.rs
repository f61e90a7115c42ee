//! [`Found`]: the requested [`Structure`] of one graph, and the tensors that a batch makes of it.

use burn::tensor::{Int, Tensor};
use pace_graph::structure::{Distances as Matrix, depths, distances, in_degrees, out_degrees, spectrum};
use pace_graph::{Dag, Hops, Sequence, rooted_subgraph};

use super::layout::Layout;
use super::structure::{Eigenvectors, Rooted, Structure};
use super::{DagBatch, floats, ints};
use crate::encoder::MASK_TOKENS;
use crate::layers::{EdgeList, Flow, Levels};

/// What was found out about one graph; empty or `None` if it was not requested.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// In- and out-degree by position, capped.
    degrees: Vec<[u32; 2]>,
    distances: Option<Matrix>,
    /// The first eigenvalues, at most K.
    eigenvalues: Vec<f32>,
    /// An eigenvector for each, n entries long.
    eigenvectors: Vec<f32>,
    /// Topological level by position.
    levels: Vec<u32>,
    /// The canonical form of the subgraph around each position, and the root's index in it.
    rooted: Vec<(Sequence, u32)>,
}

impl Found {
    /// Computes what `request` names for the graph of a sequence; `None` if it names nothing.
    pub(super) fn new(dag: impl FnOnce() -> Dag, request: &Structure) -> Option<Box<Found>> {
        // Edges are in the row itself.
        if (Structure { edge_lists: false, ..*request }) == Structure::NONE {
            return None;
        }
        let dag = &dag();
        let mut found = Found::default();
        if let Some(cap) = request.degrees {
            let capped = |degree: usize| u32::try_from(degree).unwrap_or(cap).min(cap);
            let degrees = in_degrees(dag).into_iter().zip(out_degrees(dag));
            found.degrees = degrees.map(|(incoming, outgoing)| [capped(incoming), capped(outgoing)]).collect();
        }
        found.distances = request.distances.map(|request| distances(dag, request.paths, Some(request.cap)));
        if let Some(Eigenvectors { laplacian, count }) = request.spectrum {
            let spectrum = spectrum(dag, laplacian);
            let count = count.min(dag.n_nodes());
            found.eigenvalues = spectrum.eigenvalues()[..count].iter().map(|&value| value as f32).collect();
            let vectors = (0..count).flat_map(|index| spectrum.eigenvector(index));
            found.eigenvectors = vectors.map(|&entry| entry as f32).collect();
        }
        if request.levels {
            found.levels = depths(dag).into_iter().map(|depth| depth as u32).collect();
        }
        if let Some(request) = request.rooted {
            let around = |node| rooted_subgraph(dag, node, request.height as usize, Hops::Both);
            found.rooted = (0..dag.n_nodes()).map(around).collect();
        }
        Some(Box::new(found))
    }
}

/// Operations and special tokens.
fn n_tokens(layout: &Layout) -> usize {
    layout.spec.n_ops() + MASK_TOKENS
}

/// The width F of [`DagBatch::rooted_features`].
pub(crate) fn rooted_width(layout: &Layout) -> usize {
    layout.structure.rooted.map_or(0, |Rooted { n_nodes: n, .. }| n * (n_tokens(layout) + n + 1))
}

/// The first K eigenvalues and eigenvectors of the Laplacian of each graph. A graph of n < K nodes has n; the rest is 0.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// Ascending, [B, K].
    pub eigenvalues: Tensor<2>,
    /// An entry of each vector per node, [B*N, K]; 0 for padding.
    pub eigenvectors: Tensor<2>,
}

/// Structure on request: each of these panics if the batch's [`Layout`](super::Layout) does not request it.
impl DagBatch {
    /// In- and out-degree of every node, up to the cap, `[B*N]` each; 0 for padding.
    ///
    /// # Panics
    /// Unless `layout.structure.degrees` is set.
    pub fn degrees(&self) -> [Tensor<1, Int>; 2] {
        self.request("degrees", self.layout.structure.degrees.is_some());
        let make = || {
            [0, 1].map(|side| {
                let mut degrees = vec![0; self.host_tokens.len()];
                for (graph, found) in self.found().enumerate() {
                    let own = &mut degrees[graph * self.n..];
                    own.iter_mut().zip(&found.degrees).for_each(|(degree, both)| *degree = both[side] as i32);
                }
                ints(degrees, [self.host_tokens.len()], &self.device)
            })
        };
        self.tensors.degrees.get_or_init(make).clone()
    }

    /// `[b, j, i]` is the length of a shortest path from node i to node j, [B, N, N]; cap + 1 if there is none up to the
    /// cap, and for padding. Query before key, as in [`DagBatch::bias`].
    ///
    /// # Panics
    /// Unless `layout.structure.distances` is set.
    pub fn distances(&self) -> Tensor<3, Int> {
        self.request("distances", self.layout.structure.distances.is_some());
        let make = || {
            let far = self.layout.structure.distances.map_or(0, |request| request.cap + 1) as i32;
            let ([b, n], nodes) = (self.dims(), |found: &Found| found.distances.as_ref().map_or(0, Matrix::n_nodes));
            let mut values = vec![far; b * n * n];
            for (found, graph) in self.found().zip(values.chunks_exact_mut((n * n).max(1))) {
                let Some(matrix) = &found.distances else { continue };
                for (from, to) in (0..nodes(found)).flat_map(|from| (0..nodes(found)).map(move |to| (from, to))) {
                    graph[to * n + from] = matrix.get(from, to).map_or(far, |hops| hops as i32);
                }
            }
            ints(values, [b, n, n], &self.device)
        };
        self.tensors.distances.get_or_init(make).clone()
    }

    /// The first eigenvectors of the Laplacian of every graph.
    ///
    /// # Panics
    /// Unless `layout.structure.spectrum` is set.
    pub fn spectrum(&self) -> Spectrum {
        self.request("spectrum", self.layout.structure.spectrum.is_some());
        let make = || {
            let ([b, n], k) = (self.dims(), self.layout.structure.spectrum.map_or(0, |request| request.count));
            let (mut values, mut vectors) = (vec![0.0; b * k], vec![0.0; b * n * k]);
            for (graph, found) in self.found().enumerate() {
                values[graph * k..][..found.eigenvalues.len()].copy_from_slice(&found.eigenvalues);
                let length = self.lengths[graph];
                for (place, &entry) in found.eigenvectors.iter().enumerate() {
                    vectors[(graph * n + place % length) * k + place / length] = entry;
                }
            }
            let (eigenvalues, eigenvectors) =
                (floats(values, [b, k], &self.device), floats(vectors, [b * n, k], &self.device));
            Spectrum { eigenvalues, eigenvectors }
        };
        self.tensors.spectrum.get_or_init(make).clone()
    }

    /// The subgraph around every node, [B*N, F]. With subgraphs of up to N nodes and T tokens (MASK and PAD included), one in
    /// canonical form has a 1 at `k T + o` if its node k has operation o, at `N T + k N + j` if it has the edge j -> k, and at
    /// `N T + N N + r` for its root r; so F = N (T + N + 1), and different rooted subgraphs have different features. 0 for padding.
    ///
    /// # Panics
    /// Unless `layout.structure.rooted` is set.
    pub fn rooted_features(&self) -> Tensor<2> {
        self.request("rooted", self.layout.structure.rooted.is_some());
        let make = || {
            let n = self.layout.structure.rooted.map_or(0, |request| request.n_nodes);
            let (t, width) = (n_tokens(&self.layout), rooted_width(&self.layout));
            let mut features = vec![0.0; self.host_tokens.len() * width];
            for (graph, found) in self.found().enumerate() {
                let rows = features[graph * self.n * width..].chunks_exact_mut(width);
                for (row, (form, root)) in rows.zip(&found.rooted) {
                    form.ops().iter().enumerate().for_each(|(k, &op)| row[k * t + usize::from(op)] = 1.0);
                    for (k, sources) in form.predecessors().rows().enumerate() {
                        sources.iter().for_each(|&j| row[n * t + k * n + j as usize] = 1.0);
                    }
                    row[n * (t + n) + *root as usize] = 1.0;
                }
            }
            floats(features, [self.host_tokens.len(), width], &self.device)
        };
        self.tensors.rooted.get_or_init(make).clone()
    }

    /// The edges of all graphs between the B*N rows, as nodes hear along them.
    ///
    /// # Panics
    /// Unless `layout.structure.edge_lists` is set.
    pub fn edge_list(&self, flow: Flow) -> &EdgeList {
        self.request("edge_lists", self.layout.structure.edge_lists);
        let lists = [&self.tensors.forward, &self.tensors.backward, &self.tensors.both];
        lists[flow as usize].get_or_init(|| {
            let edges = self.row_edges().flat_map(move |(from, to)| {
                let (along, against) = ((from, to), (to, from));
                let (first, second) = match flow {
                    Flow::Forward => (along, None),
                    Flow::Backward => (against, None),
                    Flow::Both => (along, Some(against)),
                };
                [Some(first), second].into_iter().flatten()
            });
            EdgeList::new(edges.collect(), self.host_tokens.len(), &self.device)
        })
    }

    /// The nodes of all graphs by topological level, sources first: what a walk along the edges visits.
    ///
    /// # Panics
    /// Unless `layout.structure.levels` is set.
    pub fn levels(&self) -> &Levels {
        self.request("levels", self.layout.structure.levels);
        self.tensors.levels.get_or_init(|| self.walk(false))
    }

    /// The same for a walk against the edges: the last level first, and nodes hear their successors.
    ///
    /// # Panics
    /// Unless `layout.structure.levels` is set.
    pub fn levels_reversed(&self) -> &Levels {
        self.request("levels", self.layout.structure.levels);
        self.tensors.levels_reversed.get_or_init(|| self.walk(true))
    }

    fn walk(&self, reversed: bool) -> Levels {
        // Padding has no level.
        let mut levels = vec![None; self.host_tokens.len()];
        for (graph, found) in self.found().enumerate() {
            let deepest = found.levels.iter().max().copied().unwrap_or(0);
            let own = levels[graph * self.n..].iter_mut().zip(&found.levels);
            own.for_each(|(level, &depth)| *level = Some(if reversed { deepest - depth } else { depth }));
        }
        let turn = |(from, to)| if reversed { (to, from) } else { (from, to) };
        Levels::new(&levels, self.row_edges().map(turn), &self.device)
    }

    /// All edges between the B*N rows.
    pub(crate) fn row_edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows.iter().enumerate().flat_map(|(graph, row)| {
            let first = graph * self.n;
            row.edges().map(move |(from, to)| (first + from, first + to))
        })
    }

    fn found(&self) -> impl Iterator<Item = &Found> {
        self.rows.iter().map(|row| row.found.as_deref().expect("computed with the row, since it is requested"))
    }

    /// # Panics
    /// If the layout does not ask for this.
    fn request(&self, field: &str, requested: bool) {
        assert!(
            requested,
            "the batch has no {field}: set `structure.{field}` in the layout of the encoder that wants it"
        );
    }
}
