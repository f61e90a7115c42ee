//! [`Simplex`]: columns, rows, the basis and its inverse.

use super::inverse::invert;

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exact) enum Outcome {
    /// At the optimum.
    Optimal,
    /// No values satisfy all rows and bounds.
    Infeasible,
    /// The value is above the cutoff.
    Cutoff,
    /// Too many steps, or the arithmetic gave way; the bound still holds.
    Stuck,
}

/// A reduced cost below this counts as negative.
pub(super) const DUAL_TOLERANCE: f64 = 1e-9;

/// Rows may be missed by this much.
const CONSISTENCY: f64 = 1e-7;
/// So many families per variable are active at first.
const ACTIVE: usize = 30;

/// The programme and where its solution stands. Columns 0 to `n_columns` are families, those above are the slacks of cluster
/// rows.
#[derive(Clone, Debug)]
pub(in crate::exact) struct Simplex {
    /// The variable of each family, which is its first row.
    pub(super) owner: Vec<u32>,
    pub(super) cost: Vec<f64>,
    /// The cluster rows of each family.
    pub(super) rows_of: Vec<Vec<u32>>,
    /// The right side of each cluster row.
    pub(super) right: Vec<f64>,
    /// Upper bounds of families, then of slacks.
    pub(super) upper: Vec<f64>,
    pub(super) n_variables: usize,
    /// The column of each place in the basis.
    pub(super) basis: Vec<usize>,
    /// The place of each column in the basis.
    pub(super) place: Vec<Option<usize>>,
    pub(super) is_at_upper: Vec<bool>,
    /// Columns that may enter the basis. The others wait at 0 until their reduced cost says that they should.
    pub(super) is_active: Vec<bool>,
    pub(super) inverse: Vec<Vec<f64>>,
    /// The values of the basis.
    pub(super) values: Vec<f64>,
    pub(super) reduced: Vec<f64>,
}

impl Simplex {
    /// A programme without cluster rows. `columns` are variable and loss, and each variable has one of loss 0 or more.
    pub(in crate::exact) fn new(n_variables: usize, columns: &[(usize, f64)]) -> Simplex {
        let n_columns = columns.len();
        let mut simplex = Simplex {
            owner: columns.iter().map(|&(variable, _)| variable as u32).collect(),
            cost: columns.iter().map(|&(_, loss)| loss).collect(),
            rows_of: vec![Vec::new(); n_columns],
            right: Vec::new(),
            upper: vec![1.0; n_columns],
            n_variables,
            basis: Vec::new(),
            place: vec![None; n_columns],
            is_at_upper: vec![false; n_columns],
            is_active: vec![true; n_columns],
            inverse: Vec::new(),
            values: Vec::new(),
            reduced: vec![0.0; n_columns],
        };
        simplex.restart();
        simplex
    }

    pub(in crate::exact) fn n_columns(&self) -> usize {
        self.owner.len()
    }

    pub(in crate::exact) fn n_clusters(&self) -> usize {
        self.upper.len() - self.n_columns()
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_variables + self.n_clusters()
    }

    /// Starts over: the cheapest family of each variable and all slacks are basic. That basis is dual feasible.
    pub(super) fn restart(&mut self) {
        let mut cheapest: Vec<Option<usize>> = vec![None; self.n_variables];
        for column in 0..self.n_columns() {
            let best = &mut cheapest[self.owner[column] as usize];
            let is_cheaper =
                best.is_none_or(|best| (self.upper[column], -self.cost[column]) > (self.upper[best], -self.cost[best]));
            if is_cheaper {
                *best = Some(column);
            }
        }
        let slacks = self.n_columns()..self.n_columns() + self.n_clusters();
        self.basis = cheapest.into_iter().flatten().chain(slacks).collect();
        self.place.fill(None);
        self.basis.iter().enumerate().for_each(|(place, &column)| self.place[column] = Some(place));
        self.is_at_upper.fill(false);
        self.refactor();
    }

