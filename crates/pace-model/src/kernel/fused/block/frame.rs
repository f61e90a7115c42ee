//! What all sublayers of a stack share.

use crate::kernel::dropout::Dropout;
use crate::kernel::pair_lists::Lists;
use crate::kernel::params::NormPlacement;

/// The sizes and settings of a stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// N, rows per graph.
    pub(crate) n: usize,
    /// M, slots of the memory per graph; 0 without one.
    pub(crate) m: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) epsilon: f32,
    pub(crate) norm: NormPlacement,
    pub(crate) dropout: Dropout,
    pub(crate) own: Own<'a>,
    /// [B, N, M].
    pub(crate) memory_bias: Option<&'a [f32]>,
}

impl<'a> Frame<'a> {
    /// The lists of keys, if rows are packed.
    pub(super) fn lists(&self) -> Option<&'a Lists> {
        match self.own {
            Own::Lists(lists) => Some(lists),
            Own::Bias(_) => None,
        }
    }
}

/// Who attends to whom in the self-attention.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Own<'a> {
    /// An attention bias, [B, N, N].
    Bias(&'a [f32]),
    /// Lists of keys over packed rows: every row counts as a graph of N = 1, and a chunk lies between two seams.
    Lists(&'a Lists),
}

/// Consecutive graphs that are computed together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk {
    pub(crate) first: usize,
    pub(crate) graphs: usize,
}
