//! [`Candidate`]: a graph that a search may ask about.

use pace_graph::{Dag, GraphKey};
use serde::{Deserialize, Serialize};

/// Why a candidate was proposed. The journal records it, so that a strategy can read its own past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Drawn at random.
    Random,
    /// Chosen by an acquisition.
    Acquisition,
    /// A neighbour of a good graph.
    Neighbour,
    /// A mutation of a good graph.
    Mutation,
}

/// A graph, and its position in the space.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The graph.
    pub dag: Dag,
    /// Its row in the pool; `None` in other spaces.
    pub place: Option<usize>,
    /// Its vector in the latent space; `None` in other spaces.
    pub vector: Option<Vec<f64>>,
    /// Why it was proposed.
    pub origin: Origin,
}

impl Candidate {
    /// A graph without a row or a vector.
    pub fn new(dag: Dag, origin: Origin) -> Candidate {
        Candidate { dag, place: None, vector: None, origin }
    }

    /// A row of a pool.
    pub fn at(dag: Dag, place: usize, origin: Origin) -> Candidate {
        Candidate { place: Some(place), ..Candidate::new(dag, origin) }
    }

    /// The graph that a latent vector was decoded to.
    pub fn decoded(dag: Dag, vector: Vec<f64>, origin: Origin) -> Candidate {
        Candidate { vector: Some(vector), ..Candidate::new(dag, origin) }
    }

    /// Its isomorphism class.
    pub fn key(&self) -> GraphKey {
        GraphKey::of(&self.dag)
    }
}
