//! Exact search by dynamic programming over subsets (Silander & Myllymäki 2006), for up to [`MAX`] variables.

use super::problem::Problem;

/// The most variables: 2^26 scores are 512 MB.
pub(super) const MAX: usize = 26;

/// Which candidate each variable has in the best network, found by
///
/// ```text
/// f(W) = min_(s in W) f(W - s) + best_s(W - s)      s is the sink of the best network on W
/// ```
///
/// with losses in place of scores. Only f is kept, 8 bytes per subset; sinks are found again on the way back. Subsets are
/// visited in numerical order, which is a walk through a binary tree: each step to the next level says of one variable whether
/// it is in W. On the way down every variable's best family can only move back in its sorted list, so it is looked for from
/// where it was. O(n 2^n), whatever the number of families.
pub(super) fn solve(problem: &Problem) -> Vec<usize> {
    let n = problem.n_variables();
    let masks: Vec<Vec<(u32, f64)>> = problem
        .variables()
        .map(|families| families.iter().map(|family| (family.parents.word(0) as u32, family.loss)).collect())
        .collect();
    let mut walk = Walk { masks: &masks, loss: vec![0.0; 1 << n] };
    walk.descend(n, 0, &[0; MAX]);
    let mut chosen = vec![0; n];
    let mut set: u32 = u32::MAX >> (32 - n);
    while set != 0 {
        let sink = |variable: usize| {
            let rest = set & !(1 << variable);
            let at = masks[variable].iter().position(|&(parents, _)| parents & !rest == 0).unwrap_or(0);
            (walk.loss[rest as usize] + masks[variable][at].1, variable, at)
        };
        let sinks = (0..n).filter(|variable| set >> variable & 1 == 1).map(sink);
        let Some((_, variable, at)) = sinks.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        chosen[variable] = at;
        set &= !(1 << variable);
    }
    chosen
}

/// For each variable, the place of a family in its list.
type Firsts = [u32; MAX];

struct Walk<'a> {
    /// Parents and loss of each family, the best first.
    masks: &'a [Vec<(u32, f64)>],
    /// f of each subset.
    loss: Vec<f64>,
}

impl Walk<'_> {
    /// Visits all subsets that have `fixed` above bit `level`. `firsts` are the best families without the variables that are
    /// known to be out.
    fn descend(&mut self, level: usize, fixed: u32, firsts: &Firsts) {
        if level == 0 {
            if fixed != 0 {
                self.loss[fixed as usize] = self.best(fixed, firsts);
            }
            return;
        }
        let bit = 1_u32 << (level - 1);
        let out = !(fixed | (bit - 1));
        let mut moved = *firsts;
        for (first, families) in moved.iter_mut().zip(self.masks) {
            while families[*first as usize].0 & out != 0 {
                *first += 1;
            }
        }
        self.descend(level - 1, fixed, &moved);
        self.descend(level - 1, fixed | bit, firsts);
    }

    fn best(&self, set: u32, firsts: &Firsts) -> f64 {
        let mut left = set;
        let mut best = f64::INFINITY;
        while left != 0 {
            let variable = left.trailing_zeros() as usize;
            left &= left - 1;
            let loss = self.loss[(set & !(1 << variable)) as usize] + self.masks[variable][firsts[variable] as usize].1;
            best = best.min(loss);
        }
        best
    }
}
