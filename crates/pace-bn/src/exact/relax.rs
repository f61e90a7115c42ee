//! Lagrangian relaxation: a bound that allows cycles between groups of variables only.
//!
//! The linear programme allows fractions of families; within a group of variables that explain one another well, that costs
//! it most of its bound. Here groups are solved exactly, by dynamic programming, and only clusters that reach beyond a group are
//! relaxed: with multipliers u_i >= 0,
//!
//! ```text
//! bound(u) = sum_i u_i k_i + sum_groups min_(acyclic in the group) sum_(chosen j) (loss_j - sum_(i of j) u_i)
//! ```
//!
//! For the multipliers of the linear programme that is at least its own bound. Subgradient steps of Polyak's length raise it.

use rayon::prelude::*;

use super::cuts::{Cluster, cyclic};
use super::groups::Group;
use super::set::VarSet;

/// The most variables per group: 2^20 subsets take 8 MB for each of them.
pub(super) const MAX_SIZE: usize = 20;
/// At most so many steps.
const STEPS: usize = 150;
/// The length of steps is halved after so many that raise no bound.
const PATIENCE: usize = 12;
/// Steps end when they are this short.
const SHORTEST: f64 = 0.02;

/// A cutting plane with its multiplier and the families in it.
pub(super) struct Row {
    pub(super) cluster: Cluster,
    pub(super) multiplier: f64,
    pub(super) columns: Vec<u32>,
}

/// A family, as (variable, parents, loss).
pub(super) type Column = (usize, VarSet, f64);

/// A lower bound on the loss, and by how much each family raises it if it is chosen, with groups of at most `size` variables.
pub(super) fn relax(
    n_variables: usize,
    columns: &[Column],
    mut rows: Vec<Row>,
    size: usize,
    known_loss: f64,
    stop: &dyn Fn() -> bool,
) -> (f64, Vec<f64>) {
    let numbered = || columns.iter().zip(0..).map(|(&(variable, parents, _), number)| (variable, parents, number));
    let mut groups: Vec<Group> =
        partition(n_variables, &rows, size).into_iter().map(|members| Group::new(members, numbered())).collect();
    let (mut best, mut best_costs) = (f64::NEG_INFINITY, Vec::new());
    let (mut length, mut n_idle) = (1.0, 0);
    for step in 0..STEPS {
        let costs = reduced(columns, &rows);
        let constant: f64 = rows.iter().map(|row| row.multiplier * row.cluster.k as f64).sum();
        let solved: Vec<(f64, Vec<u32>)> =
            groups.par_iter_mut().map(|group| (group.solve(&costs), group.chosen(&costs))).collect();
        let bound = constant + solved.iter().map(|(cost, _)| cost).sum::<f64>();
        n_idle += 1;
        if bound > best + 1e-3 * (known_loss - best).max(0.0) {
            n_idle = 0;
        }
        if bound > best {
            (best, best_costs) = (bound, costs);
        }
        if best >= known_loss || step + 1 == STEPS || stop() {
            break;
        }
        if n_idle > PATIENCE {
            (length, n_idle) = (length / 2.0, 0);
            if length < SHORTEST {
                break;
            }
        }
        let mut is_chosen = vec![false; columns.len()];
        solved.iter().flat_map(|(_, chosen)| chosen).for_each(|&column| is_chosen[column as usize] = true);
        add_cycles(n_variables, columns, &is_chosen, &mut rows);
        let slopes: Vec<f64> = rows.iter().map(|row| slope(row, &is_chosen)).collect();
        let norm: f64 = slopes
            .iter()
            .zip(&rows)
            .filter(|(slope, row)| **slope > 0.0 || row.multiplier > 0.0)
            .map(|(slope, _)| slope * slope)
            .sum();
        if norm == 0.0 {
            break;
        }
        let reach = length * (known_loss - bound) / norm;
        for (row, slope) in rows.iter_mut().zip(slopes) {
            row.multiplier = (row.multiplier + reach * slope).max(0.0);
        }
    }
    let mut raised = vec![0.0; columns.len()];
    for group in &mut groups {
        group.solve(&best_costs);
        group.raised(&best_costs).into_iter().for_each(|(column, raise)| raised[column as usize] = raise);
    }
    (best, raised)
}

/// The losses less the multipliers of their rows.
fn reduced(columns: &[Column], rows: &[Row]) -> Vec<f64> {
    let mut costs: Vec<f64> = columns.iter().map(|&(_, _, loss)| loss).collect();
    for row in rows.iter().filter(|row| row.multiplier > 0.0) {
        row.columns.iter().for_each(|&column| costs[column as usize] -= row.multiplier);
    }
    costs
}

/// How the bound changes with the multiplier of a row: by how much the chosen families violate it.
fn slope(row: &Row, is_chosen: &[bool]) -> f64 {
    row.cluster.k as f64 - row.columns.iter().filter(|&&column| is_chosen[column as usize]).count() as f64
}

/// Adds the rows of the cycles among chosen families.
fn add_cycles(n_variables: usize, columns: &[Column], is_chosen: &[bool], rows: &mut Vec<Row>) {
    let arcs: Vec<(usize, usize, f64)> = (columns.iter().zip(is_chosen))
        .filter(|(_, is_chosen)| **is_chosen)
        .flat_map(|((variable, parents, _), _)| parents.iter().map(|parent| (parent, *variable, 1.0)))
        .collect();
    for members in cyclic(n_variables, &arcs) {
        let cluster = Cluster { members, k: 1 };
        if rows.iter().all(|row| row.cluster != cluster) {
            let is_in = |column: &Column| cluster.holds(column.0, &column.1);
            let inside = columns.iter().zip(0..).filter(|(column, _)| is_in(column)).map(|(_, number)| number);
            rows.push(Row { cluster, multiplier: 0.0, columns: inside.collect() });
        }
    }
}

/// Groups of variables that the multipliers tie together: the two groups with the greatest sum between them are joined while
/// they are small enough.
fn partition(n_variables: usize, rows: &[Row], size: usize) -> Vec<Vec<usize>> {
    let mut ties = vec![vec![0.0; n_variables]; n_variables];
    for row in rows.iter().filter(|row| row.multiplier > 0.0) {
        let share = row.multiplier / (row.cluster.members.len() as f64 - 1.0);
        for a in row.cluster.members.iter() {
            row.cluster.members.iter().filter(|&b| b != a).for_each(|b| ties[a][b] += share);
        }
    }
    let mut groups: Vec<Vec<usize>> = (0..n_variables).map(|variable| vec![variable]).collect();
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        for a in 0..groups.len() {
            for b in a + 1..groups.len() {
                if groups[a].len() + groups[b].len() > size {
                    continue;
                }
                let sum: f64 = groups[a]
                    .iter()
                    .flat_map(|&x| groups[b].iter().map(move |&y| (x, y)))
                    .map(|(x, y)| ties[x][y])
                    .sum();
                if best.is_none_or(|(most, ..)| sum > most) {
                    best = Some((sum, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { return groups };
        let joined = groups.swap_remove(b);
        groups[a].extend(joined);
        groups[a].sort_unstable();
    }
}
