//! [`Vectors`]: graphs as rows of numbers.

use crate::mean_std::mean_std;

/// Vectors of graphs, one row per graph, in single precision and row-major.
///
/// What an encoder makes, a file holds and a search reads.
///
/// ```
/// use pace_graph::Vectors;
/// let vectors = Vectors::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2);
/// assert_eq!((vectors.len(), vectors.width()), (3, 2));
/// assert_eq!(vectors.row(1), [3.0, 4.0]);
/// assert_eq!(vectors.select(&[2, 0]).values(), [5.0, 6.0, 1.0, 2.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    values: Vec<f32>,
    width: usize,
}

impl Vectors {
    /// Rows of `width` numbers.
    ///
    /// # Panics
    /// If the numbers do not fill the last row.
    pub fn new(values: Vec<f32>, width: usize) -> Vectors {
        assert!(width > 0 && values.len().is_multiple_of(width), "{} numbers in rows of {width}", values.len());
        Vectors { values, width }
    }

    /// One row per item.
    ///
    /// # Panics
    /// If rows differ in width, or are empty.
    pub fn from_rows<R: AsRef<[f32]>>(rows: impl IntoIterator<Item = R>, width: usize) -> Vectors {
        let mut values = Vec::new();
        for row in rows {
            assert_eq!(row.as_ref().len(), width, "rows of equal width");
            values.extend_from_slice(row.as_ref());
        }
        Vectors::new(values, width)
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Numbers per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers, row after row.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> + Clone {
        self.values.chunks_exact(self.width)
    }

    /// The first rows.
    pub fn head(&self, n_rows: usize) -> Vectors {
        Vectors { values: self.values[..n_rows.min(self.len()) * self.width].to_vec(), width: self.width }
    }

    /// The given rows, in the order given.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select(&self, rows: &[usize]) -> Vectors {
        Vectors { values: rows.iter().flat_map(|&row| self.row(row)).copied().collect(), width: self.width }
    }

    /// Every row `times` times, copies side by side.
    pub fn repeated(&self, times: usize) -> Vectors {
        Vectors { values: self.rows().flat_map(|row| row.repeat(times)).collect(), width: self.width }
    }

    /// Every column with mean 0 and standard deviation 1, so that a distance does not depend on units; a constant column becomes 0.
    #[must_use]
    pub fn standardised(mut self) -> Vectors {
        let moments = self.moments();
        for row in self.values.chunks_exact_mut(self.width) {
            for (value, &(mean, std)) in row.iter_mut().zip(&moments) {
                let scale = if std > 1e-9 { 1.0 / std } else { 0.0 };
                *value = ((f64::from(*value) - mean) * scale) as f32;
            }
        }
        self
    }

    /// Mean and population standard deviation of every column.
    pub fn moments(&self) -> Vec<(f64, f64)> {
        (0..self.width).map(|column| mean_std(self.rows().map(|row| f64::from(row[column])))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Vectors;

    #[test]
    fn rows_and_moments() {
        let vectors = Vectors::from_rows([[1.0, 5.0], [3.0, 5.0]], 2);
        assert_eq!(vectors.moments(), [(2.0, 1.0), (5.0, 0.0)]);
        assert_eq!(vectors.clone().standardised().values(), [-1.0, 0.0, 1.0, 0.0]);
        assert_eq!(vectors.repeated(2).values(), [1.0, 5.0, 1.0, 5.0, 3.0, 5.0, 3.0, 5.0]);
        assert_eq!(vectors.head(9), vectors);
        assert_eq!(vectors.head(1).rows().collect::<Vec<_>>(), [vectors.row(0)]);
    }

    #[test]
    #[should_panic(expected = "5 numbers in rows of 2")]
    fn rows_are_whole() {
        Vectors::new(vec![0.0; 5], 2);
    }
}
