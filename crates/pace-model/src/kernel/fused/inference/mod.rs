//! Stacks of encoder blocks of which only values are wanted: nothing is kept for a backward pass.
//!
//! Both cases take rows through [`block::EncoderBlock`], whose weights are laid out once: [`packed`] all rows of graphs of any size,
//! along lists of keys; [`shared_pasts`] each distinct past of a batch once, of which [`concat_linear`] makes graph vectors.

mod block;
mod concat_linear;
mod packed;
mod shared_pasts;

pub(crate) use concat_linear::concat_linear;
pub(crate) use packed::packed_encoder;
pub(crate) use shared_pasts::shared_encoder;

use super::attention::has_lanes;
use crate::kernel::params::{BlockConfig, NormPlacement};

/// Whether these stacks serve: heads as lanes, post-norm, without dropout.
pub(crate) fn serves(config: &BlockConfig) -> bool {
    has_lanes(config.n_heads) && config.norm == NormPlacement::Post && !config.dropout.site(0).is_on()
}
