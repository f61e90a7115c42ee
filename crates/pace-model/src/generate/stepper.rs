//! [`Stepper`]: a decoder while it grows a batch of graphs, node by node.

use burn::tensor::Tensor;
use pace_graph::{Draft, Op};

/// The state of a decoder over B growing graphs. [`DagDecoder::decode`](crate::decoder::DagDecoder::decode) asks, chooses on the
/// host under the rules of the spec, and tells what it chose by the drafts of the next question.
///
/// In each round every graph that is not finished gets its next node, so these all have the same number t of real nodes. What a
/// stepper says about a finished graph is ignored.
pub trait Stepper {
    /// Logits of the operation of the next node. Shapes: B drafts -> [B, T].
    fn ops(&mut self, drafts: &[Draft]) -> Tensor<2>;

    /// How the in-edges of that node are decided, asked once per round after [`Stepper::ops`].
    fn edges(&mut self) -> Edges<'_>;
}

/// How a decoder decides about the in-edges of a node.
// One value per round, never stored: a box would save nothing.
#[allow(clippy::large_enum_variant)]
pub enum Edges<'a> {
    /// All at once and independently: logits of the edges from each of the t real nodes, [B, t]; `None` if t = 0. They do not
    /// depend on the operation chosen. PACE, S-VAE.
    AtOnce(Option<Tensor<2>>),
    /// One after the other, each knowing those before it: D-VAE, DAGNN, GraphRNN.
    InTurn(&'a mut dyn EdgesInTurn),
    /// Sources are picked until it is enough: DeepGMG.
    Picked(&'a mut dyn EdgePicker),
}

/// The node that a graph is about to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNode {
    /// Its operation.
    pub op: Op,
    /// The real nodes (0 is the first) that it reads, in the order of their decisions so far.
    pub sources: Vec<usize>,
}

/// In which order edges are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// From the newest real node down to the first: D-VAE.
    NewestFirst,
    /// From the first real node up to the newest: GraphRNN.
    OldestFirst,
}

/// Edges decided one after the other.
pub trait EdgesInTurn {
    /// The order.
    fn turns(&self) -> Turns;

    /// Logits of the edge from real node `source` to the new node of each graph. Shapes: B drafts, B new nodes -> `[B]`.
    ///
    /// Called for every real node in order, whether or not a rule leaves a choice. `new` is `None` for finished graphs.
    fn logits(&mut self, drafts: &[Draft], new: &[Option<NewNode>], source: usize) -> Tensor<1>;
}

/// Edges picked by their sources.
pub trait EdgePicker {
    /// Logits of each of the t real nodes as the next source, then of "enough". Shapes: B drafts, B new nodes -> [B, t + 1].
    ///
    /// Called until all graphs have enough, not at all if t = 0. Nodes already picked are ignored.
    fn logits(&mut self, drafts: &[Draft], new: &[Option<NewNode>]) -> Tensor<2>;
}
