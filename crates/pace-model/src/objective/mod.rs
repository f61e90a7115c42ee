//! The objective joint: what is minimised.

mod mlm;
mod supervised;
mod vae;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;

use crate::batch::DagBatch;

pub use mlm::{
    AnyMlmConfig, Corrupted, Corruption, MaskIds, MaskingConfig, Mlm, MlmConfig, PairConfig, PairEncoder, Rest,
    metric_pairs,
};
pub use supervised::{HeadConfig, Supervised, Vocabulary, pairwise_logistic, sub_token_f1};
pub use vae::{AnyVaeConfig, LatentHead, Vae, VaeConfig};

/// A loss and its named parts, for logs.
#[derive(Clone, Debug)]
pub struct Loss {
    /// What is minimised, `[1]`; a sum over the graphs (or labelled positions) of the batch, so that shards add up.
    pub total: Tensor<1>,
    /// How many graphs (or labelled positions) the sum runs over: `total / count` is comparable between batches.
    pub count: usize,
    /// Named parts, each `[1]`, for reports.
    pub parts: Vec<(&'static str, Tensor<1>)>,
}

/// Something to minimise over batches of type `B`: DAGs, unless it says otherwise.
pub trait Objective<B = DagBatch>: Module + ModuleDisplay {
    /// The loss of a batch.
    fn loss(&self, batch: &B) -> Loss;
}
