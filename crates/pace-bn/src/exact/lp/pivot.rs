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
            let place = self.leaving();
            if place.is_none() || self.value() > cutoff {
                // That holds for the active columns. Others may be wanted now.
                if self.reprice() {
                    self.revalue();
                    continue;
                }
                if since > 0 && !self.is_consistent() {
                    self.refactor();
                    since = 0;
                    continue;
                }
            }
            let Some(place) = place else { return Outcome::Optimal };
            if self.value() > cutoff {
                return Outcome::Cutoff;
            }
            let movable = self.movable();
            let row = self.row(place, &movable);
            let is_above = self.values[place] > 0.0;
            match self.entering(&row, &movable, is_above) {
                Some(at) => {
                    if !self.pivot(place, at, &row, &movable, is_above) {
                        self.refactor();
                        since = 0;
                        continue;
                    }
                    since += 1;
                }
                // Without a column that could enter, there may be one that is not active.
                None if self.is_active.iter().any(|is_active| !is_active) => self.is_active.fill(true),
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

    /// The columns outside the basis that can move.
    fn movable(&self) -> Vec<u32> {
        let can_move = |&column: &u32| {
            let column = column as usize;
            self.is_active[column] && self.place[column].is_none() && self.upper[column] > 0.0
        };
        (0..self.upper.len() as u32).filter(can_move).collect()
    }

    /// A row of the tableau, of the columns that can move.
    fn row(&self, place: usize, movable: &[u32]) -> Vec<f64> {
        let n_columns = self.n_columns();
        let (variables, clusters) = self.inverse[place].split_at(self.n_variables);
        let value = |&column: &u32| match self.rows_of.get(column as usize) {
            Some(rows) => {
                let sum: f64 = rows.iter().map(|&row| clusters[row as usize]).sum();
                variables[self.owner[column as usize] as usize] + sum
            }
            None => -clusters[column as usize - n_columns],
        };
        movable.iter().map(value).collect()
    }

    /// The column that enters: the one whose reduced cost is first to become zero; of those within the tolerance, the one of
    /// the greatest pivot (Harris 1973).
    fn entering(&self, row: &[f64], movable: &[u32], is_above: bool) -> Option<usize> {
        let sign = if is_above { 1.0 } else { -1.0 };
        // Pivot and room of the columns that may enter.
        let mut fit: Vec<(f64, f64, usize)> = Vec::new();
        let mut limit = f64::INFINITY;
        for (at, (&column, value)) in movable.iter().zip(row).enumerate() {
            let is_at_upper = self.is_at_upper[column as usize];
            let pivot = if is_at_upper { -sign * value } else { sign * value };
            if pivot > PIVOT {
                let reduced = self.reduced[column as usize];
                let room = if is_at_upper { (-reduced).max(0.0) } else { reduced.max(0.0) };
                limit = limit.min((room + DUAL_TOLERANCE) / pivot);
                fit.push((pivot, room, at));
            }
        }
        let mut best: Option<(f64, usize)> = None;
        for (pivot, room, at) in fit {
            if room / pivot <= limit && best.is_none_or(|(most, _)| pivot > most) {
                best = Some((pivot, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Exchanges a place of the basis for a column; `false` if the pivot is not what the row says, because of drift.
    fn pivot(&mut self, place: usize, at: usize, row: &[f64], movable: &[u32], is_above: bool) -> bool {
        let column = movable[at] as usize;
        let mut direction = vec![0.0; self.n_rows()];
        let mut rows = Vec::new();
        self.each_row(column, |row, value| rows.push((row, value)));
        for (target, inverse) in direction.iter_mut().zip(&self.inverse) {
            *target = rows.iter().map(|&(row, value)| value * inverse[row]).sum();
        }
        let pivot = direction[place];
        if (pivot - row[at]).abs() > 1e-6 * (1.0 + pivot.abs()) || pivot.abs() < PIVOT / 2.0 {
            return false;
        }
        let leaving = self.basis[place];
        let bound = if is_above { self.upper[leaving] } else { 0.0 };
        let step = (self.values[place] - bound) / pivot;
        let start = if self.is_at_upper[column] { self.upper[column] } else { 0.0 };
        self.values.iter_mut().zip(&direction).for_each(|(value, direction)| *value -= step * direction);
        self.values[place] = start + step;
        let ratio = self.reduced[column] / pivot;
        for (&column, value) in movable.iter().zip(row) {
            self.reduced[column as usize] -= ratio * value;
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
