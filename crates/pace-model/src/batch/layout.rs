//! [`Layout`]: how a model wants graphs laid out as sequences: order, labels, mask and padding.

use pace_graph::structure::MaskRule;
use pace_graph::{Dag, DagSpec, Op, canonical_order};
use serde::{Deserialize, Serialize};

use super::structure::Structure;
use crate::Error;

/// The order of the nodes in a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Canonical and topological: the paper's, and the only one that makes encodings invariant.
    #[default]
    Canonical,
    /// As stored, which must be topological: the published code on NA, BN and the NAS benchmarks; ASTs in DFS order.
    Stored,
}

/// What the positional encoding takes for a node's index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The position in the sequence.
    #[default]
    Position,
    /// The canonical index, whatever the order of the sequence: the published MLM code.
    Canonical,
    /// The operation: the published code on BN, whose graphs have every operation once.
    Op,
}

/// Which neighbours the positional encoding sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbours {
    /// Direct predecessors: the paper, equation (1).
    #[default]
    Predecessors,
    /// Direct successors: the published MLM code.
    Successors,
}

/// Who may attend to whom.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Along paths, by the rule. All other pairs have weight 0.
    Masked(MaskRule),
    /// Along paths, by the rule. All other pairs have score -1e9, so that a node with no allowed key attends to all positions
    /// equally, padding included: the published MLM code.
    Penalised(MaskRule),
    /// Every node to every node: the ablation "no mask".
    Open,
}

impl Default for Attention {
    fn default() -> Attention {
        Attention::Masked(MaskRule::PACE)
    }
}

/// Positions that a model takes at most. Its largest matrices have this many rows.
const MAX_POSITIONS: usize = 1 << 16;

/// Errs unless a model can be made for graphs of `spec`.
pub(crate) fn check_spec(spec: &DagSpec) -> Result<(), Error> {
    spec.check()?;
    // One more for the start symbol.
    if spec.max_nodes >= MAX_POSITIONS {
        let (spec, max_nodes) = (spec.name.clone(), spec.max_nodes);
        return Err(Error::TooManyPositions { spec, max_nodes, limit: MAX_POSITIONS - 1 });
    }
    Ok(())
}

/// How long the sequences of a batch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Padding {
    /// All as long as the spec's largest graph. A readout of all positions side by side needs this.
    Full,
    /// As long as the longest graph of the batch.
    Longest,
}

/// How graphs become tensors. It follows from a model's configuration, see `DagEncoder::layout`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// The graphs, with the start symbol if the model puts one in front.
    pub spec: DagSpec,
    /// Order of the sequence.
    pub order: Order,
    /// What is one-hot in the positional encoding.
    pub label: Label,
    /// How many labels there are; larger ones are clipped to the last.
    pub n_labels: usize,
    /// Neighbours summed by the positional encoding.
    pub neighbours: Neighbours,
    /// Attention mask.
    pub attention: Attention,
    /// Length of the sequences.
    pub padding: Padding,
    /// The token at padded positions.
    pub pad: Op,
    /// Structure beyond order, labels, neighbours and mask.
    pub structure: Structure,
}

impl Layout {
    /// The paper's layout for graphs of `spec`: canonical, masked, padded with end symbols to full length.
    pub fn new(spec: &DagSpec) -> Layout {
        Layout {
            order: Order::Canonical,
            label: Label::Position,
            n_labels: spec.max_nodes,
            neighbours: Neighbours::Predecessors,
            attention: Attention::default(),
            padding: Padding::Full,
            pad: spec.output.unwrap_or(0),
            structure: Structure::NONE,
            spec: spec.clone(),
        }
    }

    /// A layout without mask: canonical, padded to the longest graph of a batch.
    pub fn plain(spec: &DagSpec) -> Layout {
        Layout { attention: Attention::Open, padding: Padding::Longest, ..Layout::new(spec) }
    }

    /// Whether batches of this layout serve an encoder that wants `wanted`: equal but for structure beyond what is wanted.
    pub(super) fn serves(&self, wanted: &Layout) -> bool {
        let same = |layout: &Layout| {
            (
                layout.order,
                layout.label,
                layout.n_labels,
                layout.neighbours,
                layout.attention,
                layout.padding,
                layout.pad,
            )
        };
        same(self) == same(wanted) && self.structure.includes(&wanted.structure) && self.spec == wanted.spec
    }

    /// The same graph in the numbering of its sequence, without a start symbol: what a decoder is taught, index by index.
    ///
    /// ```
    /// use pace_graph::DagSpec;
    /// use pace_model::Layout;
    /// let spec = DagSpec::nas101();
    /// let layout = Layout::new(&spec.with_start_symbol());
    /// let [cell, other] = ["0 2 3 1 : 0>1 0>2 1>3 2>3", "1 3 2 0 : 3>1 3>2 1>0 2>0"].map(|text| text.parse().unwrap());
    /// assert_eq!(layout.numbered(&cell), layout.numbered(&other));
    /// ```
    pub fn numbered(&self, dag: &Dag) -> Dag {
        if self.order == Order::Stored {
            return dag.clone();
        }
        if !self.has_start() {
            return dag.relabel(&canonical_order(dag));
        }
        // The start symbol comes first and goes again.
        let order = canonical_order(&self.spec.add_start_symbol(dag));
        dag.relabel(&order.into_iter().filter(|&node| node > 0).map(|node| node - 1).collect::<Vec<usize>>())
    }

    /// Whether a start symbol is put in front of every graph.
    pub fn has_start(&self) -> bool {
        self.spec.start.is_some()
    }
}
