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
/// Growth ends after so many steps that do not violate the row more.
const PATIENCE: usize = 4;

/// Clusters whose rows are violated, the most violated first; all known clusters are satisfied.
///
/// To find the most violated cluster is NP-hard. From each arc of the solution a cluster is grown, by the variable that lowers
/// the left side of its row most; then members are dropped as long as that helps. The strongly connected sets of the arcs that
/// are there for more than a half are tried, too: an integral solution with a cycle always violates one of them.
pub(super) fn violated(solution: &Fractional) -> Vec<VarSet> {
    let arcs = solution.arcs();
    let grown = arcs.par_iter().flat_map_iter(|&(from, to, _)| grow(solution, VarSet::of([from, to])));
    let mut found: Vec<(f64, VarSet)> = grown.collect();
    let cycles = cyclic(solution.n_variables(), &arcs).into_iter().map(|cluster| (solution.row(&cluster), cluster));
    found.extend(cycles.filter(|(row, _)| *row < 1.0 - VIOLATION));
    if found.len() < FEW {
        found.extend(search(solution, 1.0 - VIOLATION));
    }
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| (a.1.len(), a.1).cmp(&(b.1.len(), b.1))));
    found.dedup_by(|a, b| a.1 == b.1);
    found.truncate(ROWS);
    found.into_iter().map(|(_, cluster)| cluster).collect()
}

/// The violated clusters met while one is grown: the most violated of them, with the left side of its row.
fn grow(solution: &Fractional, mut cluster: VarSet) -> Option<(f64, VarSet)> {
    let n = solution.n_variables();
    let mut best = (solution.row(&cluster), cluster);
    let mut n_idle = 0;
    while n_idle < PATIENCE && cluster.len() < n {
        let larger = (0..n).filter(|&variable| !cluster.contains(variable)).map(|variable| {
            let mut larger = cluster;
            larger.insert(variable);
            (solution.row(&larger), larger)
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
    while best.1.len() > 2 {
        let smaller = best.1.iter().map(|variable| {
            let mut smaller = best.1;
            smaller.remove(variable);
            (solution.row(&smaller), smaller)
        });
        match smaller.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some(next) if next.0 <= best.0 + 1e-9 => best = next,
            _ => break,
        }
    }
    (best.0 < 1.0 - VIOLATION).then_some(best)
}

/// The sets of more than one variable that are strongly connected by arcs of more than a half.
fn cyclic(n: usize, arcs: &[(usize, usize, f64)]) -> Vec<VarSet> {
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
