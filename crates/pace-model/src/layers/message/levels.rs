//! [`Levels`]: the nodes of a batch by topological level, for encoders that walk along the edges.

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor};

use super::segments::Segments;
use crate::batch::ints;

/// The nodes of all graphs of a batch by level: a node's level is above those of all it hears.
///
/// A walk visits level after level, all graphs at once, so it takes as many steps as the longest path has nodes. Made by
/// [`DagBatch::levels`](crate::DagBatch::levels).
#[derive(Clone, Debug)]
pub struct Levels {
    levels: Vec<Level>,
    /// The rows level after level, `[nodes]`.
    rows: Tensor<1, Int>,
    n_rows: usize,
    device: Device,
}

/// The nodes of one level and what they hear.
#[derive(Clone, Debug)]
pub struct Level {
    rows: Tensor<1, Int>,
    n_nodes: usize,
    /// For each earlier level that is heard: its number, and the index in it of each edge's source.
    sources: Vec<(usize, Tensor<1, Int>)>,
    /// Whether a later level hears this one.
    is_heard: bool,
    segments: Segments,
}

impl Level {
    /// The rows of its nodes among all B*N, `[L]`.
    pub fn rows(&self) -> Tensor<1, Int> {
        self.rows.clone()
    }

    /// How many nodes, L.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The edges into the level by who hears along them, E to L.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }
}

impl Levels {
    /// By the level of each row, `None` for padding, and the edges `(source, target)` between rows.
    pub(crate) fn new(
        level_of: &[Option<u32>],
        edges: impl Iterator<Item = (usize, usize)>,
        device: &Device,
    ) -> Levels {
        let n_levels = level_of.iter().flatten().max().map_or(0, |&level| level as usize + 1);
        let mut rows = vec![Vec::new(); n_levels];
        let mut places = vec![0; level_of.len()];
        for (row, level) in level_of.iter().enumerate() {
            if let Some(level) = level {
                let rows = &mut rows[*level as usize];
                places[row] = rows.len();
                rows.push(row as i32);
            }
        }
        let level = |row: usize| level_of[row].expect("edges join nodes, not padding") as usize;
        let mut incoming = vec![Vec::new(); n_levels];
        edges.for_each(|(source, target)| {
            incoming[level(target)].push((level(source), places[target], places[source]));
        });
        let mut is_heard = vec![false; n_levels];
        let levels = rows.iter().zip(incoming).map(|(rows, mut edges): (&Vec<i32>, Vec<(usize, usize, usize)>)| {
            edges.sort_unstable();
            let pieces = edges.chunk_by(|one, other| one.0 == other.0).map(|piece| {
                is_heard[piece[0].0] = true;
                let places = piece.iter().map(|&(_, _, source)| source as i32).collect();
                (piece[0].0, ints(places, [piece.len()], device))
            });
            Level {
                sources: pieces.collect(),
                rows: ints(rows.clone(), [rows.len()], device),
                n_nodes: rows.len(),
                is_heard: false,
                segments: Segments::new(
                    edges.iter().map(|&(_, target, _)| target as u32).collect(),
                    rows.len(),
                    device,
                ),
            }
        });
        let mut levels: Vec<Level> = levels.collect();
        levels.iter_mut().zip(is_heard).for_each(|(level, is_heard)| level.is_heard = is_heard);
        let rows = rows.concat();
        let count = rows.len();
        Levels { levels, rows: ints(rows, [count], device), n_rows: level_of.len(), device: device.clone() }
    }

    /// The levels in the order of the walk.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Level> {
        self.levels.iter()
    }

    /// Rows by level: a tensor [L, D] for each. Shapes: [B*N, D].
    ///
    /// Differentiated, this costs a gradient of the whole per level: for parameters, look them up by [`Level::rows`] instead.
    pub fn split(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        self.levels.iter().map(|level| x.clone().select(0, level.rows.clone())).collect()
    }

    /// The inverse of [`Levels::split`]; 0 for padding. Shapes: [L, D] for each level -> [B*N, D].
    ///
    /// # Panics
    /// If there is no level, as in a batch without graphs.
    pub fn join(&self, levels: Vec<Tensor<2>>) -> Tensor<2> {
        let nodes = Tensor::cat(levels, 0);
        let [_, d] = nodes.dims();
        let zeros = Tensor::zeros([self.n_rows, d], &self.device);
        zeros.select_assign(0, self.rows.clone(), nodes, IndexingUpdateOp::Add)
    }

    /// Walks the levels:
    ///
    /// ```text
    /// h_v = update(v, { tell(h_u) : v hears u })
    /// ```
    ///
    /// `update` gets the number of the level, the level, and what its nodes hear, [E, M] by edge as in [`Level::segments`];
    /// `None` if they hear nothing. It returns their states, [L, D]. `tell` maps the states of a level to what others hear of
    /// them, [L, D] -> [L, M]: once per node, not once per edge. Returns the states by level, see [`Levels::join`].
    pub fn walk(
        &self,
        mut tell: impl FnMut(&Level, Tensor<2>) -> Tensor<2>,
        mut update: impl FnMut(usize, &Level, Option<Tensor<2>>) -> Tensor<2>,
    ) -> Vec<Tensor<2>> {
        let mut states = Vec::with_capacity(self.levels.len());
        let mut told: Vec<Option<Tensor<2>>> = Vec::with_capacity(self.levels.len());
        for (number, level) in self.levels.iter().enumerate() {
            let from = |(source, places): &(usize, Tensor<1, Int>)| {
                told[*source].clone().expect("told, since it is heard").select(0, places.clone())
            };
            let mut pieces: Vec<Tensor<2>> = level.sources.iter().map(from).collect();
            let heard = match pieces.len() {
                0 | 1 => pieces.pop(),
                _ => Some(Tensor::cat(pieces, 0)),
            };
            let state = update(number, level, heard);
            told.push(level.is_heard.then(|| tell(level, state.clone())));
            states.push(state);
        }
        states
    }
}
