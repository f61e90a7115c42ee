//! Search spaces as values: all of NAS-Bench-101, a sampler for every space of the paper, and single steps within them.
//!
//! Every graph that comes from here passes the [`DagSpec`] of its sampler. Randomness is an explicit generator: the same
//! seed gives the same graphs.
//!
//! ```
//! use pace_graph::enumerate::{Darts, Sampler};
//! use rand::SeedableRng;
//! let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
//! let cell = Darts.sample(&mut rng);
//! Darts.spec().validate(&cell)?;
//! # Ok::<(), pace_graph::Error>(())
//! ```

mod bn;
mod cell_key;
mod darts;
mod enas;
mod mutate;
mod nas101;
mod nas101_network;
mod random;
mod skeleton;
mod spec_space;
mod uniform;

use rand::Rng;

use crate::dag::Dag;
use crate::spec::DagSpec;

pub use bn::{OrderedBn, UniformBn};
pub use darts::Darts;
pub use enas::Enas;
pub use mutate::Mutate;
pub use nas101::Nas101Space;
pub use nas101_network::nas101_parameters;
pub use random::{RandomAst, RandomDag};
pub use skeleton::{Skeleton, nas101_skeletons};
pub use spec_space::SpecSpace;
pub use uniform::UniformDags;

/// A distribution over the graphs of one search space.
pub trait Sampler {
    /// What the graphs look like.
    fn spec(&self) -> DagSpec;

    /// Draws one graph.
    fn sample(&self, rng: &mut dyn Rng) -> Dag;
}
