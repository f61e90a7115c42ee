//! Checks of data, before a fit or a search uses it.

use faer::MatRef;

use crate::error::Error;

/// Larger numbers, squared and summed, are no numbers any more.
const LARGEST: f64 = 1e100;

/// Errs unless x [N, D] and y [N] are finite and not huge, have the same number of rows, and are not empty.
pub(crate) fn check_data(x: MatRef<'_, f64>, y: &[f64]) -> Result<(), Error> {
    check_vectors(x)?;
    if x.nrows() != y.len() {
        return Err(Error::TargetCount { rows: x.nrows(), targets: y.len() });
    }
    match y.iter().enumerate().find(|(_, value)| value.is_nan() || value.abs() > LARGEST) {
        Some((row, &value)) if value.is_finite() => Err(Error::HugeTarget { row, value, largest: LARGEST }),
        Some((row, &value)) => Err(Error::BadTarget { row, value }),
        None => Ok(()),
    }
}

/// Errs unless x [N, D] is finite, not huge and not empty.
pub(crate) fn check_vectors(x: MatRef<'_, f64>) -> Result<(), Error> {
    let (rows, columns) = x.shape();
    if rows == 0 || columns == 0 {
        return Err(Error::EmptyInput { rows, columns });
    }
    for (column, values) in x.col_iter().enumerate() {
        match values.iter().enumerate().find(|(_, value)| value.is_nan() || value.abs() > LARGEST) {
            Some((row, &value)) if value.is_finite() => {
                return Err(Error::HugeVector { row, column, value, largest: LARGEST });
            }
            Some((row, &value)) => return Err(Error::BadVector { row, column, value }),
            None => {}
        }
    }
    Ok(())
}
