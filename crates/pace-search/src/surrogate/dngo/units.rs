//! The units of the networks.

use std::ops::Range;

use faer::{Mat, MatRef};

use crate::numerics::units::Units;

/// Shift and scale of the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scores {
    pub(super) mean: f64,
    pub(super) scale: f64,
}

impl Scores {
    pub(super) fn of(y: &[f64]) -> Scores {
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let variance = y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
        // Equal scores keep their scale, even if rounding makes them differ a little.
        let is_spread = variance.sqrt() > 1e-12 * mean.abs().max(f64::MIN_POSITIVE);
        Scores { mean, scale: if is_spread { variance.sqrt() } else { 1.0 } }
    }
}

/// Writes rows of x in units of the fit, one per column of `dst`.
pub(super) fn standardise<T: Copy + Into<f64>>(
    units: &Units,
    x: MatRef<'_, T>,
    rows: Range<usize>,
    dst: &mut Mat<f32>,
) {
    for (i, row) in rows.enumerate() {
        let entries = x.row(row).iter().zip(units.mean.iter().zip(&units.scale));
        for (dst, (&value, (mean, scale))) in dst.col_as_slice_mut(i).iter_mut().zip(entries) {
            let value: f64 = value.into();
            *dst = ((value - mean) / scale) as f32;
        }
    }
}
