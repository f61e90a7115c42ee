//! Finds violated clusters by a complete search, where growing them found none.

use rayon::prelude::*;

use super::cuts::Cluster;
use super::fractional::Fractional;
use super::set::VarSet;

/// At most so many steps for the clusters of one least member.
const STEPS: usize = 20_000;
/// At most so many clusters of one least member.
const FOUND: usize = 6;

/// Clusters whose rows with this k are violated by more than `violation`, with their excess: for each variable those of which it
/// is the least member.
///
/// Members are decided one by one. The left side of the row of a cluster is at least the sum over its members of what has
/// fewer than k parents among members and undecided variables; a branch ends when that reaches the limit. The next variable to
/// decide is the one that is a parent in most of what still has too few.
pub(super) fn search(solution: &Fractional, k: usize, violation: f64) -> Vec<(f64, Cluster)> {
    let n = solution.n_variables();
    let seeds = (0..n).into_par_iter().flat_map_iter(|least| {
        let mut search = Search { solution, k, limit: k as f64 - violation, found: Vec::new(), steps: 0 };
        search.decide(VarSet::of([least]), VarSet::of(least + 1..n));
        search.found
    });
    seeds.collect()
}

struct Search<'a> {
    solution: &'a Fractional,
    k: usize,
    limit: f64,
    found: Vec<(f64, Cluster)>,
    steps: usize,
}

impl Search<'_> {
    fn decide(&mut self, members: VarSet, undecided: VarSet) {
        self.steps += 1;
        if self.steps > STEPS || self.found.len() >= FOUND {
            return;
        }
        let possible = members.union(&undecided);
        let (mut row, mut sure) = (0.0, 0.0);
        let mut wanted = vec![0.0; self.solution.n_variables()];
        for member in members.iter() {
            for (parents, part) in self.solution.parts(member) {
                if parents.n_shared(&members) >= self.k {
                    continue;
                }
                row += part;
                if parents.n_shared(&possible) < self.k {
                    sure += part;
                } else {
                    parents
                        .iter()
                        .filter(|&parent| undecided.contains(parent))
                        .for_each(|parent| wanted[parent] += part);
                }
            }
        }
        if row < self.limit && members.len() > self.k {
            self.found.push((row - self.k as f64, Cluster { members, k: self.k }));
            return;
        }
        if sure >= self.limit {
            return;
        }
        let wanted = wanted.iter().enumerate().filter(|(_, wanted)| **wanted > 0.0);
        let Some((next, _)) = wanted.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))) else { return };
        let (mut larger, mut rest) = (members, undecided);
        larger.insert(next);
        rest.remove(next);
        self.decide(larger, rest);
        self.decide(members, rest);
    }
}
