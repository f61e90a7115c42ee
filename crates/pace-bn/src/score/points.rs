//! [`Points`]: a score as a fixed-point number.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

/// Units in one nat. Terms are at most n ln n, so they keep 12 digits after the point up to a million rows.
const UNITS: f64 = (1_u64 << 40) as f64;

/// A score in nats, as a whole number of units of 2^-40.
///
/// Sums of whole numbers do not depend on their order. So networks that no data can tell apart have equal scores to the last
/// bit, whatever the order of columns, rows or levels and the number of threads; and ties are ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Points(i128);

impl Points {
    /// Zero.
    pub const ZERO: Points = Points(0);
    /// Less than every score.
    pub const MIN: Points = Points(i128::MIN / 4);

    /// The nearest number of units.
    pub fn of(nats: f64) -> Points {
        // Saturates far beyond any score.
        Points((nats * UNITS).round() as i128)
    }

    /// In nats.
    pub fn nats(self) -> f64 {
        self.0 as f64 / UNITS
    }

    /// This many times, or [`Points::MIN`] negated if that is beyond all scores.
    pub(crate) fn times(self, count: u128) -> Points {
        let product = i128::try_from(count).ok().and_then(|count| self.0.checked_mul(count));
        Points(product.map_or(-Points::MIN.0, |product| product.min(-Points::MIN.0)))
    }
}

impl Add for Points {
    type Output = Points;
    fn add(self, other: Points) -> Points {
        Points(self.0.saturating_add(other.0))
    }
}

impl Sub for Points {
    type Output = Points;
    fn sub(self, other: Points) -> Points {
        Points(self.0.saturating_sub(other.0))
    }
}

impl Neg for Points {
    type Output = Points;
    fn neg(self) -> Points {
        Points(-self.0)
    }
}

impl AddAssign for Points {
    fn add_assign(&mut self, other: Points) {
        *self = *self + other;
    }
}

impl Sum for Points {
    fn sum<I: Iterator<Item = Points>>(terms: I) -> Points {
        terms.fold(Points::ZERO, Add::add)
    }
}
