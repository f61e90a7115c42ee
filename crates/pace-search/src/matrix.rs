//! [`Matrix`]: vectors of graphs in double precision, for algebra. The only way between it and [`Vectors`].

use faer::{Mat, MatRef};
use pace_graph::Vectors;

/// Rows of vectors, in double precision.
pub type Matrix = Mat<f64>;

/// Vectors as a matrix.
pub fn widen(vectors: &Vectors) -> Matrix {
    widen_ref(as_matrix(vectors))
}

/// A matrix as vectors, rounded to single precision.
///
/// # Panics
/// If it has no columns.
pub fn narrow(x: MatRef<'_, f64>) -> Vectors {
    Vectors::new(x.row_iter().flat_map(|row| row.iter().map(|&value| value as f32)).collect(), x.ncols())
}

/// The same numbers, seen as a matrix.
pub(crate) fn as_matrix(vectors: &Vectors) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(vectors.values(), vectors.len(), vectors.width())
}

/// A matrix in double precision.
pub(crate) fn widen_ref(x: MatRef<'_, f32>) -> Matrix {
    Mat::from_fn(x.nrows(), x.ncols(), |row, column| f64::from(x[(row, column)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_rows() {
        let vectors = Vectors::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 3);
        let matrix = widen(&vectors);
        assert_eq!((matrix.nrows(), matrix.ncols(), matrix[(1, 0)]), (2, 3, 4.0));
        assert_eq!(narrow(matrix.as_ref()), vectors);
    }
}
