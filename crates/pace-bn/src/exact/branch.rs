//! Branch and cut over the families of one component.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::certify::ExactConfig;
use super::cuts::{Cluster, violated};
use super::fractional::Fractional;
use super::lp::{Outcome, Simplex};
use super::problem::Problem;
use super::relax::{Column, MAX_SIZE, Row, relax};
use super::set::VarSet;
use crate::search::Orders;

/// A node is done if no solution in it is better than the best known one by more than this.
pub(super) const TOLERANCE: f64 = 1e-7;
/// Steps of the simplex method before it counts as stuck.
const MAX_STEPS: usize = 100_000;
/// A node is branched if so many rounds of cutting planes raise its bound by less than [`TAIL`] of the gap.
const ROUNDS: usize = 1;
const TAIL: f64 = 0.02;
/// At the root, the patience with cutting planes is this many rounds.
const ROOT_ROUNDS: usize = 8;
/// So many divisions of a node are tried, with so many steps each (strong branching).
const TRIALS: usize = 8;
const TRIAL_STEPS: usize = 40;
/// How often the root is relaxed with exact groups, as long as that drops families.
const RELAXATIONS: usize = 6;
/// Rows that have not been tight for a while are dropped if there are more than this, per variable.
const ROWS_PER_VARIABLE: usize = 8;

/// What is known when the search ends.
pub(super) struct Bounded {
    /// The chosen family of each variable.
    pub(super) chosen: Vec<usize>,
    /// No network of the component has a lower loss.
    pub(super) lower: f64,
    /// How many nodes were solved.
    pub(super) n_nodes: u64,
    /// How many cutting planes were found.
    pub(super) n_cuts: u64,
}

/// A part of all networks that is still to be searched.
struct Node {
    /// The variables that come before each variable.
    before: Vec<VarSet>,
    /// The families that are not ruled out.
    allowed: Vec<bool>,
    depth: usize,
}

/// What became of a node.
enum Fate {
    /// Nothing better in it than this loss.
    Done(f64),
    /// It has to be divided by the order of two variables; its bound.
    Divided(usize, usize, f64),
}

/// Finds the best network of a component, starting from a known one.
///
/// The node of the least bound comes first. A node is divided by the order of two variables: the one that comes first has no
/// family with the other in it, nor with anything that comes after the other. Cutting planes hold in all nodes. Families that
/// cannot be part of anything better than the best known network, by their reduced cost, are ruled out below a node; those
/// ruled out at the root are dropped for good.
pub(super) fn solve(problem: &Problem, start: Vec<usize>, config: &ExactConfig, stop: &dyn Fn() -> bool) -> Bounded {
    let mut solver = Solver::new(problem, start, config.max_group);
    let root = Node {
        before: vec![VarSet::default(); problem.n_variables()],
        allowed: vec![true; solver.columns.len()],
        depth: 0,
    };
    let mut open = BinaryHeap::from([Open { bound: 0.0, number: 0, node: root }]);
    let (mut lower, mut n_nodes, mut n_opened) = (f64::INFINITY, 0, 1);
    while let Some(Open { bound, mut node, .. }) = open.pop() {
        if bound >= solver.loss - TOLERANCE || n_nodes >= config.max_nodes || stop() {
            // The least bound of all that are open.
            lower = lower.min(bound);
            break;
        }
        n_nodes += 1;
        match solver.solve(&mut node, bound, stop) {
            Fate::Done(bound) => lower = lower.min(bound),
            Fate::Divided(one, other, bound) => {
                for (first, second) in [(one, other), (other, one)] {
                    let node = node.with(first, second);
                    open.push(Open { bound, number: n_opened, node });
                    n_opened += 1;
                }
            }
        }
    }
    let lower = lower.min(solver.dropped).min(solver.loss);
    Bounded { chosen: solver.chosen, lower, n_nodes, n_cuts: solver.n_cuts }
}

impl Node {
    /// The part of it in which `first` comes before `second`, and so does all that comes before `first`.
    fn with(&self, first: usize, second: usize) -> Node {
        let mut before = self.before.clone();
        let mut earlier = before[first];
        earlier.insert(first);
        for (later, before) in before.iter_mut().enumerate() {
            if later == second || before.contains(second) {
                *before = before.union(&earlier);
            }
        }
        Node { before, allowed: self.allowed.clone(), depth: self.depth + 1 }
    }
}

/// A node that waits: the least bound first, and of equal ones the newest.
struct Open {
    bound: f64,
    number: u64,
    node: Node,
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Open) -> std::cmp::Ordering {
        other.bound.total_cmp(&self.bound).then(self.number.cmp(&other.number))
    }
}

