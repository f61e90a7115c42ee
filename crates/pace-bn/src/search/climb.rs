//! [`climb`]: hill climbing and tabu search on arcs.

use std::collections::VecDeque;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::arcs::{Arcs, Move};
use super::limits::{Best, Found, Limits};
use super::perturb::perturb;
use crate::score::{Points, Scorer};
use crate::structure::Structure;

/// How to climb. [`ClimbConfig::default`] is plain hill climbing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClimbConfig {
    /// The most parents of a variable; `None` for no limit.
    pub max_parents: Option<usize>,
    /// How many structures tabu search remembers and does not visit again (Glover 1989; bnlearn's `tabu`); 0 is hill climbing.
    pub tabu: usize,
    /// Tabu search ends after so many moves without a new best structure.
    pub patience: usize,
    /// How often to start again from the best structure, after random moves.
    pub restarts: usize,
    /// Random moves before each restart.
    pub perturbations: usize,
    /// The seed of the random moves.
    pub seed: u64,
}

impl Default for ClimbConfig {
    fn default() -> ClimbConfig {
        ClimbConfig { max_parents: None, tabu: 0, patience: 0, restarts: 0, perturbations: 10, seed: 0 }
    }
}

impl ClimbConfig {
    /// Tabu search that remembers 100 structures and gives up after 100 moves without success.
    pub fn tabu() -> ClimbConfig {
        ClimbConfig { tabu: 100, patience: 100, ..ClimbConfig::default() }
    }
}

/// Climbs from `start`: adds, deletes or reverses the arc that raises the score most, until none does.
///
/// Tabu search goes on with the move that lowers it least, but not to a structure it remembers. Of equal gains the first by
/// the names of child and parent is made. A move changes one family or two, so only their neighbours are scored anew: n
/// families per move. Each acyclic neighbour looked at counts as one structure.
pub fn climb(scorer: &Scorer, start: &Structure, config: &ClimbConfig, limits: &Limits) -> Found {
    let max_parents = config.max_parents.unwrap_or(usize::MAX);
    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    let mut arcs = Arcs::new(scorer, start, max_parents);
    let mut best = Best::new(start.clone(), arcs.score());
    for round in 0..=config.restarts {
        if round > 0 {
            arcs = Arcs::new(scorer, best.structure(), max_parents);
            perturb(&mut arcs, config.perturbations, &mut rng);
            best.offer(arcs.score(), || arcs.structure());
        }
        if !run(&mut arcs, config, limits, &mut best) {
            break;
        }
    }
    best.finish()
}

/// Climbs once; `false` if a limit was reached.
fn run(arcs: &mut Arcs, config: &ClimbConfig, limits: &Limits, best: &mut Best) -> bool {
    let mut visited = VecDeque::from([arcs.hash()]);
    let mut n_idle = 0;
    let mut top = arcs.score();
    loop {
        if limits.are_reached(best.n_structures()) {
            return false;
        }
        let mut n_seen = 0;
        let mut chosen: Option<(Move, Points)> = None;
        for (step, gain) in arcs.moves() {
            n_seen += 1;
            let is_better = chosen.is_none_or(|(_, most)| gain > most);
            if is_better && (config.tabu == 0 || !visited.contains(&arcs.hash_after(step))) {
                chosen = Some((step, gain));
            }
        }
        best.note(n_seen);
        let Some((step, gain)) = chosen else { return true };
        if gain <= Points::ZERO && (config.tabu == 0 || n_idle >= config.patience) {
            return true;
        }
        arcs.make(step);
        visited.push_back(arcs.hash());
        if visited.len() > config.tabu.max(1) {
            visited.pop_front();
        }
        let score = arcs.score();
        n_idle = if score > top { 0 } else { n_idle + 1 };
        top = top.max(score);
        best.offer(score, || arcs.structure());
    }
}
