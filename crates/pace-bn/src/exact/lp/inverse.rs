//! Inverts the basis.

/// Below this a pivot counts as zero.
const SINGULAR: f64 = 1e-10;

/// The inverse of a square matrix, by Gauss and Jordan with partial pivoting; `None` if it is singular. O(m^3), less where
/// rows hold zeros.
pub(super) fn invert(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let m = matrix.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..m).map(|row| (0..m).map(|column| f64::from(row == column)).collect()).collect();
    for column in 0..m {
        let pivot = (column..m).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < SINGULAR {
            return None;
        }
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = 1.0 / matrix[column][column];
        matrix[column].iter_mut().chain(&mut inverse[column]).for_each(|value| *value *= scale);
        let (pivot_row, pivot_inverse) = (matrix[column].clone(), inverse[column].clone());
        for row in (0..m).filter(|&row| row != column) {
            let factor = matrix[row][column];
            if factor != 0.0 {
                subtract(&mut matrix[row][column..], factor, &pivot_row[column..]);
                subtract(&mut inverse[row], factor, &pivot_inverse);
            }
        }
    }
    Some(inverse)
}

/// `target -= factor * row`.
pub(super) fn subtract(target: &mut [f64], factor: f64, row: &[f64]) {
    target.iter_mut().zip(row).for_each(|(target, value)| *target -= factor * value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_with_the_inverse_is_the_identity() {
        let matrix = vec![vec![0.0, 2.0, 1.0], vec![1.0, 0.0, 0.0], vec![3.0, 1.0, -1.0]];
        let inverse = invert(matrix.clone()).unwrap();
        for (row, values) in matrix.iter().enumerate() {
            for column in 0..3 {
                let product: f64 = values.iter().zip(&inverse).map(|(value, row)| value * row[column]).sum();
                assert!((product - f64::from(row == column)).abs() < 1e-12);
            }
        }
        assert!(invert(vec![vec![1.0, 2.0], vec![2.0, 4.0]]).is_none());
    }
}
