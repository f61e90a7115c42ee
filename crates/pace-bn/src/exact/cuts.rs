//! Finds clusters whose rows a fractional solution violates.

use rayon::prelude::*;

use super::fractional::Fractional;
use super::separate::search;
use super::set::VarSet;

/// A row has to be violated by this much to be added.
const VIOLATION: f64 = 1e-4;
/// At most so many rows are added at a time.
const ROWS: usize = 60;
/// A complete search follows if growing found fewer than this.
const FEW: usize = 10;
/// The greatest k of a row.
const MAX_K: usize = 3;
/// Growth ends after so many steps that do not violate the row more.
const PATIENCE: usize = 4;

/// A cutting plane: of the members of a cluster, at least k have fewer than k parents in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cluster {
    pub(super) members: VarSet,
    pub(super) k: usize,
}

impl Cluster {
    /// Whether a family is in its row.
    pub(super) fn holds(&self, variable: usize, parents: &VarSet) -> bool {
        self.members.contains(variable) && parents.n_shared(&self.members) < self.k
    }
}

/// Clusters whose rows are violated, the most violated first; all known clusters are satisfied.
///
/// To find the most violated cluster is NP-hard. From each arc of the solution a cluster is grown, by the variable that lowers
/// the left side of its row most; then members are dropped as long as that helps. Clusters of three variables start those with
/// k = 2. The strongly connected sets of the arcs that are there for more than a half are tried, too: an integral solution with
/// a cycle always violates one of them.
pub(super) fn violated(solution: &Fractional) -> Vec<Cluster> {
    let arcs = solution.arcs();
    let grown = arcs.par_iter().flat_map_iter(|&(from, to, _)| grow(solution, VarSet::of([from, to]), 1));
    let mut found: Vec<(f64, Cluster)> = grown.collect();
    let cycles = cyclic(solution.n_variables(), &arcs).into_iter().map(|members| Cluster { members, k: 1 });
    found.extend(cycles.map(|cluster| (excess(solution, &cluster), cluster)));
    found.extend(triples(solution));
    found.retain(|(excess, _)| *excess < -VIOLATION);
    for k in 1..=MAX_K {
        if found.len() < FEW {
            found.extend(search(solution, k, VIOLATION));
        }
    }
    found.sort_unstable_by(|a, b| {
        a.0.total_cmp(&b.0).then_with(|| (a.1.members.len(), a.1).cmp(&(b.1.members.len(), b.1)))
    });
    found.dedup_by(|a, b| a.1 == b.1);
    found.truncate(ROWS);
    found.into_iter().map(|(_, cluster)| cluster).collect()
}

/// What a solution has beyond the right side of a row; below 0 if it violates the row.
fn excess(solution: &Fractional, cluster: &Cluster) -> f64 {
    solution.row(&cluster.members, cluster.k) - cluster.k as f64
}

/// The clusters grown from three linked variables, with k = 2.
fn triples(solution: &Fractional) -> Vec<(f64, Cluster)> {
    let n = solution.n_variables();
    let mut linked = vec![VarSet::default(); n];
    for (from, to, _) in solution.arcs() {
        linked[from].insert(to);
        linked[to].insert(from);
    }
    let grown = (0..n).into_par_iter().flat_map_iter(|least| {
        let mut found = Vec::new();
        for second in linked[least].iter().filter(|&second| second > least) {
            for third in
                (second + 1..n).filter(|&third| linked[least].contains(third) || linked[second].contains(third))
            {
                let members = VarSet::of([least, second, third]);
                if solution.row(&members, 2) < 2.0 + 0.2 {
                    found.extend(grow(solution, members, 2));
                }
            }
        }
        found
    });
    grown.collect()
}

/// The most violated cluster met while one is grown, with its excess.
fn grow(solution: &Fractional, members: VarSet, k: usize) -> Option<(f64, Cluster)> {
    let n = solution.n_variables();
    let mut cluster = Cluster { members, k };
    let mut best = (excess(solution, &cluster), cluster);
    let mut n_idle = 0;
    while n_idle < PATIENCE && cluster.members.len() < n {
        let larger = (0..n).filter(|&variable| !cluster.members.contains(variable)).map(|variable| {
            let mut larger = cluster;
            larger.members.insert(variable);
            (excess(solution, &larger), larger)
        });
        let Some(next) = larger.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        cluster = next.1;
        n_idle += 1;
        if next.0 < best.0 - 1e-9 {
            best = next;
            n_idle = 0;
        }
    }
    // Drop members whose absence lowers the row, or leaves it as it is: smaller clusters cut deeper.
    while best.1.members.len() > k + 1 {
        let smaller = best.1.members.iter().map(|variable| {
            let mut smaller = best.1;
            smaller.members.remove(variable);
            (excess(solution, &smaller), smaller)
        });
        match smaller.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some(next) if next.0 <= best.0 + 1e-9 => best = next,
            _ => break,
        }
    }
    (best.0 < -VIOLATION).then_some(best)
}

/// The sets of more than one variable that are strongly connected by arcs of more than a half.
pub(super) fn cyclic(n: usize, arcs: &[(usize, usize, f64)]) -> Vec<VarSet> {
    let mut reach: Vec<VarSet> = vec![VarSet::default(); n];
    arcs.iter().filter(|(_, _, part)| *part > 0.5).for_each(|&(from, to, _)| reach[from].insert(to));
    for middle in 0..n {
        let through = reach[middle];
        for from in &mut reach {
            if from.contains(middle) {
                *from = from.union(&through);
            }
        }
    }
    let mut found: Vec<VarSet> = (0..n)
        .map(|variable| VarSet::of(reach[variable].iter().filter(|&other| reach[other].contains(variable))))
        .filter(|set| set.len() > 1)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
