//! Probabilities as they stand in a BIF file, and how they become a [`Cpt`].

use crate::network::model::{Cpt, MAX_ENTRIES};

/// A line of a block of probabilities.
pub(super) enum Line {
    /// The probabilities of one configuration of the parents.
    Row(Vec<usize>, Vec<f64>),
    /// All probabilities.
    Table(Vec<f64>),
    /// The probabilities of every configuration that has no line.
    Default(Vec<f64>),
}

/// A block of probabilities; variables are numbered as in the file.
pub(super) struct Table {
    pub(super) child: usize,
    pub(super) parents: Vec<usize>,
    pub(super) lines: Vec<Line>,
}

impl Table {
    /// The probabilities with the parents sorted by their final numbers, or what is wrong.
    pub(super) fn cpt(
        &self,
        variables: &[(String, Vec<String>)],
        number: impl Fn(usize) -> usize,
    ) -> Result<Cpt, String> {
        let (name, levels) = &variables[self.child];
        let n_levels = levels.len();
        let radices: Vec<usize> = self.parents.iter().map(|&parent| variables[parent].1.len()).collect();
        let n_rows = radices.iter().try_fold(1_usize, |product, &radix| product.checked_mul(radix));
        let n_rows = n_rows.filter(|rows| rows.saturating_mul(n_levels) <= MAX_ENTRIES).ok_or_else(|| {
            format!("'{name}' has more than {MAX_ENTRIES} probabilities; networks of such families cannot be read")
        })?;
        // A file of a few bytes shall not make us reserve memory for a table that it does not give.
        let given: usize = self
            .lines
            .iter()
            .map(|line| match line {
                Line::Row(_, numbers) => numbers.len(),
                Line::Table(numbers) => numbers.len(),
                Line::Default(_) => n_rows * n_levels,
            })
            .sum();
        if given < n_rows * n_levels {
            return Err(format!(
                "'{name}' has {given} probabilities where {} are needed; add the rest",
                n_rows * n_levels
            ));
        }
        // How far apart two levels of each parent are, by rows, when the parents are sorted.
        let mut by_number: Vec<usize> = (0..self.parents.len()).collect();
        by_number.sort_by_key(|&at| number(self.parents[at]));
        let mut strides = vec![0; self.parents.len()];
        let mut stride = 1;
        for &at in by_number.iter().rev() {
            strides[at] = stride;
            stride *= radices[at];
        }
        let row_of = |configuration: &[usize]| -> usize {
            configuration.iter().zip(&strides).map(|(level, stride)| level * stride).sum()
        };
        let mut rows: Vec<Option<&[f64]>> = vec![None; n_rows];
        let mut entries = vec![0.0; n_rows * n_levels];
        let mut default = None;
        for line in &self.lines {
            match line {
                Line::Row(configuration, numbers) => {
                    check(name, n_levels, numbers)?;
                    if rows[row_of(configuration)].replace(numbers).is_some() {
                        return Err(format!("two lines of '{name}' are about the same levels; take one away"));
                    }
                }
                Line::Default(numbers) => {
                    check(name, n_levels, numbers)?;
                    default = Some(numbers.as_slice());
                }
                Line::Table(numbers) => {
                    check(name, n_rows * n_levels, numbers)?;
                    // In the file, the child changes slowest and the last parent fastest.
                    for (at, &value) in numbers.iter().enumerate() {
                        let configuration = digits(at % n_rows, &radices);
                        entries[row_of(&configuration) * n_levels + at / n_rows] = value;
                    }
                    return Ok(Cpt::new(n_levels, entries));
                }
            }
        }
        for (target, row) in entries.chunks_exact_mut(n_levels).zip(&rows) {
            match row.or(default) {
                Some(row) => target.copy_from_slice(row),
                None => return Err(format!("a configuration of the parents of '{name}' has no line; add it")),
            }
        }
        Ok(Cpt::new(n_levels, entries))
    }
}

fn check(name: &str, wanted: usize, numbers: &[f64]) -> Result<(), String> {
    match numbers.len() {
        found if found == wanted => Ok(()),
        found => Err(format!("{found} probabilities of '{name}' where {wanted} are needed; give one per level")),
    }
}

/// The digits of a number in mixed radix, the last one changing fastest.
fn digits(mut number: usize, radices: &[usize]) -> Vec<usize> {
    let mut digits = vec![0; radices.len()];
    for (digit, radix) in digits.iter_mut().zip(radices).rev() {
        *digit = number % radix;
        number /= radix;
    }
    digits
}
