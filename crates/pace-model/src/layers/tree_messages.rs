//! [`TreeMessages`]: what surrounds a node of a syntax tree, by messages.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use serde::{Deserialize, Serialize};

use super::init::Init;
use super::norm::Norm;
use crate::ast::AstBatch;

/// Whom a node of a tree hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Its parent: along the edges of the tree.
    Parent,
    /// Its children: against them.
    Children,
    /// The token before it: along the edges between tokens.
    Previous,
    /// The token after it: against them.
    Next,
}

impl Relation {
    /// All of them.
    pub const ALL: [Relation; 4] = [Relation::Parent, Relation::Children, Relation::Previous, Relation::Next];
}

/// Configuration of [`TreeMessages`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeMessagesConfig {
    /// Rounds of messages, h: a node learns what lies up to h hops away. 0 leaves every node its own label.
    pub height: usize,
    /// Whether tokens hear their neighbours in the text, besides parents and children in the tree.
    pub next_token: bool,
    /// Whether messages run against the edges, too.
    pub inverse: bool,
}

impl TreeMessagesConfig {
    /// The kinds of messages.
    pub fn relations(&self) -> impl Iterator<Item = Relation> {
        let (tokens, inverse) = (self.next_token, self.inverse);
        Relation::ALL.into_iter().filter(move |relation| match relation {
            Relation::Parent => true,
            Relation::Children => inverse,
            Relation::Previous => tokens,
            Relation::Next => tokens && inverse,
        })
    }

    /// Initialises for nodes of width `d`.
    pub fn init(&self, d: usize, init: &mut Init<'_>) -> TreeMessages {
        let round = |_| Round {
            own: init.linear(d, d, true),
            heard: self.relations().map(|_| init.linear(d, d, false)).collect(),
            norm: Norm::new(d, init),
        };
        TreeMessages { rounds: (0..self.height).map(round).collect(), config: *self }
    }
}

/// The label f(G_v^h) of a node of a tree: what lies up to h hops around it (the paper's last appendix), or the "GNN" that encodes
/// nodes of OGBG-CODE2, by h rounds of messages. With N_r(v) those that v hears by relation r:
///
/// ```text
/// x_v <- LN( x_v + ReLU( W x_v + b + sum over r of W_r sum over u in N_r(v) of x_u ) )
/// ```
///
/// For small graphs f is an embedding of the subgraph's canonical form, [`RootedEmbedding`](super::RootedEmbedding).
#[derive(Module, Debug)]
pub struct TreeMessages {
    rounds: Vec<Round>,
    #[module(skip)]
    config: TreeMessagesConfig,
}

/// The weights of one round.
#[derive(Module, Debug)]
struct Round {
    own: Linear,
    /// By relation.
    heard: Vec<Linear>,
    norm: Norm,
}

impl TreeMessages {
    /// Shapes: R rows of the batch, [R, D] -> [R, D].
    pub fn forward(&self, mut x: Tensor<2>, batch: &AstBatch) -> Tensor<2> {
        for round in &self.rounds {
            let mut heard = round.own.forward(x.clone());
            for (relation, map) in self.config.relations().zip(&round.heard) {
                let edges = batch.messages(relation);
                // A product per row, not per message: a parent hears many children.
                heard = heard + map.forward(edges.segments().sum(edges.of_sources(x.clone())));
            }
            x = round.norm.forward(x + relu(heard));
        }
        x
    }
}
