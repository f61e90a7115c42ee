//! Finds violated clusters by a complete search, where growing them found none.

use rayon::prelude::*;

use super::fractional::Fractional;
use super::set::VarSet;

/// At most so many steps for the clusters of one least member.
const STEPS: usize = 20_000;
/// At most so many clusters of one least member.
const FOUND: usize = 6;

/// Violated clusters with the left sides of their rows, which are below `limit`: for each variable those of which it is the
/// least member.
///
/// Members are decided one by one. The left side of the row of a cluster is at least the sum over its members of what has no
/// parent among members and undecided variables; a branch ends when that reaches the limit. The next variable to decide is the
/// one that would cover most of what has no parent yet.
pub(super) fn search(solution: &Fractional, limit: f64) -> Vec<(f64, VarSet)> {
    let n = solution.n_variables();
    let seeds = (0..n).into_par_iter().flat_map_iter(|least| {
        let mut search = Search { solution, limit, found: Vec::new(), steps: 0 };
        search.decide(VarSet::of([least]), VarSet::of(least + 1..n));
        search.found
    });
    seeds.collect()
}

struct Search<'a> {
    solution: &'a Fractional,
    limit: f64,
    found: Vec<(f64, VarSet)>,
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
        let mut covered = vec![0.0; self.solution.n_variables()];
        for member in members.iter() {
            for (parents, part) in self.solution.parts(member) {
                if !parents.is_disjoint(&members) {
                    continue;
                }
                row += part;
                if parents.is_disjoint(&possible) {
                    sure += part;
                } else {
                    parents
                        .iter()
                        .filter(|&parent| undecided.contains(parent))
                        .for_each(|parent| covered[parent] += part);
                }
            }
        }
        if row < self.limit {
            self.found.push((row, members));
            return;
        }
        if sure >= self.limit {
            return;
        }
        let Some((next, _)) = covered
            .iter()
            .enumerate()
            .filter(|(_, covered)| **covered > 0.0)
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))
        else {
            return;
        };
        let (mut larger, mut rest) = (members, undecided);
        larger.insert(next);
        rest.remove(next);
        self.decide(larger, rest);
        self.decide(members, rest);
    }
}
