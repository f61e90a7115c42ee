//! [`certify`]: the best network and how far from the best of all it can be.

use serde::{Deserialize, Serialize};

use super::branch;
use super::candidates::{Candidates, Family};
use super::components::components;
use super::dp;
use super::problem::Problem;
use super::set::{MAX_MEMBERS, VarSet};
use crate::error::Error;
use crate::score::Points;
use crate::search::{Limits, OrderConfig, search_orders};
use crate::structure::Structure;

/// How to search for a certified network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactConfig {
    /// The search over orders that finds the first network of a component.
    pub start: OrderConfig,
    /// Components of at most so many variables are solved by dynamic programming, up to 26: 2^variables * 8 bytes.
    pub max_subsets: usize,
    /// Larger components are bounded first by a relaxation that solves groups of so many variables exactly, up to 20: every step
    /// takes 2^variables * variables^2 operations. 0 leaves that out.
    pub max_group: usize,
    /// At most so many nodes of a component are solved by branch and cut.
    pub max_nodes: u64,
}

impl Default for ExactConfig {
    fn default() -> ExactConfig {
        ExactConfig { start: OrderConfig::default(), max_subsets: 20, max_group: 18, max_nodes: u64::MAX }
    }
}

/// A network, and a bound that no network over the same candidates exceeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The best network found.
    pub structure: Structure,
    /// Its score.
    pub score: Points,
    /// No network has a higher score.
    pub upper_bound: f64,
    /// What the bound is about: all networks within the limit of parents, or only those over chosen candidates.
    pub is_complete: bool,
    /// The limit of parents.
    pub max_parents: Option<usize>,
    /// The families that were compared.
    pub n_families: usize,
    /// The components of the graph of possible parents, by size, the largest first.
    pub components: Vec<usize>,
    /// Nodes of branch and cut; 0 if dynamic programming did it all.
    pub n_nodes: u64,
    /// Cutting planes.
    pub n_cuts: u64,
}

impl Certificate {
    /// By how much another network can be better at most, in nats.
    pub fn gap(&self) -> f64 {
        (self.upper_bound - self.score.nats()).max(0.0)
    }

    /// Whether no other network over the candidates is better, but for 10^-6 nats of rounding.
    pub fn is_proven(&self) -> bool {
        self.gap() <= 1e-6
    }
}

/// Finds the best network over the candidates, or, if a limit ends the search, the best known one with a bound.
///
/// `start` is a network known to be good; its families should be among the candidates. A stop by `limits` is possible after
/// each cutting plane; `limits.max_structures` does not apply.
///
/// # Errors
/// If more than 256 variables could all be on cycles with one another.
pub fn certify(
    candidates: &Candidates,
    start: Option<&Structure>,
    config: &ExactConfig,
    limits: &Limits,
) -> Result<Certificate, Error> {
    let stop = || limits.stop.is_some_and(|stop| stop());
    let components = components(candidates);
    let largest = components.iter().map(Vec::len).max().unwrap_or(0);
    if largest > MAX_MEMBERS {
        return Err(Error::TooLarge {
            what: "variables that could be on common cycles",
            count: largest as u64,
            max: MAX_MEMBERS as u64,
            remedy: "search without a certificate, or allow fewer parents",
        });
    }
    let mut parents: Vec<Vec<u16>> = vec![Vec::new(); candidates.n_variables()];
    let (mut lost, mut n_nodes, mut n_cuts) = (0.0, 0, 0);
    for members in &components {
        let problem = Problem::of(candidates, members);
        let chosen = if members.len() == 1 {
            vec![0]
        } else if members.len() <= config.max_subsets.min(dp::MAX) {
            let chosen = dp::solve(&problem);
            lost += problem.loss(&chosen);
            chosen
        } else {
            let known = first(&problem, members, start, config, limits);
            let bounded = branch::solve(&problem, known, config, &stop);
            lost += bounded.lower;
            n_nodes += bounded.n_nodes;
            n_cuts += bounded.n_cuts;
            bounded.chosen
        };
        for ((at, &variable), chosen) in members.iter().enumerate().zip(chosen) {
            let family: &Family = &candidates.families(variable)[problem.families(at)[chosen].origin];
            parents[usize::from(variable)] = family.parents.to_vec();
        }
    }
    let structure = Structure::new(parents)?;
    let families = candidates.variables().zip(0..);
    let score: Points = families
        .filter_map(|(families, variable)| {
            families.iter().find(|family| *family.parents == *structure.parents(variable)).map(|family| family.score)
        })
        .sum();
    Ok(Certificate {
        structure,
        score,
        upper_bound: (candidates.relaxed().nats() - lost).max(score.nats()),
        is_complete: candidates.is_complete(),
        max_parents: candidates.max_parents(),
        n_families: candidates.n_families(),
        components: {
            let mut sizes: Vec<usize> = components.iter().map(Vec::len).collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            sizes
        },
        n_nodes,
        n_cuts,
    })
}

/// The families of a first network of a component: the best that the search over orders finds.
fn first(
    problem: &Problem,
    members: &[u16],
    start: Option<&Structure>,
    config: &ExactConfig,
    limits: &Limits,
) -> Vec<usize> {
    let inside = start.map(|start| {
        let number = |parent: &u16| members.binary_search(parent).ok().map(|at| at as u16);
        let parents = members.iter().map(|&variable| start.parents(variable).iter().filter_map(number).collect());
        Structure::trusted(parents.collect())
    });
    let limits = Limits { max_structures: None, ..*limits };
    let found = search_orders(&problem.candidates, inside.as_ref(), &config.start, &limits);
    problem.chosen(|variable| VarSet::of(found.structure.parents(variable).iter().map(|&parent| parent.into())))
}