    /// Inverts the basis anew, and computes everything else from it. Starts over if it is singular.
    pub(super) fn refactor(&mut self) {
        let m = self.n_rows();
        let mut matrix = vec![vec![0.0; m]; m];
        for (place, &column) in self.basis.iter().enumerate() {
            self.each_row(column, |row, value| matrix[row][place] = value);
        }
        match invert(matrix) {
            Some(inverse) => {
                self.inverse = inverse;
                self.reprice();
                self.revalue();
            }
            // The basis of a restart is triangular with ones: this ends.
            None => self.restart(),
        }
    }

    /// Calls `act` with row and coefficient of a column.
    pub(super) fn each_row(&self, column: usize, mut act: impl FnMut(usize, f64)) {
        match self.owner.get(column) {
            Some(&owner) => {
                act(owner as usize, 1.0);
                self.rows_of[column].iter().for_each(|&row| act(self.n_variables + row as usize, 1.0));
            }
            None => act(self.n_variables + column - self.n_columns(), -1.0),
        }
    }

    /// The multipliers of the rows.
    pub(super) fn multipliers(&self) -> Vec<f64> {
        let mut multipliers = vec![0.0; self.n_rows()];
        for (&column, row) in self.basis.iter().zip(&self.inverse) {
            let cost = self.cost.get(column).copied().unwrap_or(0.0);
            if cost != 0.0 {
                multipliers.iter_mut().zip(row).for_each(|(sum, value)| *sum += cost * value);
            }
        }
        multipliers
    }

    /// Computes reduced costs, and moves each column outside the basis to the bound where they allow no gain. Columns that are
    /// moved become active. Whether any was moved.
    pub(super) fn reprice(&mut self) -> bool {
        let multipliers = self.multipliers();
        let mut is_changed = false;
        for column in 0..self.upper.len() {
            if self.place[column].is_some() {
                self.reduced[column] = 0.0;
                self.is_at_upper[column] = false;
                continue;
            }
            let mut reduced = self.cost.get(column).copied().unwrap_or(0.0);
            self.each_row(column, |row, value| reduced -= value * multipliers[row]);
            self.reduced[column] = reduced;
            let is_above = if reduced < -DUAL_TOLERANCE {
                true
            } else if reduced > DUAL_TOLERANCE {
                false
            } else {
                self.is_at_upper[column]
            };
            if is_above != self.is_at_upper[column] {
                self.is_at_upper[column] = is_above;
                // A column that may not be chosen is at 0 either way.
                is_changed |= self.upper[column] > 0.0;
                self.is_active[column] = true;
            }
        }
        is_changed
    }

    /// Leaves only the columns active that are likely to matter: the basis, slacks, and the families of the least reduced cost.
    fn rest(&mut self) {
        let n_columns = self.n_columns();
        let mut costs: Vec<f64> = (0..n_columns)
            .filter(|&column| self.upper[column] > 0.0 && self.place[column].is_none())
            .map(|column| self.reduced[column])
            .collect();
        let n_active = ACTIVE * self.n_variables;
        if costs.len() <= n_active {
            self.is_active.fill(true);
            return;
        }
        let (_, limit, _) = costs.select_nth_unstable_by(n_active, f64::total_cmp);
        let limit = *limit;
        for column in 0..n_columns {
            let is_needed = self.place[column].is_some() || self.is_at_upper[column];
            self.is_active[column] = is_needed || self.reduced[column] <= limit;
        }
    }

    /// Computes the values of the basis.
    pub(super) fn revalue(&mut self) {
        let mut right = vec![1.0; self.n_variables];
        right.extend(&self.right);
        for column in (0..self.upper.len()).filter(|&column| self.is_at_upper[column]) {
            let upper = self.upper[column];
            self.each_row(column, |row, value| right[row] -= value * upper);
        }
        self.values =
            self.inverse.iter().map(|row| row.iter().zip(&right).map(|(value, right)| value * right).sum()).collect();
    }

