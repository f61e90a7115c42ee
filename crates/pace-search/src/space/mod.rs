//! The space joint: where candidates come from.
//!
//! A [`Space`] draws graphs and says which graphs belong to it; that is all that random search, evolution and local search
//! need. An [`Embedded`] one also knows a vector for each of its candidates and can be searched by a [`Criterion`], such as
//! an acquisition: [`Pool`] looks at every row of a matrix, [`Latent`] moves through the latent space of a VAE, [`RoundTrip`]
//! does so with an encoder at hand. [`Open`] is whatever a sampler draws from. None of them gives out what is [`Taken`].

use faer::MatRef;
use pace_graph::Dag;
use rand::Rng;

use crate::Matrix;
use crate::candidate::Candidate;
use crate::error::Error;
use crate::matrix::widen_ref;

mod latent;
mod open;
mod pool;
mod round_trip;

pub use crate::taken::Taken;
pub use latent::{Decode, Latent, LatentConfig};
pub use open::Open;
pub use pool::{Graphs, Listed, Pool};
pub use round_trip::{Encode, RoundTrip};

/// A set of graphs to search.
pub trait Space {
    /// `n` different untried candidates at random; fewer if there are no more, or none was found in reasonable time.
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate>;

    /// This graph as a candidate, tried or not; none if it lies outside.
    fn admit(&self, dag: Dag) -> Option<Candidate>;
}

/// A space with a vector for every candidate.
pub trait Embedded: Space {
    /// The vectors of candidates of this space.
    ///
    /// # Shapes
    /// [candidates, D]
    fn vectors(&self, candidates: &[&Candidate]) -> Result<Matrix, Error>;

    /// Up to `n` untried candidates, chosen one after the other by the highest score.
    ///
    /// After each choice the criterion imagines its outcome, so that a batch spreads out. `near` [K, D] are the vectors of
    /// the best candidates so far, best first, for spaces that look around them.
    fn propose(
        &self,
        n: usize,
        taken: &Taken<'_>,
        near: MatRef<'_, f64>,
        criterion: &mut dyn Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Candidate>, Error>;

    /// Up to `n` untried neighbours of a candidate of this space, the closest vectors first; none if the space cannot tell.
    fn nearest(&self, of: &Candidate, n: usize, taken: &Taken<'_>) -> Result<Vec<Candidate>, Error>;
}

/// How much one wants to try a vector.
pub trait Criterion {
    /// One number per row of x [N, D]; larger is better.
    fn score(&self, x: MatRef<'_, f64>) -> Vec<f64>;

    /// The same for vectors in single precision, as large pools hold them.
    fn score_f32(&self, x: MatRef<'_, f32>) -> Vec<f64> {
        self.score(widen_ref(x).as_ref())
    }

    /// From now on, score as if `vector` `[D]` had been tried with the outcome one expects. Whether that changes anything.
    fn imagine(&mut self, vector: &[f64]) -> bool;
}
