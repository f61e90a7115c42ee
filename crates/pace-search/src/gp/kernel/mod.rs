//! Stationary kernels with one length-scale per dimension.
//!
//! With r^2 = sum_d (x_d - z_d)^2 / l_d^2 and the signal variance s:
//!
//! ```text
//! rbf         k = s exp(-r^2 / 2)
//! matern 5/2  k = s (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r)
//! ```
//!
//! Rasmussen & Williams 2006, chapter 4. Both are functions of r^2 alone. So both need the same matrix product of scaled
//! points, and their gradients follow from the derivative by r^2, the *slope*.

use serde::{Deserialize, Serialize};

mod exp;
mod gradient;
mod map;
mod scaled;

pub(crate) use gradient::KernelGradient;
pub(crate) use map::MapGradient;
pub(crate) use scaled::Scaled;

use exp::exp_nonpositive;

const SQRT_5: f64 = 2.236_067_977_499_79;

/// The shape of the covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Squared exponential: infinitely smooth.
    Rbf,
    /// Matern with smoothness 5/2: twice differentiable.
    Matern52,
}

impl Kernel {
    /// Replaces squared distances by covariances.
    pub(crate) fn values(self, variance: f64, r2: &mut [f64]) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || match self {
                Kernel::Rbf => r2.iter_mut().for_each(|r2| *r2 = variance * exp_nonpositive(-0.5 * floor(*r2))),
                Kernel::Matern52 => r2.iter_mut().for_each(|r2| *r2 = matern(variance, *r2).0),
            },
        );
    }

    /// Replaces squared distances by covariances, and writes their derivatives by the squared distance.
    pub(crate) fn values_and_slopes(self, variance: f64, r2: &mut [f64], slopes: &mut [f64]) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || match self {
                Kernel::Rbf => r2.iter_mut().zip(slopes).for_each(|(r2, slope)| {
                    *r2 = variance * exp_nonpositive(-0.5 * floor(*r2));
                    *slope = -0.5 * *r2;
                }),
                Kernel::Matern52 => {
                    r2.iter_mut().zip(slopes).for_each(|(r2, slope)| (*r2, *slope) = matern(variance, *r2))
                }
            },
        );
    }
}

/// A rounding error below 0 becomes 0. NaN stays NaN, unlike with `max`.
#[inline(always)]
fn floor(r2: f64) -> f64 {
    if r2 < 0.0 { 0.0 } else { r2 }
}

/// Value and slope. The derivative cancels 1/r, so the slope is finite at r = 0.
#[inline(always)]
fn matern(variance: f64, r2: f64) -> (f64, f64) {
    let r2 = floor(r2);
    let a = SQRT_5 * r2.sqrt();
    let decay = variance * exp_nonpositive(-a);
    ((1.0 + a + 5.0 / 3.0 * r2) * decay, -5.0 / 6.0 * (1.0 + a) * decay)
}
