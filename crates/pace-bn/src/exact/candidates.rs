//! [`Candidates`]: for each variable, the families that a best network may have.

use serde::{Deserialize, Serialize};

use super::enumerate::enumerate;
use crate::error::Error;
use crate::score::{Points, Scorer, with};
use crate::structure::Structure;

/// A set of parents and the score of a variable given them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The parents, sorted.
    pub parents: Box<[u16]>,
    /// The score.
    pub score: Points,
}

/// Which families to score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateConfig {
    /// The most parents of a variable; `None` for no limit, which is possible if the score's bounds end the enumeration.
    pub max_parents: Option<usize>,
    /// Refuse to score more families than this.
    pub max_families: u64,
}

impl Default for CandidateConfig {
    fn default() -> CandidateConfig {
        CandidateConfig { max_parents: Some(3), max_families: 20_000_000 }
    }
}

/// For each variable the families worth considering, the best first.
///
/// A family is left out if a subset of its parents scores at least as much: wherever it is acyclic, the subset is, too. So for
/// every order of the variables the best network among these families is the best of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    families: Vec<Vec<Family>>,
    /// Whether these are all families within the limit that are worth considering.
    is_complete: bool,
    max_parents: Option<usize>,
}

impl Candidates {
    /// Scores all families within the limit of parents, but for those that cannot beat a subset of their parents by a bound:
    /// that of de Campos & Ji (2011), with the log-likelihood given all other variables in place of 0.
    ///
    /// # Errors
    /// If there are more families than the configuration allows.
    pub fn all(scorer: &Scorer, config: &CandidateConfig) -> Result<Candidates, Error> {
        let n = scorer.table().n_variables() as u16;
        let others: Vec<Vec<u16>> =
            (0..n).map(|variable| (0..n).filter(|&other| other != variable).collect()).collect();
        Ok(Candidates { is_complete: true, ..Candidates::among(scorer, &others, config)? })
    }

    /// Scores the families whose parents are among those given for each variable, which are sorted.
    ///
    /// # Errors
    /// If there are more families than the configuration allows.
    pub fn among(scorer: &Scorer, parents: &[Vec<u16>], config: &CandidateConfig) -> Result<Candidates, Error> {
        let max_parents = config.max_parents;
        Ok(Candidates { families: enumerate(scorer, parents, config)?, is_complete: false, max_parents })
    }

    /// Scores the families among the likely parents of each variable: the `n_likely` that raise its score most when alone, the
    /// `n_likely` that go best with its parents in a known structure, and its neighbours there: parents, children and their
    /// other parents. For more variables than [`Candidates::all`] can do.
    ///
    /// # Errors
    /// If there are more families than the configuration allows.
    pub fn near(
        scorer: &Scorer,
        structure: &Structure,
        n_likely: usize,
        config: &CandidateConfig,
    ) -> Result<Candidates, Error> {
        let n = scorer.table().n_variables() as u16;
        let mut parents: Vec<Vec<u16>> =
            (0..n).map(|variable| likely(scorer, variable, structure.parents(variable), n_likely)).collect();
        for child in 0..n {
            let family = structure.parents(child);
            parents[usize::from(child)].extend(family);
            for &parent in family {
                parents[usize::from(parent)].push(child);
                parents[usize::from(parent)].extend(family.iter().filter(|&&other| other != parent));
            }
        }
        for parents in &mut parents {
            parents.sort_unstable();
            parents.dedup();
        }
        Candidates::among(scorer, &parents, config)
    }

    /// The same limits for other families.
    pub(super) fn restricted(&self, families: Vec<Vec<Family>>) -> Candidates {
        Candidates { families, is_complete: self.is_complete, max_parents: self.max_parents }
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.families.len()
    }

    /// The number of families of all variables.
    pub fn n_families(&self) -> usize {
        self.families.iter().map(Vec::len).sum()
    }

    /// Whether a best network over these families is a best network within the limit of parents.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The limit of parents.
    pub fn max_parents(&self) -> Option<usize> {
        self.max_parents
    }

    /// The families of a variable, the best first; the last one has no parents.
    pub fn families(&self, variable: u16) -> &[Family] {
        &self.families[usize::from(variable)]
    }

    /// The families of all variables.
    pub fn variables(&self) -> impl Iterator<Item = &[Family]> {
        self.families.iter().map(Vec::as_slice)
    }

    /// The sum of the best scores of all variables: no network has more, cyclic or not.
    pub fn relaxed(&self) -> Points {
        self.families.iter().filter_map(|families| families.first()).map(|family| family.score).sum()
    }
}

/// The parents that raise a variable's score most when alone, and those that go best with its parents. Two parents that only
/// work together are found by the latter, once one of them is there.
fn likely(scorer: &Scorer, variable: u16, parents: &[u16], n_likely: usize) -> Vec<u16> {
    let mut found = Vec::new();
    for given in [&[], parents] {
        let others: Vec<u16> = (0..scorer.table().n_variables() as u16)
            .filter(|&other| other != variable && !given.contains(&other))
            .collect();
        let families: Vec<(u16, Vec<u16>)> = others.iter().map(|&other| (variable, with(given, other))).collect();
        let mut ranked: Vec<(Points, u16)> = scorer.families(&families).into_iter().zip(others).collect();
        ranked.sort_unstable_by_key(|&(score, other)| (std::cmp::Reverse(score), other));
        found.extend(ranked.into_iter().take(n_likely).map(|(_, other)| other));
    }
    found
}
