//! [`Problem`]: families as bit-sets and losses, for one component of the graph of possible parents.

use super::candidates::{Candidates, Family};
use super::set::VarSet;

/// A family of a [`Problem`].
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The parents within the component.
    pub(super) parents: VarSet,
    /// How much less it scores than the best family of its variable.
    pub(super) loss: f64,
    /// Its place among the candidates of the variable, of which parents outside may have been left away.
    pub(super) origin: usize,
}

/// Choose a family for each variable, without a cycle, so that the sum of losses is least.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    families: Vec<Vec<Choice>>,
    /// The same families with scores, for the search over orders.
    pub(super) candidates: Candidates,
}

impl Problem {
    /// The families of the members of a component, which are numbered anew. Parents outside are left away: they can close no
    /// cycle. Of families that then have the same parents, or more, only the best stays.
    pub(super) fn of(candidates: &Candidates, members: &[u16]) -> Problem {
        let families: Vec<Vec<Choice>> =
            members.iter().map(|&variable| project(candidates, variable, members)).collect();
        let scored = |(choices, &variable): (&Vec<Choice>, &u16)| {
            let families = candidates.families(variable);
            let family = |choice: &Choice| Family {
                parents: choice.parents.iter().map(|parent| parent as u16).collect(),
                score: families[choice.origin].score,
            };
            choices.iter().map(family).collect()
        };
        let candidates = candidates.restricted(families.iter().zip(members).map(scored).collect());
        Problem { families, candidates }
    }

    pub(super) fn n_variables(&self) -> usize {
        self.families.len()
    }

    pub(super) fn families(&self, variable: usize) -> &[Choice] {
        &self.families[variable]
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &[Choice]> {
        self.families.iter().map(Vec::as_slice)
    }

    /// The loss of a structure over the members, whose families are all candidates.
    pub(super) fn chosen(&self, parents_of: impl Fn(u16) -> VarSet) -> Vec<usize> {
        let at = |(variable, families): (usize, &Vec<Choice>)| {
            let parents = parents_of(variable as u16);
            families.iter().position(|family| family.parents == parents).unwrap_or(families.len() - 1)
        };
        self.families.iter().enumerate().map(at).collect()
    }

    /// The sum of losses of chosen families.
    pub(super) fn loss(&self, chosen: &[usize]) -> f64 {
        self.families.iter().zip(chosen).map(|(families, &at)| families[at].loss).sum()
    }
}

fn project(candidates: &Candidates, variable: u16, members: &[u16]) -> Vec<Choice> {
    let families = candidates.families(variable);
    let is_whole = members.len() == candidates.n_variables();
    let mut kept: Vec<Choice> = Vec::new();
    for (origin, family) in families.iter().enumerate() {
        let parents = VarSet::of(family.parents.iter().filter_map(|parent| members.binary_search(parent).ok()));
        // If nothing is left away, nothing new is beaten.
        if is_whole || !kept.iter().any(|better| better.parents.is_subset(&parents)) {
            kept.push(Choice { parents, loss: (families[0].score - family.score).nats(), origin });
        }
    }
    kept
}
