//! [`DecodeOptions`]: how latent vectors are turned into graphs: by which rules, and greedily or at random.

use serde::{Deserialize, Serialize};

/// Which graphs decoding may produce. All are DAGs: edges go from earlier nodes to later ones.
///
/// In every mode the first node is the input of specs that have one, and a graph ends with the output operation of specs
/// that have one, at the latest at the largest size. Graphs of a spec without output (syntax trees) have no end symbol:
/// they all grow to the largest size, so give the spec the size wanted, or an output operation to learn the end from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// What the model says: any operation but the start symbol, edges independent. The output takes every node without
    /// successors besides the edges drawn for it; the last possible node is the output.
    #[default]
    Free,
    /// The authors' code: as [`Mode::Free`], but the start symbol may occur again (such a graph is valid under no spec);
    /// the output takes the nodes without successors and nothing else; and the last possible node becomes an output even if
    /// it was drawn as another operation, with the edges drawn for that.
    ///
    /// Two things differ from that code. There, a node without drawn predecessors has none; here, it reads the start symbol, as
    /// in training. And that code then renumbers the sequence, which would invalidate the states of earlier nodes.
    Published,
    /// Only graphs that the spec validates.
    ///
    /// Each step draws from the model's distribution conditioned on what the rule allows next: operations from the softmax
    /// over the allowed ones, the in-edges of a node from the independent Bernoullis given that the set is allowed (e.g.
    /// exactly one parent: softmax over the logits). A step is allowed only if a valid graph can still follow, so there are
    /// no dead ends and nothing is rejected or repaired. Up to numbering, every valid chain and cell can come out; of the
    /// other rules, every valid graph that starts with its input, ends with an output that takes the loose ends (as far as
    /// the limit on edges lets it), and, without an output, has the largest size.
    ///
    /// This is conditioning step by step: it differs from the model's distribution given validity as a whole, which weighs
    /// a step by how likely a valid completion is.
    Constrained,
}

/// How a choice is made from the model's probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The likeliest operation, then the likeliest set of in-edges: those of probability above 1/2, if the mode allows.
    #[default]
    Greedy,
    /// At random. Graph i has its own generator, seeded by the seed and `DecodeOptions::first + i`.
    Sample {
        /// Same seed, same graphs.
        seed: u64,
        /// Logits are divided by this; 1 is the model's own distribution, towards 0 it is greedy.
        temperature: f64,
    },
}

impl Choice {
    /// From the model's own distribution.
    pub fn sample(seed: u64) -> Choice {
        Choice::Sample { seed, temperature: 1.0 }
    }
}

/// How to decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DecodeOptions {
    /// Which graphs.
    pub mode: Mode,
    /// Greedy or at random.
    pub choice: Choice,
    /// The number of the first graph, for callers that cut many vectors into batches: with the numbers of the whole, a
    /// graph does not depend on the batch it is in.
    pub first: u64,
}

impl DecodeOptions {
    /// The likeliest graph, step by step.
    pub fn greedy(mode: Mode) -> DecodeOptions {
        DecodeOptions { mode, choice: Choice::Greedy, first: 0 }
    }

    /// Graphs from the model's own distribution.
    pub fn sample(mode: Mode, seed: u64) -> DecodeOptions {
        DecodeOptions { mode, choice: Choice::sample(seed), first: 0 }
    }

    /// The same for a batch that starts at graph `first` of the whole.
    pub fn starting_at(self, first: u64) -> DecodeOptions {
        DecodeOptions { first, ..self }
    }
}
