//! [`search_orders`]: search over orders of the variables.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::limits::{Best, Found, Limits};
use crate::exact::Candidates;
use crate::score::Points;
use crate::structure::Structure;

/// How to search over orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderConfig {
    /// How often to disturb the best order and descend again.
    pub rounds: usize,
    /// How many variables a disturbance moves.
    pub disturbance: usize,
    /// The seed of starts and disturbances.
    pub seed: u64,
}

impl Default for OrderConfig {
    fn default() -> OrderConfig {
        OrderConfig { rounds: 200, disturbance: 4, seed: 0 }
    }
}

/// Searches over orders (Teyssier & Koller 2005): the score of an order is that of the best structure whose arcs agree with it,
/// which takes the best of each variable's candidate families among its predecessors.
///
/// A step takes one variable to its best place (Alonso-Barba et al. 2011): walking there by swaps of neighbours changes two
/// families per place. When no variable can be moved with profit, the order is disturbed, and the search goes on from the
/// better of the two. Each order looked at counts as one structure. `start` gives the first order; `None` draws it.
pub fn search_orders(
    candidates: &Candidates,
    start: Option<&Structure>,
    config: &OrderConfig,
    limits: &Limits,
) -> Found {
    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    let first = start.map_or_else(
        || {
            let mut order: Vec<u16> = (0..candidates.n_variables() as u16).collect();
            order.shuffle(&mut rng);
            order
        },
        Structure::order,
    );
    let mut orders = Orders::new(candidates, first);
    let mut best = Best::new(orders.structure(), orders.score());
    orders.improve(limits, &mut best);
    let mut kept = (orders.score(), orders.order.clone());
    for _ in 0..config.rounds {
        if limits.are_reached(best.n_structures()) {
            break;
        }
        orders.disturb(config.disturbance, &mut rng);
        best.note(1);
        orders.improve(limits, &mut best);
        if orders.score() >= kept.0 {
            kept = (orders.score(), orders.order.clone());
        } else {
            orders = Orders::new(candidates, kept.1.clone());
        }
    }
    best.finish()
}

/// An order and the best family of each variable among its predecessors.
pub(crate) struct Orders<'a> {
    candidates: &'a Candidates,
    order: Vec<u16>,
    place: Vec<u32>,
    /// Which candidate each variable has.
    chosen: Vec<u32>,
}

impl<'a> Orders<'a> {
    pub(crate) fn new(candidates: &'a Candidates, order: Vec<u16>) -> Orders<'a> {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &variable)| place[usize::from(variable)] = at as u32);
        let chosen = vec![0; order.len()];
        let mut orders = Orders { candidates, order, place, chosen };
        orders.rechoose();
        orders
    }

    pub(crate) fn score(&self) -> Points {
        let families = self.candidates.variables().zip(&self.chosen);
        families.map(|(families, &chosen)| families[chosen as usize].score).sum()
    }

    pub(crate) fn structure(&self) -> Structure {
        let families = self.candidates.variables().zip(&self.chosen);
        Structure::trusted(families.map(|(families, &chosen)| families[chosen as usize].parents.to_vec()).collect())
    }

    /// Chooses all families anew.
    fn rechoose(&mut self) {
        for variable in 0..self.order.len() as u16 {
            self.chosen[usize::from(variable)] = self.first_from(variable, 0);
        }
    }

    /// The first candidate from `start` on whose parents come before the variable. The empty set is a candidate.
    fn first_from(&self, variable: u16, start: u32) -> u32 {
        let (families, own) = (self.candidates.families(variable), self.place[usize::from(variable)]);
        let fits = |index: &usize| families[*index].parents.iter().all(|&parent| self.place[usize::from(parent)] < own);
        (start as usize..families.len()).find(fits).unwrap_or(families.len() - 1) as u32
    }

    fn family_score(&self, variable: u16, chosen: u32) -> Points {
        self.candidates.families(variable)[chosen as usize].score
    }

    /// Swaps the variables at places `at` and `at + 1`, and returns what that brings.
    fn swap(&mut self, at: usize) -> Points {
        let (left, right) = (self.order[at], self.order[at + 1]);
        self.order.swap(at, at + 1);
        self.place.swap(left.into(), right.into());
        let before = self.family_score(left, self.chosen[usize::from(left)])
            + self.family_score(right, self.chosen[usize::from(right)]);
        // The left one gains a predecessor, so a candidate before its own may fit now. The right one loses one.
        self.chosen[usize::from(left)] = self.first_from(left, 0);
        let lost = self.candidates.families(right)[self.chosen[usize::from(right)] as usize].parents.contains(&left);
        if lost {
            self.chosen[usize::from(right)] = self.first_from(right, self.chosen[usize::from(right)] + 1);
        }
        let after = self.family_score(left, self.chosen[usize::from(left)])
            + self.family_score(right, self.chosen[usize::from(right)]);
        after - before
    }

    /// Takes variables to their best places until none can be moved with profit.
    pub(super) fn improve(&mut self, limits: &Limits, best: &mut Best) {
        let mut n_idle = 0;
        let mut variable = 0;
        let n = self.order.len();
        best.offer(self.score(), || self.structure());
        while n_idle < n && !limits.are_reached(best.n_structures()) {
            let (is_moved, n_seen) = self.settle(variable as u16);
            best.note(n_seen);
            n_idle = if is_moved { 0 } else { n_idle + 1 };
            variable = (variable + 1) % n;
            if is_moved {
                best.offer(self.score(), || self.structure());
            }
        }
    }

    /// The same, without keeping count: for orders that another method suggests.
    pub(crate) fn descend(&mut self) {
        let (mut n_idle, mut variable, n) = (0, 0, self.order.len());
        while n_idle < n {
            n_idle = if self.settle(variable as u16).0 { 0 } else { n_idle + 1 };
            variable = (variable + 1) % n;
        }
    }

    /// Takes one variable to its best place: whether it was moved, and how many orders were looked at.
    fn settle(&mut self, variable: u16) -> (bool, u64) {
        let home = self.place[usize::from(variable)] as usize;
        let saved = self.chosen.clone();
        let (mut total, mut top, mut top_place) = (Points::ZERO, Points::ZERO, home);
        for at in (0..home).rev() {
            total += self.swap(at);
            if total > top {
                (top, top_place) = (total, at);
            }
        }
        self.carry(variable, home);
        self.chosen.copy_from_slice(&saved);
        total = Points::ZERO;
        for at in home..self.order.len() - 1 {
            total += self.swap(at);
            if total > top {
                (top, top_place) = (total, at + 1);
            }
        }
        self.carry(variable, top_place);
        if top_place == home {
            self.chosen = saved;
        } else {
            self.rechoose();
        }
        (top_place != home, self.order.len() as u64 - 1)
    }

    /// Puts a variable at a place, the others keeping their order. The choice of families is left to the caller.
    fn carry(&mut self, variable: u16, to: usize) {
        let from = self.place[usize::from(variable)] as usize;
        if from < to {
            self.order[from..=to].rotate_left(1);
        } else {
            self.order[to..=from].rotate_right(1);
        }
        for at in from.min(to)..=from.max(to) {
            self.place[usize::from(self.order[at])] = at as u32;
        }
    }

    fn disturb(&mut self, n_moves: usize, rng: &mut impl Rng) {
        let n = self.order.len();
        for _ in 0..n_moves {
            let (variable, to) = (rng.random_range(0..n) as u16, rng.random_range(0..n));
            self.carry(variable, to);
        }
        self.rechoose();
    }
}
