//! [`Candidate`]: a graph that a search may ask about.

use pace_graph::{Dag, GraphKey};
use serde::{Deserialize, Serialize};

/// Why a candidate was proposed. It is part of the record, so that a strategy can read its own past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Drawn at random.
    Random,
    /// The best by an acquisition.
    Acquisition,
    /// Close to something good.
    Neighbour,
    /// The child of something good.
    Mutation,
}

/// A graph with where it stands in its space.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The graph.
    pub dag: Dag,
    /// Its row, if the space is a pool.
    pub place: Option<usize>,
    /// Where it was decoded from, if the space is a latent one.
    pub vector: Option<Vec<f64>>,
    /// Why it was proposed.
    pub origin: Origin,
}

impl Candidate {
    /// A graph without a place or a vector.
    pub fn new(dag: Dag, origin: Origin) -> Candidate {
        Candidate { dag, place: None, vector: None, origin }
    }

    /// A row of a pool.
    pub fn at(dag: Dag, place: usize, origin: Origin) -> Candidate {
        Candidate { place: Some(place), ..Candidate::new(dag, origin) }
    }

    /// What a latent vector was decoded to.
    pub fn decoded(dag: Dag, vector: Vec<f64>, origin: Origin) -> Candidate {
        Candidate { vector: Some(vector), ..Candidate::new(dag, origin) }
    }

    /// Its isomorphism class.
    pub fn key(&self) -> GraphKey {
        GraphKey::of(&self.dag)
    }
}
