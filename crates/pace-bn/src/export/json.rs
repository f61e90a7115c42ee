//! JSON.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::network::Network;
use crate::strength::Strengths;

/// A network as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonNetwork {
    /// The variables, sorted by name.
    pub variables: Vec<JsonVariable>,
    /// The arcs, by child.
    pub arcs: Vec<JsonArc>,
}

/// A variable of a [`JsonNetwork`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonVariable {
    /// Its name.
    pub name: String,
    /// Its levels.
    pub levels: Vec<String>,
    /// Its parents, sorted by name.
    pub parents: Vec<String>,
    /// A row of probabilities per configuration of the parents, the last parent changing fastest.
    pub probabilities: Vec<Vec<f64>>,
}

/// An arc of a [`JsonNetwork`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JsonArc {
    /// The parent.
    pub from: String,
    /// The child.
    pub to: String,
    /// In which share of bootstrap samples the two are linked, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// In which share of those the link leads this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<f64>,
}

impl JsonNetwork {
    /// Describes a network.
    pub fn of(network: &Network, strengths: Option<&Strengths>) -> JsonNetwork {
        let name = |variable: u16| network.names()[usize::from(variable)].clone();
        let variables = (0..network.n_variables()).map(|variable| JsonVariable {
            name: name(variable as u16),
            levels: network.levels(variable).to_vec(),
            parents: network.structure().parents(variable as u16).iter().map(|&parent| name(parent)).collect(),
            probabilities: network.cpt(variable).rows().map(<[f64]>::to_vec).collect(),
        });
        let arcs = network.structure().arcs().map(|(from, to)| JsonArc {
            from: name(from),
            to: name(to),
            strength: strengths.map(|strengths| strengths.strength(from, to)),
            direction: strengths.map(|strengths| strengths.direction(from, to)),
        });
        JsonNetwork { variables: variables.collect(), arcs: arcs.collect() }
    }

    /// The text, indented.
    ///
    /// # Errors
    /// If a number is none.
    pub fn to_text(&self) -> Result<String, Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
