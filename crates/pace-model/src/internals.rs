//! The kernels, for the tests and benches of this crate. No promise: any version may change them.

#[cfg(feature = "flex")]
pub use crate::kernel::bench;
pub use crate::kernel::{
    AdamStep, BlockConfig, CrossAttentionParams, DecoderParams, Dropout, EmbeddingParams, EncoderParams,
    FeedForwardParams, HeadParams, LinearParams, MASKED, Masks, NormParams, NormPlacement, PENALISED, PairLists, Pasts,
    RowPairs, SelfAttentionParams, Tabled, Telling, Truth, WalkBuilder, WalkInputs, WalkLists, WalkParams, add_norm,
    attention, concat_linear, cross_attention, decoder, encoder, encoder_rows, graph_nll, gru_gates, is_fused, linear,
    node_embedding, pair_logits, plain, shared_encoder, sparse_attention, sparse_encoder, sparse_encoder_rows, walk,
};
