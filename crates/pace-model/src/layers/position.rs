//! The dag2seq positional encoding: canonical index and predecessors of a node as a vector (equations 1 and 2).

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::init::Init;
use crate::kernel::Dropout;

/// Which positional encoding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionConfig {
    /// The paper's: a one-layer injective GNN on one-hot labels, `W2 ReLU(W1 [onehot(j) ; sum of onehot(i)])`.
    ///
    /// Self and sum are concatenated, not weighted by GIN's (1 + epsilon): on one-hot labels both are injective, and the
    /// published VAE code does this.
    Dag2Seq,
    /// The published MLM code: a sinusoid of the label, one linear message passing step, scaled to a fixed norm:
    /// `scale * m / |m|` with `m_j = W s_j + sum of W s_i`.
    Sinusoid {
        /// The norm of every encoding.
        scale: f64,
    },
    /// The label alone, without neighbours: the ablation "no dag2seq" of the published VAE code.
    Index,
    /// Nothing: the ablation "no dag2seq" on NAS-Bench-101, a bag of operations.
    None,
}

/// A positional encoding with its parameters.
#[derive(Module, Debug)]
pub struct Position {
    /// [2P, 2D] (dag2seq), [P, D] (index), [D, D] (sinusoid).
    first: Option<Param<Tensor<2>>>,
    /// [2D, D] (dag2seq).
    second: Option<Param<Tensor<2>>>,
    #[module(skip)]
    config: PositionConfig,
    #[module(skip)]
    n_labels: usize,
    #[module(skip)]
    d: usize,
}

impl Position {
    /// An encoding of `n_labels` labels (the paper's N) into width `d`; no biases, Xavier with gain 1.414 as in the code.
    pub fn new(config: PositionConfig, n_labels: usize, d: usize, init: &mut Init<'_>) -> Position {
        const GAIN: f64 = 1.414;
        let (first, second) = match config {
            PositionConfig::Dag2Seq => {
                (Some(init.xavier(2 * n_labels, 2 * d, GAIN)), Some(init.xavier(2 * d, d, GAIN)))
            }
            PositionConfig::Sinusoid { .. } => (Some(init.uniform([d, d], 1.0 / (d as f64).sqrt())), None),
            PositionConfig::Index => (Some(init.uniform([n_labels, d], 1.0 / (n_labels as f64).sqrt())), None),
            PositionConfig::None => (None, None),
        };
        Position { first, second, config, n_labels, d }
    }

    /// The two maps of dag2seq; `None` for another encoding.
    pub fn dag2seq(&self) -> Option<[Tensor<2>; 2]> {
        match self.config {
            PositionConfig::Dag2Seq => Some([self.first.as_ref()?.val(), self.second.as_ref()?.val()]),
            _ => None,
        }
    }

    /// The encodings of R nodes from their features `[onehot ; sum]`; `None` for [`PositionConfig::None`].
    ///
    /// Shapes: [R, 2P] -> [R, D].
    pub fn forward(&self, features: Tensor<2>, dropout: Dropout) -> Option<Tensor<2>> {
        let first = self.first.as_ref()?.val();
        let device = features.device();
        let [rows, _] = features.dims();
        Some(match self.config {
            PositionConfig::Dag2Seq => {
                let second = self.second.as_ref().expect("made with dag2seq").val();
                let hidden = dropout.apply(0, relu(features.matmul(first)));
                dropout.apply(1, hidden.matmul(second))
            }
            PositionConfig::Sinusoid { scale } => {
                // Labels of a node and of its neighbours enter with the same weight: m_j + sum of m_i.
                let own = features.clone().slice([0..rows, 0..self.n_labels]);
                let others = features.slice([0..rows, self.n_labels..2 * self.n_labels]);
                let table = dropout.apply(0, sinusoids(self.n_labels, self.d, &device));
                let message = (own + others).matmul(table).matmul(first);
                let norm = (message.clone().square().sum_dim(1) + 1e-24).sqrt();
                message / norm * scale
            }
            PositionConfig::Index => {
                let own = features.slice([0..rows, 0..self.n_labels]);
                own.matmul(first)
            }
            PositionConfig::None => return None,
        })
    }
}

/// The fixed table of Vaswani et al. (2017): sine on even, cosine on odd channels. [P, D].
fn sinusoids(n_labels: usize, d: usize, device: &Device) -> Tensor<2> {
    let mut values = Vec::with_capacity(n_labels * d);
    for label in 0..n_labels {
        for channel in 0..d {
            let rate = 10_000f64.powf(-((channel / 2 * 2) as f64) / d as f64);
            let angle = label as f64 * rate;
            values.push(if channel % 2 == 0 { angle.sin() } else { angle.cos() } as f32);
        }
    }
    Tensor::from_data(TensorData::new(values, [n_labels, d]), device)
}
