//! The space joint: the graphs that a search may ask about.
//!
//! A [`Space`] draws graphs and says which graphs belong to it. Random search, evolution and local search need no more. An
//! [`Embedded`] space also has a vector for each candidate, and can be searched by a [`Criterion`] such as an acquisition.
//! No space proposes a graph that is [`Taken`].
//!
//! - [`Open`]: all graphs that a sampler may draw.
//! - [`Pool`]: a list of graphs with their vectors.
//! - [`Latent`]: the latent space of a VAE.
//! - [`RoundTrip`]: the same, with an encoder.
//! - [`Encoded`]: any space with an encoder, without a decoder.
//! - [`Allowed`]: what a predicate of yours leaves of a space.
//!
//! ```
//! use pace_graph::Vectors;
//! use pace_search::space::{Listed, Pool, Space, Taken};
//! use rand::SeedableRng;
//! let graphs = Listed::new(vec!["0 2 1 : 0>1 1>2".parse()?, "0 3 1 : 0>1 1>2".parse()?]);
//! let pool = Pool::new(&graphs, Vectors::new(vec![0.5, -1.0, 0.0, 2.0], 2))?;
//! let drawn = pool.sample(1, &Taken::default(), &mut rand_chacha::ChaCha8Rng::seed_from_u64(0));
//! assert!(drawn[0].place < Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use faer::MatRef;
use pace_graph::Dag;
use rand::Rng;

use crate::Matrix;
use crate::candidate::Candidate;
use crate::error::Error;
use crate::matrix::widen_ref;

mod allowed;
mod choose;
mod encoded;
mod latent;
mod open;
mod pool;
mod round_trip;

pub use crate::taken::Taken;
pub use allowed::Allowed;
pub(crate) use choose::choose;
pub use encoded::Encoded;
pub use latent::{Decode, Latent, LatentConfig};
pub use open::Open;
pub use pool::{Graphs, Listed, Pool};
pub use round_trip::{Encode, RoundTrip};

/// A set of graphs to search.
pub trait Space: Sync {
    /// Draws `n` different untried candidates; fewer if it cannot find more in reasonable time.
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate>;

    /// This graph as a candidate, tried or not; `None` if it is outside the space.
    fn admit(&self, dag: Dag) -> Option<Candidate>;
}

/// A space with a vector for every candidate.
pub trait Embedded: Space {
    /// The vectors of candidates of this space.
    ///
    /// # Shapes
    /// [candidates, D]
    fn vectors(&self, candidates: &[&Candidate]) -> Result<Matrix, Error>;

    /// Chooses up to `n` untried candidates, one after the other, each the best by the criterion.
    ///
    /// After each choice the criterion imagines its outcome, so that a batch spreads out. `near` [K, D] are the vectors of
    /// the best queries so far, best first, for spaces that look around them.
    fn propose(
        &self,
        n: usize,
        taken: &Taken<'_>,
        near: MatRef<'_, f64>,
        criterion: &mut dyn Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Candidate>, Error>;

    /// Up to `n` untried neighbours of a candidate, the closest vectors first; empty if the space does not know them.
    fn nearest(&self, of: &Candidate, n: usize, taken: &Taken<'_>) -> Result<Vec<Candidate>, Error>;
}

/// How much it is worth to try a vector.
pub trait Criterion {
    /// One number per row of x [N, D]; larger is better.
    fn score(&self, x: MatRef<'_, f64>) -> Vec<f64>;

    /// As [`score`](Self::score), for vectors in single precision, as large pools hold them.
    fn score_f32(&self, x: MatRef<'_, f32>) -> Vec<f64> {
        self.score(widen_ref(x).as_ref())
    }

    /// From now on, scores as if `vector` `[D]` had been tried with its expected outcome. Returns whether scores change.
    fn imagine(&mut self, vector: &[f64]) -> bool;
}
