//! A bag of node types and attributes: what can be told about a tree without its edges.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::pace::mean_of_nodes;
use crate::ast::{AstBatch, AstLayout, Attends, Packing};
use crate::batch::Stream;
use crate::encoder::GraphEncoder;
use crate::layers::{AstLabels, Init, Norm, probability};

/// Configuration of [`AstBag`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AstBagConfig {
    /// Width D.
    pub d_model: usize,
    /// Dropout in training, on the vector of a tree; from 0 to below 1.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
}

impl AstBagConfig {
    /// As wide as PACE for trees.
    pub fn code2() -> AstBagConfig {
        AstBagConfig { d_model: 256, dropout: 0.1 }
    }

    /// The layout for trees with `n_types` node types and `n_attributes` attributes. All nodes are equally deep.
    pub fn layout(&self, n_types: usize, n_attributes: usize) -> AstLayout {
        let (packing, attends) = (Packing::Packed, Attends::Descendants);
        AstLayout { n_types, n_attributes, max_depth: 0, n_positions: 1, packing, attends }
    }

    /// Initialises for trees with `n_types` node types and `n_attributes` attributes.
    pub fn init(&self, n_types: usize, n_attributes: usize, seed: u64, device: &Device) -> AstBag {
        let (mut init, layout) = (Init::new(seed, device), self.layout(n_types, n_attributes));
        let labels = AstLabels::new(&layout, self.d_model, &mut init);
        let norm = Norm::new(self.d_model, &mut init);
        AstBag { labels, norm, map: init.linear(self.d_model, self.d_model, true), config: *self, layout }
    }
}

/// The floor that an encoder of trees has to beat. With types and attributes of the n nodes, in any order:
///
/// ```text
/// Drop( ReLU( W LN( 1/n sum over nodes j of (T[type_j] + A[attribute_j]) ) + b ) )
/// ```
///
/// Without the normalisation nothing is learnt for a long time: the mean of a hundred random vectors is short.
#[derive(Module, Debug)]
pub struct AstBag {
    labels: AstLabels,
    norm: Norm,
    map: Linear,
    #[module(skip)]
    config: AstBagConfig,
    #[module(skip)]
    layout: AstLayout,
}

impl AstBag {
    /// How this encoder wants its trees.
    pub fn layout(&self) -> &AstLayout {
        &self.layout
    }
}

impl GraphEncoder for AstBag {
    type Batch = AstBatch;

    fn embed(&self, batch: &AstBatch) -> Tensor<2> {
        let dropout = batch.pass.dropout(self.config.dropout, Stream::EncoderEmbedding);
        let mean = mean_of_nodes(self.labels.forward(batch), batch);
        dropout.apply(0, relu(self.map.forward(self.norm.forward(mean))))
    }

    fn d_embedding(&self) -> usize {
        self.config.d_model
    }
}
