//! Principal components (Pearson, 1901).

use faer::{Mat, Side};
use pace_graph::Vectors;

use crate::error::Error;

/// Vectors by their principal components, the largest first.
pub(super) struct Pca {
    /// Row after row.
    values: Vec<f64>,
    /// Components per row.
    width: usize,
    /// The share of the variance that each component has.
    shares: Vec<f64>,
}

impl Pca {
    /// The first `max_width` components, or fewer if there are no more.
    ///
    /// From the spectrum of the covariance, or of the products of rows if there are fewer rows than columns: O(n d min(n, d)). The sign
    /// of a component is such that its row of largest magnitude is positive.
    pub fn of(vectors: &Vectors, max_width: usize) -> Result<Pca, Error> {
        let (n_rows, n_columns) = (vectors.len(), vectors.width());
        let means: Vec<f64> = vectors.moments().into_iter().map(|(mean, _)| mean).collect();
        // Squares of the largest floats would still fit, their sums need not.
        let largest = vectors.values().iter().fold(0.0_f64, |largest, &value| largest.max(f64::from(value).abs()));
        let unit = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let rows =
            Mat::from_fn(n_rows, n_columns, |row, column| (f64::from(vectors.row(row)[column]) - means[column]) * unit);
        let by_columns = n_columns <= n_rows;
        let products = if by_columns { rows.transpose() * &rows } else { &rows * rows.transpose() };
        let eigen = products.self_adjoint_eigen(Side::Lower).map_err(|_| Error::Spectrum)?;
        let n_values = n_columns.min(n_rows);
        let value = |component: usize| eigen.S()[n_values - 1 - component].max(0.0);
        let total: f64 = (0..n_values).map(value).sum();
        let width = max_width.min(n_values).max(1);
        let axes = Mat::from_fn(n_values, width, |row, component| eigen.U()[(row, n_values - 1 - component)]);
        let places = if by_columns {
            &rows * &axes
        } else {
            Mat::from_fn(n_rows, width, |row, component| axes[(row, component)] * value(component).sqrt())
        };
        let sign = |component: usize| {
            let at = |row: usize| places[(row, component)];
            let most =
                (0..n_rows).map(at).fold(0.0_f64, |most, place| if place.abs() > most.abs() { place } else { most });
            if most < 0.0 { -1.0 } else { 1.0 }
        };
        let signs: Vec<f64> = (0..width).map(sign).collect();
        let of_row = |row: usize| (0..width).map(move |component| (row, component));
        let values = (0..n_rows).flat_map(of_row).map(|(row, component)| places[(row, component)] * signs[component]);
        let share = |component: usize| if total > 0.0 { value(component) / total } else { 0.0 };
        Ok(Pca { values: values.collect(), width, shares: (0..width).map(share).collect() })
    }

    /// All rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.values.chunks_exact(self.width)
    }

    /// The shares of the first two components.
    pub fn shares(&self) -> [f64; 2] {
        [0, 1].map(|component| self.shares.get(component).copied().unwrap_or(0.0))
    }

    /// The first two components of each row.
    pub fn plane(&self) -> Vec<[f64; 2]> {
        self.rows().map(|row| [row[0], row.get(1).copied().unwrap_or(0.0)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_component_whichever_way_it_is_computed() {
        for (n_rows, n_columns) in [(7, 3), (3, 7), (1, 2)] {
            let value = |index: usize| (index / n_columns) as f32 * (1.0 + (index % n_columns) as f32);
            let vectors = Vectors::new((0..n_rows * n_columns).map(value).collect(), n_columns);
            let pca = Pca::of(&vectors, 50).unwrap();
            let [first, second] = pca.shares();
            assert!(n_rows == 1 || (first - 1.0).abs() < 1e-9, "{first}");
            assert!(second < 1e-9, "{second}");
            let plane = pca.plane();
            let steps: Vec<f64> = plane.windows(2).map(|pair| (pair[1][0] - pair[0][0]).abs()).collect();
            assert!(steps.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-9), "{steps:?}");
        }
    }
}
