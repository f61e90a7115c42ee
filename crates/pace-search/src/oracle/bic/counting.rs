//! [`Counting`]: how often the variables of a table take each configuration.

use super::Observations;

/// The distinct rows, and how often each occurs. All counts follow from them, and with few variables there are far fewer
/// distinct rows than rows.
pub(super) struct Counting<'a> {
    rows: &'a Observations,
    /// The number of one row per distinct row.
    distinct: Vec<usize>,
    multiplicity: Vec<f64>,
}

impl Counting<'_> {
    pub(super) fn of(rows: &Observations) -> Counting<'_> {
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        let mut groups = vec![0; all.len()];
        for variable in 0..rows.n_variables() {
            groups = refine(&groups, &all, rows.column(variable), rows.n_levels(variable));
        }
        let n_groups = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut distinct, mut multiplicity) = (vec![0; n_groups], vec![0.0; n_groups]);
        for (row, &group) in groups.iter().enumerate() {
            distinct[group as usize] = row;
            multiplicity[group as usize] += 1.0;
        }
        Counting { rows, distinct, multiplicity }
    }

    /// h of each set of variables, a bit per variable.
    pub(super) fn entropy_terms(&self) -> Vec<f64> {
        let mut terms = vec![0.0; 1 << self.rows.n_variables()];
        self.descend(0, 0, &vec![0; self.distinct.len()], &mut terms);
        terms
    }

    /// Fills in `set` and all sets that add variables from `next` on. `groups` are the configurations of `set`.
    fn descend(&self, set: usize, next: usize, groups: &[u32], terms: &mut [f64]) {
        let mut counts = vec![0.0; groups.len()];
        for (&group, &times) in groups.iter().zip(&self.multiplicity) {
            counts[group as usize] += times;
        }
        terms[set] = counts.iter().filter(|&&count| count > 0.0).map(|&count| count * f64::ln(count)).sum();
        for variable in next..self.rows.n_variables() {
            let finer = refine(groups, &self.distinct, self.rows.column(variable), self.rows.n_levels(variable));
            self.descend(set | 1 << variable, variable + 1, &finer, terms);
        }
    }
}

/// Splits groups of rows by the level of one more variable. Groups are numbered from 0 without gaps.
fn refine(groups: &[u32], rows: &[usize], column: &[u8], n_levels: usize) -> Vec<u32> {
    let n_groups = groups.iter().max().map_or(0, |&last| last as usize + 1);
    let mut number = vec![u32::MAX; n_groups * n_levels];
    let mut n_found = 0;
    let split = groups.iter().zip(rows).map(|(&group, &row)| {
        let found = &mut number[group as usize * n_levels + usize::from(column[row])];
        if *found == u32::MAX {
            *found = n_found;
            n_found += 1;
        }
        *found
    });
    split.collect()
}