    /// Adds the row of a cluster of `size` variables with right side `k`, given the families in it.
    pub(in crate::exact) fn add_cluster(&mut self, size: usize, k: usize, columns: &[usize]) {
        let row = self.n_clusters() as u32;
        let m = self.n_rows();
        let mut last = vec![0.0; m + 1];
        let mut sum = 0.0;
        for &column in columns {
            self.rows_of[column].push(row);
            match self.place[column] {
                Some(place) => {
                    last.iter_mut().zip(&self.inverse[place]).for_each(|(sum, value)| *sum += value);
                    sum += self.values[place];
                }
                None => sum += if self.is_at_upper[column] { self.upper[column] } else { 0.0 },
            }
        }
        last[m] = -1.0;
        self.inverse.iter_mut().for_each(|row| row.push(0.0));
        self.inverse.push(last);
        self.basis.push(self.upper.len());
        self.place.push(Some(m));
        self.upper.push((size - k) as f64);
        self.right.push(k as f64);
        self.is_at_upper.push(false);
        self.is_active.push(true);
        self.reduced.push(0.0);
        self.values.push(sum - k as f64);
    }

    /// Says which families may be chosen.
    pub(in crate::exact) fn allow(&mut self, is_allowed: impl Fn(usize) -> bool) {
        for column in 0..self.n_columns() {
            self.upper[column] = f64::from(is_allowed(column));
        }
        self.reprice();
        self.rest();
        self.revalue();
    }

    /// Whether the values satisfy the rows, as they do unless the inverse has drifted. O(nonzeros).
    pub(super) fn is_consistent(&self) -> bool {
        let mut left = vec![0.0; self.n_rows()];
        let mut add = |column: usize, value: f64| self.each_row(column, |row, factor| left[row] += factor * value);
        self.basis.iter().zip(&self.values).for_each(|(&column, &value)| add(column, value));
        let outside = (0..self.upper.len()).filter(|&column| self.is_at_upper[column]);
        outside.for_each(|column| add(column, self.upper[column]));
        let right = std::iter::repeat_n(&1.0, self.n_variables).chain(&self.right);
        left.iter().zip(right).all(|(left, right)| (left - right).abs() < CONSISTENCY)
    }

    /// The value of each family.
    pub(in crate::exact) fn solution(&self) -> Vec<f64> {
        let value = |column: usize| match self.place[column] {
            Some(place) => self.values[place],
            None if self.is_at_upper[column] => self.upper[column],
            None => 0.0,
        };
        (0..self.n_columns()).map(value).collect()
    }

    /// The slack of each cluster row, 0 if the row is tight.
    pub(in crate::exact) fn slacks(&self) -> Vec<f64> {
        let slack = |column: usize| match self.place[column] {
            Some(place) => self.values[place],
            None if self.is_at_upper[column] => self.upper[column],
            None => 0.0,
        };
        (self.n_columns()..self.upper.len()).map(slack).collect()
    }

    /// The loss of a family.
    pub(in crate::exact) fn loss(&self, column: usize) -> f64 {
        self.cost[column]
    }

    /// The multipliers of the cluster rows, none below 0.
    pub(in crate::exact) fn cluster_multipliers(&self) -> Vec<f64> {
        self.multipliers()[self.n_variables..].iter().map(|&multiplier| multiplier.max(0.0)).collect()
    }

    /// A lower bound on the loss, and by how much each family raises it if it is chosen.
    ///
    /// With multipliers u_k >= 0 of the clusters, whatever they are,
    ///
    /// ```text
    /// bound = sum_k u_k right_k + sum_v min_(allowed j of v) (loss_j - sum_(k of j) u_k)
    /// ```
    pub(in crate::exact) fn bound(&self) -> (f64, Vec<f64>) {
        let clusters = self.cluster_multipliers();
        let reduced: Vec<f64> = (self.cost.iter().zip(&self.rows_of))
            .map(|(cost, rows)| cost - rows.iter().map(|&row| clusters[row as usize]).sum::<f64>())
            .collect();
        let mut least = vec![f64::INFINITY; self.n_variables];
        for (column, &reduced) in reduced.iter().enumerate().filter(|(column, _)| self.upper[*column] > 0.0) {
            let least = &mut least[self.owner[column] as usize];
            *least = least.min(reduced);
        }
        let bound = clusters.iter().zip(&self.right).map(|(multiplier, right)| multiplier * right).sum::<f64>()
            + least.iter().sum::<f64>();
        let raised = reduced.iter().zip(&self.owner).map(|(reduced, &owner)| reduced - least[owner as usize]);
        (bound, raised.collect())
    }
}