struct Solver<'a> {
    problem: &'a Problem,
    /// Variable and place in its list of each column.
    columns: Vec<(usize, usize)>,
    simplex: Simplex,
    clusters: Vec<Cluster>,
    chosen: Vec<usize>,
    loss: f64,
    /// The least bound of what was dropped.
    dropped: f64,
    n_cuts: u64,
    /// Variables per group of the relaxation.
    max_group: usize,
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem, chosen: Vec<usize>, max_group: usize) -> Solver<'a> {
        let loss = problem.loss(&chosen);
        let columns: Vec<(usize, usize)> = (0..problem.n_variables())
            .flat_map(|variable| (0..problem.families(variable).len()).map(move |family| (variable, family)))
            // What costs more than everything together is no part of anything better.
            .filter(|&(variable, family)| problem.families(variable)[family].loss <= loss)
            .collect();
        let costs: Vec<(usize, f64)> =
            columns.iter().map(|&(variable, family)| (variable, problem.families(variable)[family].loss)).collect();
        let simplex = Simplex::new(problem.n_variables(), &costs);
        let clusters = Vec::new();
        Solver { problem, columns, simplex, clusters, chosen, loss, dropped: f64::INFINITY, n_cuts: 0, max_group }
    }

    fn parents(&self, column: usize) -> VarSet {
        let (variable, family) = self.columns[column];
        self.problem.families(variable)[family].parents
    }

    /// Solves a node: cuts until nothing is violated, or the bound hardly moves.
    fn solve(&mut self, node: &mut Node, bound: f64, stop: &dyn Fn() -> bool) -> Fate {
        self.rule_out(node);
        self.simplex.allow(|column| node.allowed[column]);
        let mut bound = bound;
        let (mut history, mut n_relaxed) = (Vec::new(), 0);
        loop {
            let outcome = self.simplex.solve(self.loss, MAX_STEPS);
            let (found, raised) = self.simplex.bound();
            bound = bound.max(found);
            if outcome == Outcome::Infeasible {
                return Fate::Done(f64::INFINITY);
            }
            if bound >= self.loss - TOLERANCE {
                return Fate::Done(bound);
            }
            let solution = self.solution();
            self.round(&solution);
            if bound >= self.loss - TOLERANCE {
                return Fate::Done(bound);
            }
            self.rule_out_by_cost(node, found, &raised);
            history.push(bound);
            let patience = if node.depth == 0 { ROOT_ROUNDS } else { ROUNDS };
            let is_slow = history.len() > patience
                && bound - history[history.len() - 1 - patience] < TAIL * (self.loss - bound)
                && !solution.is_integral();
            let clusters = if is_slow || stop() { Vec::new() } else { violated(&solution) };
            if clusters.is_empty()
                && node.depth == 0
                && self.max_group > 0
                && n_relaxed < RELAXATIONS
                && !stop()
                && !solution.is_integral()
            {
                n_relaxed += 1;
                let is_smaller = self.relax(node, &mut bound, stop);
                if bound >= self.loss - TOLERANCE {
                    return Fate::Done(bound);
                }
                if is_smaller {
                    history.clear();
                    continue;
                }
            }
            if clusters.is_empty() {
                return match self.division(node, &solution) {
                    Some((one, other)) => Fate::Divided(one, other, bound),
                    // Integral and acyclic: `round` has taken it if it is better. Otherwise the search was told to stop, or the
                    // arithmetic gave way; then the bound stands as it is.
                    None if solution.is_integral() && outcome == Outcome::Optimal && !stop() => Fate::Done(self.loss),
                    None => Fate::Done(bound),
                };
            }
            self.n_cuts += clusters.len() as u64;
            self.drop_rows();
            clusters.into_iter().for_each(|cluster| self.add(cluster));
        }
    }

    /// The two variables by whose order a node is divided: of those that the solution leaves open, the pair that raises the
    /// lesser of both bounds most.
    fn division(&self, node: &Node, solution: &Fractional) -> Option<(usize, usize)> {
        let pairs = solution.open_pairs(&node.before);
        if pairs.len() < 2 {
            return pairs.first().copied();
        }
        let gains = pairs.par_iter().take(TRIALS).map(|&(one, other)| {
            let bounds = [(one, other), (other, one)].map(|(first, second)| {
                let mut child = node.with(first, second);
                self.rule_out(&mut child);
                let mut simplex = self.simplex.clone();
                simplex.allow(|column| child.allowed[column]);
                match simplex.solve(self.loss, TRIAL_STEPS) {
                    Outcome::Infeasible => self.loss,
                    _ => simplex.bound().0.min(self.loss),
                }
            });
            let now = self.simplex.bound().0;
            let [one, other] = bounds.map(|bound| (bound - now).max(1e-6 * (self.loss - now)));
            one * other
        });
        let gains: Vec<f64> = gains.collect();
        let best = (0..gains.len()).rev().max_by(|&a, &b| gains[a].total_cmp(&gains[b]))?;
        Some(pairs[best])
    }

    /// Bounds the root by relaxation with exact groups, and drops the families that it rules out; whether those are many.
    fn relax(&mut self, node: &mut Node, bound: &mut f64, stop: &dyn Fn() -> bool) -> bool {
        let columns: Vec<Column> = (0..self.columns.len())
            .map(|column| (self.columns[column].0, self.parents(column), self.simplex.loss(column)))
            .collect();
        let multipliers = self.simplex.cluster_multipliers();
        let rows = self.clusters.iter().zip(multipliers).map(|(&cluster, multiplier)| {
            let inside = (0..columns.len()).filter(|&column| self.is_in(column, &cluster));
            Row { cluster, multiplier, columns: inside.map(|column| column as u32).collect() }
        });
        let rows = rows.filter(|row| row.multiplier > 0.0).collect();
        let size = self.max_group.min(MAX_SIZE);
        let (found, raised) = relax(self.problem.n_variables(), &columns, rows, size, self.loss, stop);
        *bound = bound.max(found);
        let before = self.columns.len();
        self.rule_out_by_cost(node, found, &raised);
        self.columns.len() < before
    }

    /// Rules out families with a parent that comes after its child.
    fn rule_out(&self, node: &mut Node) {
        let mut after = vec![VarSet::default(); node.before.len()];
        for (later, before) in node.before.iter().enumerate() {
            before.iter().for_each(|earlier| after[earlier].insert(later));
        }
        for (column, allowed) in node.allowed.iter_mut().enumerate().filter(|(_, allowed)| **allowed) {
            *allowed = self.parents(column).is_disjoint(&after[self.columns[column].0]);
        }
    }

    /// Rules out the families whose reduced cost says that they are in nothing better than the best known network.
    fn rule_out_by_cost(&mut self, node: &mut Node, bound: f64, raised: &[f64]) {
        let limit = self.loss - TOLERANCE;
        let mut n_ruled_out = 0;
        for (allowed, raised) in node.allowed.iter_mut().zip(raised) {
            if *allowed && bound + raised >= limit {
                *allowed = false;
                self.dropped = self.dropped.min(bound + raised);
                n_ruled_out += 1;
            }
        }
        if n_ruled_out == 0 {
            return;
        }
        if node.depth == 0 && n_ruled_out * 10 > self.columns.len() {
            let [kept, _] = self.simplex.keep(&node.allowed, &vec![true; self.clusters.len()]);
            let mut keep = kept.iter();
            self.columns.retain(|_| keep.next().copied().unwrap_or(true));
            let mut keep = kept.iter();
            node.allowed.retain(|_| keep.next().copied().unwrap_or(true));
        }
        self.simplex.allow(|column| node.allowed[column]);
    }

    fn solution(&self) -> Fractional {
        let parts = self.simplex.solution().into_iter().enumerate();
        let parts = parts.map(|(column, part)| (self.columns[column].0, self.parents(column), part));
        Fractional::of(self.problem.n_variables(), parts)
    }

    /// Makes a network of a fractional solution, and keeps it if it is better.
    fn round(&mut self, solution: &Fractional) {
        let mut orders = Orders::new(&self.problem.candidates, solution.order());
        orders.descend();
        let structure = orders.structure();
        let chosen =
            self.problem.chosen(|variable| VarSet::of(structure.parents(variable).iter().map(|&parent| parent.into())));
        let loss = self.problem.loss(&chosen);
        if loss < self.loss {
            (self.loss, self.chosen) = (loss, chosen);
        }
    }

    fn is_in(&self, column: usize, cluster: &Cluster) -> bool {
        cluster.holds(self.columns[column].0, &self.parents(column))
    }

    fn add(&mut self, cluster: Cluster) {
        let columns: Vec<usize> = (0..self.columns.len()).filter(|&column| self.is_in(column, &cluster)).collect();
        self.simplex.add_cluster(cluster.members.len(), cluster.k, &columns);
        self.clusters.push(cluster);
    }

    /// Drops the rows that are not tight if there are many.
    fn drop_rows(&mut self) {
        if self.clusters.len() < ROWS_PER_VARIABLE * self.problem.n_variables() {
            return;
        }
        let is_tight: Vec<bool> = self.simplex.slacks().iter().map(|slack| *slack < 1e-6).collect();
        let [_, kept] = self.simplex.keep(&vec![true; self.columns.len()], &is_tight);
        let mut kept = kept.into_iter();
        self.clusters.retain(|_| kept.next().unwrap_or(true));
    }
}
