//! The steps of the dual simplex method.

use super::inverse::subtract;
use super::state::{DUAL_TOLERANCE, Outcome, Simplex};

/// A value this far outside its bounds is infeasible.
const PRIMAL_TOLERANCE: f64 = 1e-8;
/// The least pivot.
const PIVOT: f64 = 1e-7;
/// The basis is inverted anew after so many steps.
const REFACTOR: usize = 120;

impl Simplex {
    /// Goes on to the optimum, or until the value exceeds `cutoff`.
    pub(in crate::exact) fn solve(&mut self, cutoff: f64, max_steps: usize) -> Outcome {
        let mut since = 0;
        for _ in 0..max_steps {
            if since == REFACTOR {
                self.refactor();
                since = 0;
            }
            let Some(place) = self.leaving() else {
                if since == 0 {
                    return Outcome::Optimal;
                }
                // Values drift: an optimum counts if it is one by an inverse that is new.
                self.refactor();
                since = 0;
                if self.leaving().is_none() {
                    return Outcome::Optimal;
                }
                continue;
            };
            if self.value() > cutoff {
                return Outcome::Cutoff;
            }
            let row = self.row(place);
            let is_above = self.values[place] > 0.0;
            match self.entering(&row, is_above) {
                Some(column) => {
                    if !self.pivot(place, column, &row, is_above) {
                        self.refactor();
                        since = 0;
                        continue;
                    }
                    since += 1;
                }
                None if since == 0 => return Outcome::Infeasible,
                None => {
                    self.refactor();
                    since = 0;
                }
            }
        }
        Outcome::Stuck
    }

    /// The value of the objective.
    fn value(&self) -> f64 {
        let basic = self.basis.iter().zip(&self.values);
        let basic: f64 = basic.filter_map(|(&column, value)| Some(self.cost.get(column)? * value)).sum();
        let outside = (0..self.n_columns()).filter(|&column| self.is_at_upper[column]);
        basic + outside.map(|column| self.cost[column] * self.upper[column]).sum::<f64>()
    }

    /// The place of the basis whose value is furthest outside its bounds, in terms of the length of its row (dual steepest
    /// edge, Forrest & Goldfarb 1992, with exact weights).
    fn leaving(&self) -> Option<usize> {
        let mut worst: Option<(f64, usize)> = None;
        for (place, (&value, &column)) in self.values.iter().zip(&self.basis).enumerate() {
            let outside = (-value).max(value - self.upper[column]);
            if outside <= PRIMAL_TOLERANCE {
                continue;
            }
            let length: f64 = self.inverse[place].iter().map(|value| value * value).sum();
            let weight = outside * outside / length;
            if worst.is_none_or(|(most, _)| weight > most) {
                worst = Some((weight, place));
            }
        }
        worst.map(|(_, place)| place)
    }

    /// A row of the tableau: of each column outside the basis that can move.
    fn row(&self, place: usize) -> Vec<f64> {
        let inverse = &self.inverse[place];
        let n_columns = self.n_columns();
        let (variables, clusters) = inverse.split_at(self.n_variables);
        let mut row = vec![0.0; self.upper.len()];
        for (column, value) in row.iter_mut().enumerate() {
            if self.place[column].is_some() || self.upper[column] == 0.0 {
                continue;
            }
            *value = match self.rows_of.get(column) {
                Some(rows) => {
                    let sum: f64 = rows.iter().map(|&row| clusters[row as usize]).sum();
                    variables[self.owner[column] as usize] + sum
                }
                None => -clusters[column - n_columns],
            };
        }
        row
    }

    /// The column that enters: the one whose reduced cost is first to become zero; of those within the tolerance, the one of
    /// the greatest pivot (Harris 1973).
    fn entering(&self, row: &[f64], is_above: bool) -> Option<usize> {
        let sign = if is_above { 1.0 } else { -1.0 };
        let fits = |column: usize| {
            let pivot = sign * row[column];
            let is_useful = if self.is_at_upper[column] { pivot < -PIVOT } else { pivot > PIVOT };
            is_useful.then_some(pivot.abs())
        };
        let room = |column: usize| {
            let reduced = self.reduced[column];
            if self.is_at_upper[column] { (-reduced).max(0.0) } else { reduced.max(0.0) }
        };
        let mut limit = f64::INFINITY;
        for column in 0..row.len() {
            if let Some(pivot) = fits(column) {
                limit = limit.min((room(column) + DUAL_TOLERANCE) / pivot);
            }
        }
        let mut best: Option<(f64, usize)> = None;
        for column in 0..row.len() {
            if let Some(pivot) = fits(column).filter(|pivot| room(column) / pivot <= limit)
                && best.is_none_or(|(most, _)| pivot > most)
            {
                best = Some((pivot, column));
            }
        }
        best.map(|(_, column)| column)
    }

    /// Exchanges a place of the basis for a column; `false` if the pivot is not what the row says, because of drift.
    fn pivot(&mut self, place: usize, column: usize, row: &[f64], is_above: bool) -> bool {
        let mut direction = vec![0.0; self.n_rows()];
        let mut rows = Vec::new();
        self.each_row(column, |row, value| rows.push((row, value)));
        for (target, inverse) in direction.iter_mut().zip(&self.inverse) {
            *target = rows.iter().map(|&(row, value)| value * inverse[row]).sum();
        }
        let pivot = direction[place];
        if (pivot - row[column]).abs() > 1e-6 * (1.0 + pivot.abs()) || pivot.abs() < PIVOT / 2.0 {
            return false;
        }
        let leaving = self.basis[place];
        let bound = if is_above { self.upper[leaving] } else { 0.0 };
        let step = (self.values[place] - bound) / pivot;
        let start = if self.is_at_upper[column] { self.upper[column] } else { 0.0 };
        self.values.iter_mut().zip(&direction).for_each(|(value, direction)| *value -= step * direction);
        self.values[place] = start + step;
        let ratio = self.reduced[column] / pivot;
        for (reduced, value) in self.reduced.iter_mut().zip(row) {
            *reduced -= ratio * value;
        }
        self.reduced[column] = 0.0;
        self.reduced[leaving] = -ratio;
        self.is_at_upper[leaving] = is_above && self.upper[leaving] > 0.0;
        self.is_at_upper[column] = false;
        self.place[leaving] = None;
        self.place[column] = Some(place);
        self.basis[place] = column;
        let mut own = std::mem::take(&mut self.inverse[place]);
        own.iter_mut().for_each(|value| *value /= pivot);
        for (index, (target, &factor)) in self.inverse.iter_mut().zip(&direction).enumerate() {
            if index != place && factor != 0.0 {
                subtract(target, factor, &own);
            }
        }
        self.inverse[place] = own;
        true
    }
}
