//! [`Corruption`]: what masked language modelling hides, chosen on the host.

use pace_graph::Op;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::batch::{DagBatch, Layout};
use crate::encoder::MASK_TOKENS;

/// What becomes of the selected nodes that are not masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// They keep their operation: the paper.
    Unchanged,
    /// They get any operation, uniformly: the published code.
    Random,
}

/// How nodes are chosen and hidden (section 4.1 of the paper): each with probability `selected`; of these the share
/// `masked` becomes MASK.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corruption {
    /// Probability that a node is to be predicted.
    pub selected: f64,
    /// Probability that a selected node becomes MASK.
    pub masked: f64,
    /// What the others become.
    pub rest: Rest,
    /// Padded positions are chosen like nodes: the published code, for which every cell is full length.
    pub padding: bool,
}

/// The tokens that are not operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskIds {
    /// The token of a hidden operation.
    pub mask: Op,
    /// The operation that is never predicted, because padding has the same token; `None` if padding has a separate one.
    pub ignored: Option<Op>,
    /// How many operations, T.
    pub n_ops: usize,
}

impl MaskIds {
    /// MASK and PAD follow the operations, so that no operation looks like either.
    ///
    /// # Panics
    /// If the encoder's dictionary has no such tokens.
    pub fn own(layout: &Layout) -> MaskIds {
        let n_ops = layout.spec.n_ops();
        assert!(
            usize::from(layout.pad) + 1 == n_ops + MASK_TOKENS,
            "MLM needs tokens for MASK and PAD, and padding is token {} of {n_ops} operations: set special_tokens",
            layout.pad
        );
        MaskIds { mask: n_ops as Op, ignored: None, n_ops }
    }

    /// MASK is operation 1 and PAD operation 0: the published code.
    pub fn colliding(layout: &Layout) -> MaskIds {
        MaskIds { mask: 1, ignored: Some(0), n_ops: layout.spec.n_ops() }
    }
}

/// A batch's tokens with some hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupted {
    /// What the encoder sees, `[B*N]`.
    pub tokens: Vec<Op>,
    /// The flat indices to be predicted, ascending; at least one.
    pub selected: Vec<usize>,
    /// The true operations there.
    pub labels: Vec<Op>,
}

impl Corruption {
    /// The paper's: 20 % of the nodes, 80 % of them masked, the rest unchanged.
    pub const PAPER: Corruption = Corruption { selected: 0.2, masked: 0.8, rest: Rest::Unchanged, padding: false };
    /// The published code's: the rest becomes random, and padding is corrupted too.
    pub const PUBLISHED: Corruption = Corruption { rest: Rest::Random, padding: true, ..Corruption::PAPER };

    /// Corrupts a batch. If chance selects nothing, one node is selected, so that a mean exists.
    ///
    /// # Panics
    /// If the batch has nothing that could be predicted.
    pub fn apply(&self, batch: &DagBatch, ids: MaskIds, rng: &mut impl Rng) -> Corrupted {
        let [_, n] = batch.dims();
        let mut corrupted = Corrupted { tokens: batch.host_tokens.clone(), selected: Vec::new(), labels: Vec::new() };
        for (graph, &length) in batch.lengths.iter().enumerate() {
            let end = if self.padding { n } else { length };
            for index in graph * n..graph * n + end {
                if rng.random_bool(self.selected) {
                    self.hide(index, &mut corrupted, ids, rng);
                }
            }
        }
        if corrupted.selected.is_empty() {
            let is_node = |&index: &usize| index % n < batch.lengths[index / n];
            let is_predicted = |&index: &usize| Some(batch.host_tokens[index]) != ids.ignored;
            let nodes: Vec<usize> = (0..batch.host_tokens.len()).filter(is_node).filter(is_predicted).collect();
            assert!(!nodes.is_empty(), "a batch of {} graphs with nothing to predict", batch.lengths.len());
            self.hide(nodes[rng.random_range(0..nodes.len())], &mut corrupted, ids, rng);
        }
        corrupted
    }

    /// Corrupts one position, and asks for its token unless that is ignored.
    fn hide(&self, index: usize, corrupted: &mut Corrupted, ids: MaskIds, rng: &mut impl Rng) {
        let label = corrupted.tokens[index];
        if rng.random_bool(self.masked) {
            corrupted.tokens[index] = ids.mask;
        } else if self.rest == Rest::Random {
            corrupted.tokens[index] = rng.random_range(0..ids.n_ops) as Op;
        }
        if Some(label) != ids.ignored {
            corrupted.selected.push(index);
            corrupted.labels.push(label);
        }
    }
}
