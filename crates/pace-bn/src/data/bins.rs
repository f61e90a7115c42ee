//! [`Bins`]: how continuous columns become discrete.

use serde::{Deserialize, Serialize};

use super::table::MAX_LEVELS;
use crate::error::Error;

/// Where the borders between bins lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinRule {
    /// About equally many rows in each bin.
    Quantile,
    /// Bins of equal width between the least and the greatest value.
    Width,
}

/// Discretisation of columns of numbers. A column is cut only if it has more distinct values than there are bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bins {
    /// Where the borders lie.
    pub rule: BinRule,
    /// How many bins a column is cut into. Fewer result if values repeat so often that quantiles coincide.
    pub count: usize,
}

impl Bins {
    /// Refuses a number of bins that cannot be.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.count {
            2..MAX_LEVELS => Ok(()),
            count => Err(Error::Option {
                option: "the number of bins",
                value: count.to_string(),
                remedy: format!("give 2 to {}", MAX_LEVELS - 1),
            }),
        }
    }

    /// The borders between bins, ascending: bin i holds the values from border i - 1 up to, but without, border i.
    ///
    /// A quantile border is the value at position i * n / count of the n sorted values.
    fn borders(&self, values: &[f64]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (least, greatest) = (sorted[0], sorted[sorted.len() - 1]);
        let border = |bin: usize| match self.rule {
            BinRule::Quantile => sorted[bin * sorted.len() / self.count],
            BinRule::Width => {
                let (bin, count) = (bin as f64, self.count as f64);
                let border = (least * (count - bin) + greatest * bin) / count;
                // The sum of large numbers may be beyond all numbers.
                if border.is_finite() { border } else { least * (1.0 - bin / count) + greatest * (bin / count) }
            }
        };
        let mut borders: Vec<f64> = (1..self.count).map(border).filter(|&border| border > least).collect();
        borders.dedup();
        borders
    }

    /// The names of the bins and the bin of each value.
    pub(super) fn cut(&self, values: &[f64]) -> (Vec<String>, Vec<u16>) {
        let borders = self.borders(values);
        let name = |bin: usize| match (bin.checked_sub(1).map(|below| borders[below]), borders.get(bin)) {
            (None, None) => "all".to_owned(),
            (None, Some(above)) => format!("<{above}"),
            (Some(below), None) => format!(">={below}"),
            (Some(below), Some(above)) => format!("{below}..{above}"),
        };
        let names: Vec<String> = (0..=borders.len()).map(name).collect();
        let bin = |value: &f64| borders.partition_point(|border| border <= value) as u16;
        let cut: Vec<u16> = values.iter().map(bin).collect();
        only_used(names, cut)
    }
}

/// Without the bins that no value falls into, as levels are those that occur.
fn only_used(names: Vec<String>, cut: Vec<u16>) -> (Vec<String>, Vec<u16>) {
    let mut used = vec![false; names.len()];
    cut.iter().for_each(|&bin| used[usize::from(bin)] = true);
    let mut next = 0;
    let numbers: Vec<u16> = used
        .iter()
        .map(|&used| {
            let number = next;
            next += u16::from(used);
            number
        })
        .collect();
    let names = names.into_iter().zip(&used).filter(|(_, used)| **used).map(|(name, _)| name).collect();
    (names, cut.into_iter().map(|bin| numbers[usize::from(bin)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_share_rows_and_widths_share_the_range() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 100.0];
        let quantile = Bins { rule: BinRule::Quantile, count: 3 };
        assert_eq!(quantile.cut(&values), (vec!["<3".into(), "3..5".into(), ">=5".into()], vec![0, 0, 1, 1, 2, 2]));
        let width = Bins { rule: BinRule::Width, count: 3 };
        assert_eq!(width.cut(&values), (vec!["<34".into(), ">=67".into()], vec![0, 0, 0, 0, 0, 1]));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let bins = Bins { rule: BinRule::Width, count: 2 };
        assert_eq!(bins.cut(&[f64::MIN, f64::MAX]).1, [0, 1]);
        assert_eq!(bins.cut(&[2.0, 2.0]), (vec!["all".to_owned()], vec![0, 0]));
    }
}
