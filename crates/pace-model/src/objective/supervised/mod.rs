//! [`Supervised`]: an encoder and a linear head for what is known about each graph.

mod ranking;
mod vocabulary;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{Loss, Objective};
use crate::batch::GraphBatch;
use crate::encoder::GraphEncoder;
use crate::layers::Init;

pub use ranking::pairwise_logistic;
pub use vocabulary::{Vocabulary, sub_token_f1};

/// What is predicted, and how an error counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadConfig {
    /// One number; squared error.
    Regression,
    /// Several numbers; squared error. What can be computed about every graph is a reason to learn its structure.
    Numbers {
        /// How many.
        n: usize,
    },
    /// One score whose order is that of the targets; [`pairwise_logistic`].
    Ranking,
    /// A short sequence of tokens, each position on its own: OGBG-CODE2.
    Tokens {
        /// Predicted positions; 5 on CODE2.
        n_positions: usize,
        /// Classes at each, V; 5,002 on CODE2, see [`Vocabulary`].
        n_tokens: usize,
    },
}

impl HeadConfig {
    /// The head of OGBG-CODE2.
    pub const CODE2: HeadConfig = HeadConfig::Tokens { n_positions: 5, n_tokens: 5002 };

    /// How many numbers the head gives per graph.
    pub fn width(self) -> usize {
        match self {
            HeadConfig::Regression | HeadConfig::Ranking => 1,
            HeadConfig::Numbers { n } => n,
            // Independent heads side by side are one matrix.
            HeadConfig::Tokens { n_positions, n_tokens } => n_positions * n_tokens,
        }
    }

    /// Puts a head on an encoder.
    pub fn init<E: GraphEncoder>(self, encoder: E, seed: u64, device: &Device) -> Supervised<E> {
        let out = Init::new(seed, device).linear(encoder.d_embedding(), self.width(), true);
        Supervised { encoder, out, head: self }
    }
}

/// An encoder and a linear head. With g the graph vectors and u = W g + b:
///
/// ```text
/// regression  sum over graphs of (u - y)^2
/// numbers     sum over graphs of the mean over numbers k of (u_k - y_k)^2
/// ranking     sum over pairs with y_i > y_j of log(1 + exp(u_j - u_i))
/// tokens      sum over graphs of the mean over positions p of -log softmax(u_p)[y_p]
/// ```
#[derive(Module, Debug)]
pub struct Supervised<E: GraphEncoder> {
    encoder: E,
    /// G to the head's width.
    out: Linear,
    #[module(skip)]
    head: HeadConfig,
}

impl<E: GraphEncoder> Supervised<E> {
    /// The encoder.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// The embedding of each graph: the encoder's, [B, G].
    pub fn embed(&self, batch: &E::Batch) -> Tensor<2> {
        self.encoder.embed(batch)
    }

    /// What the head says: [B, 1], [B, n], or [B, positions * V] logits.
    pub fn predict(&self, batch: &E::Batch) -> Tensor<2> {
        self.out.forward(self.embed(batch))
    }

    /// The most probable token at each position, for [`Vocabulary::decode`].
    ///
    /// # Panics
    /// If the head does not predict tokens.
    pub fn predict_tokens(&self, batch: &E::Batch) -> Vec<Vec<usize>> {
        let HeadConfig::Tokens { n_positions, n_tokens } = self.head else {
            panic!("a head for {:?} predicts no tokens", self.head);
        };
        let logits = self.predict(batch);
        let [b, _] = logits.dims();
        let best = logits.reshape([b * n_positions, n_tokens]).argmax(1).to_data();
        let best: Vec<usize> = best.iter::<i64>().map(|token| token as usize).collect();
        best.chunks(n_positions).map(<[usize]>::to_vec).collect()
    }
}

impl<E: GraphEncoder> Objective<E::Batch> for Supervised<E> {
    /// # Panics
    /// If the batch does not carry the targets that the head needs.
    fn loss(&self, batch: &E::Batch) -> Loss {
        let out = self.predict(batch);
        let [b, _] = out.dims();
        let numbers = || batch.targets().expect("a batch with a target for every graph");
        match self.head {
            HeadConfig::Regression => {
                let total = (out.reshape([b]) - numbers().clone()).square().sum();
                Loss { total, count: b, parts: Vec::new() }
            }
            HeadConfig::Numbers { n } => {
                let total = (out.reshape([b * n]) - numbers().clone()).square().sum() / n as f64;
                Loss { total, count: b, parts: Vec::new() }
            }
            HeadConfig::Ranking => {
                let (total, count) = pairwise_logistic(out.reshape([b]), numbers());
                // A mean over no pairs is 0, not 0 / 0.
                Loss { total, count: count.max(1), parts: Vec::new() }
            }
            HeadConfig::Tokens { n_positions, n_tokens } => {
                let labels = batch.token_targets().expect("a batch with target tokens for every graph").clone();
                assert_eq!(labels.dims(), [b, n_positions], "target tokens of another shape than the head's");
                let log_p = log_softmax(out.reshape([b * n_positions, n_tokens]), 1);
                let total = log_p.gather(1, labels.reshape([b * n_positions, 1])).sum() / -(n_positions as f64);
                Loss { total, count: b, parts: Vec::new() }
            }
        }
    }
}
