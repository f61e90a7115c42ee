//! [`MessagePassing`]: every node hears its neighbours once.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::edge_list::EdgeList;
use crate::layers::Init;

/// How the messages to a node become one vector. N(v) are the nodes that v hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// `sum over u in N(v) of x_u`: GIN.
    Sum,
    /// The same divided by |N(v)|: GraphSAGE.
    Mean,
    /// `c_v x_v + sum over u in N(v) of c_uv x_u` with the weights of [`EdgeList::symmetric`]: GCN.
    Symmetric,
}

impl Aggregation {
    /// Shapes: [R, D] -> [R, D].
    pub fn forward(self, x: Tensor<2>, edges: &EdgeList) -> Tensor<2> {
        match self {
            Aggregation::Sum => edges.segments().sum(edges.of_sources(x)),
            Aggregation::Mean => edges.segments().mean(edges.of_sources(x)),
            Aggregation::Symmetric => {
                let [weights, own] = edges.symmetric();
                edges.segments().sum(edges.of_sources(x.clone()) * weights) + x * own
            }
        }
    }
}

/// Configuration of [`MessagePassing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagePassingConfig {
    /// Width of a node before.
    pub d_in: usize,
    /// Width of a node after.
    pub d_out: usize,
    /// How messages are put together.
    pub aggregation: Aggregation,
    /// Whether the node itself enters, by a second map.
    pub own: bool,
}

impl MessagePassingConfig {
    /// Initialises.
    pub fn init(&self, init: &mut Init<'_>) -> MessagePassing {
        MessagePassing {
            heard: init.linear(self.d_in, self.d_out, true),
            own: self.own.then(|| init.linear(self.d_in, self.d_out, false)),
            aggregation: self.aggregation,
        }
    }
}

/// One round of messages. With A an [`Aggregation`]:
///
/// ```text
/// y_v = W A(x)_v + b + W_own x_v
/// ```
///
/// Who hears whom is up to the [`EdgeList`]; an activation is up to the caller.
#[derive(Module, Debug)]
pub struct MessagePassing {
    heard: Linear,
    own: Option<Linear>,
    #[module(skip)]
    aggregation: Aggregation,
}

impl MessagePassing {
    /// Shapes: [R, d_in] -> [R, d_out].
    pub fn forward(&self, x: Tensor<2>, edges: &EdgeList) -> Tensor<2> {
        let heard = self.heard.forward(self.aggregation.forward(x.clone(), edges));
        match &self.own {
            Some(own) => heard + own.forward(x),
            None => heard,
        }
    }
}
