//! The derivative of the belief of a Gaussian process by the vector.

use faer::{Mat, MatRef};

use super::kernel::Scaled;
use super::posterior::KernelPosterior;
use crate::numerics::dense::{dot, times, transposed_times};
use crate::surrogate::PosteriorGradient;

/// The belief about the only row of x [1, D], and its derivatives. A variance below 0, from rounding, becomes 0.
///
/// With p = A x in units of the length-scales and slopes k' = dk/dr^2:
///
/// ```text
/// d mean/dp     =    2 sum_j beta_j k'_j (p - z_j)
/// d variance/dp = -4 sum_j (shrink k - shrunk g)_j k'_j (p - z_j) - 4 sum_f g_f k'_f (p - x*_f),   g = C^-1 c(X*, x)
/// ```
///
/// where the last sum is over the fantasies X*, if there are any.
pub(crate) fn gradient(posterior: &KernelPosterior, x: MatRef<'_, f64>) -> PosteriorGradient {
    let n_dims = posterior.n_dims();
    assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
    let point = posterior.points(x);
    let (k, slopes) = covariance_and_slope(posterior, &posterior.inducing, &point);
    let mut shrunk = times(&posterior.shrink, k.col_as_slice(0));
    let mut variance = posterior.variance - dot(k.col_as_slice(0), &shrunk);
    let mut by_variance = vec![0.0; point.points().nrows()];
    if let Some(fantasies) = &posterior.fantasies {
        let covariance = fantasies.covariance(posterior, &point, &k);
        let white = times(&fantasies.inverse_factor, covariance.col_as_slice(0));
        variance -= dot(&white, &white);
        let gain = transposed_times(&fantasies.inverse_factor, &white);
        let back = times(&fantasies.shrunk, &gain);
        shrunk.iter_mut().zip(&back).for_each(|(shrunk, back)| *shrunk -= back);
        let (_, slopes) = covariance_and_slope(posterior, &fantasies.points, &point);
        add_pull(&mut by_variance, &point, &fantasies.points, &gain, slopes.col_as_slice(0), -2.0);
    }
    let mut by_mean = vec![0.0; by_variance.len()];
    let slopes = slopes.col_as_slice(0);
    add_pull(&mut by_mean, &point, &posterior.inducing, &posterior.weights, slopes, 1.0);
    add_pull(&mut by_variance, &point, &posterior.inducing, &shrunk, slopes, -2.0);
    PosteriorGradient {
        mean: dot(k.col_as_slice(0), &posterior.weights),
        variance: variance.max(0.0),
        by_mean: by_vector(posterior, by_mean),
        by_variance: by_vector(posterior, by_variance),
    }
}

/// k(z_j, p) and its derivative by the squared distance, both [n, 1].
fn covariance_and_slope(posterior: &KernelPosterior, others: &Scaled, point: &Scaled) -> (Mat<f64>, Mat<f64>) {
    let [mut values, mut slopes] = [(); 2].map(|()| Mat::zeros(others.len(), 1));
    others.covariance_and_slope(point, posterior.kernel, posterior.variance, values.as_mut(), slopes.as_mut());
    (values, slopes)
}

/// Adds scale * d/dp sum_j weights_j k_j = scale * 2 sum_j weights_j k'_j (p - z_j).
fn add_pull(dst: &mut [f64], point: &Scaled, others: &Scaled, weights: &[f64], slopes: &[f64], scale: f64) {
    let p = point.points().col(0);
    for (z, (weight, slope)) in others.points().col_iter().zip(weights.iter().zip(slopes)) {
        let factor = 2.0 * scale * weight * slope;
        dst.iter_mut().zip(p.iter().zip(z.iter())).for_each(|(dst, (p, z))| *dst += factor * (p - z));
    }
}

/// From the derivative by p [K] to that by x [D].
fn by_vector(posterior: &KernelPosterior, mut by_point: Vec<f64>) -> Vec<f64> {
    by_point.iter_mut().zip(&posterior.inverse_lengths).for_each(|(by, inverse)| *by *= inverse);
    match &posterior.map {
        None => by_point,
        Some(map) => transposed_times(map, &by_point),
    }
}
