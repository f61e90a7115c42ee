//! [`Fractional`]: a solution of the linear programme, in which a variable may have several families in parts.

use super::set::VarSet;

/// A part below this counts as none.
const NOTHING: f64 = 1e-7;
/// A solution is integral if every part is this close to 0 or 1.
const WHOLE: f64 = 1e-6;

/// The families of each variable that have a part, and their parts.
#[derive(Clone, Debug)]
pub(super) struct Fractional {
    parts: Vec<Vec<(VarSet, f64)>>,
}

impl Fractional {
    /// Collects the parts above zero of (variable, parents, part).
    pub(super) fn of(n_variables: usize, parts: impl Iterator<Item = (usize, VarSet, f64)>) -> Fractional {
        let mut found = vec![Vec::new(); n_variables];
        for (variable, parents, part) in parts.filter(|(_, _, part)| *part > NOTHING) {
            found[variable].push((parents, part));
        }
        Fractional { parts: found }
    }

    pub(super) fn n_variables(&self) -> usize {
        self.parts.len()
    }

    /// The families of a variable that have a part.
    pub(super) fn parts(&self, variable: usize) -> &[(VarSet, f64)] {
        &self.parts[variable]
    }

    /// Whether every variable has one family.
    pub(super) fn is_integral(&self) -> bool {
        self.parts.iter().all(|parts| parts.iter().all(|(_, part)| *part > 1.0 - WHOLE || *part < WHOLE))
    }

    /// The left side of the row of a cluster: how much of its variables has fewer than `k` parents in it. A structure has at
    /// least k, as the i-th of its variables in topological order has fewer than i parents in it.
    pub(super) fn row(&self, cluster: &VarSet, k: usize) -> f64 {
        let free = |variable: usize| {
            let free = self.parts[variable].iter().filter(|(parents, _)| parents.n_shared(cluster) < k);
            free.map(|(_, part)| part).sum::<f64>()
        };
        cluster.iter().map(free).sum()
    }

    /// The arcs that have a part, as (from, to, part).
    pub(super) fn arcs(&self) -> Vec<(usize, usize, f64)> {
        let n = self.n_variables();
        let mut arcs = Vec::new();
        for to in 0..n {
            let mut sums = vec![0.0; n];
            for (parents, part) in &self.parts[to] {
                parents.iter().for_each(|parent| sums[parent] += part);
            }
            arcs.extend(
                sums.into_iter().enumerate().filter(|(_, sum)| *sum > NOTHING).map(|(from, sum)| (from, to, sum)),
            );
        }
        arcs
    }

    /// The pairs whose order the solution leaves open, those first that it has in both directions, in the greatest parts.
    ///
    /// If there is no such pair, the whole families of a variable are in parts: then any pair with an arc in part.
    pub(super) fn open_pairs(&self, before: &[VarSet]) -> Vec<(usize, usize)> {
        let n = self.n_variables();
        let mut parts = vec![0.0; n * n];
        self.arcs().into_iter().for_each(|(from, to, part)| parts[from * n + to] = part);
        let mut pairs: Vec<(f64, f64, usize, usize)> = Vec::new();
        for one in 0..n {
            for other in one + 1..n {
                let (there, back) = (parts[one * n + other], parts[other * n + one]);
                let is_open = !before[one].contains(other) && !before[other].contains(one);
                if is_open && there.max(back) > WHOLE && there.max(back) < 1.0 - WHOLE {
                    pairs.push((there.min(back), there.max(back), one, other));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        pairs.into_iter().map(|(_, _, one, other)| (one, other)).collect()
    }

    /// An order that the solution suggests: the next variable is the one with the greatest part whose parents are placed.
    pub(super) fn order(&self) -> Vec<u16> {
        let n = self.n_variables();
        let (mut placed, mut order) = (VarSet::default(), Vec::with_capacity(n));
        while order.len() < n {
            let ready = |variable: usize| -> f64 {
                let ready = self.parts[variable].iter().filter(|(parents, _)| parents.is_subset(&placed));
                ready.map(|(_, part)| part).sum()
            };
            let open = (0..n).filter(|&variable| !placed.contains(variable));
            // The last of equals would win; the first shall.
            let Some(next) = open.rev().max_by(|&a, &b| ready(a).total_cmp(&ready(b))) else { break };
            placed.insert(next);
            order.push(next as u16);
        }
        order
    }
}
