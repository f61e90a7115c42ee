//! Short length-scales: most covariances are next to nothing, and must cost no more than others.

use pace_search::Matrix;
use pace_search::surrogate::{Bound, Hyperparameters, Kernel, PublishedParameters};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::{Value, json};

use crate::INDUCING;
use crate::timing::best;

const ROWS: usize = 1000;
const DIMS: usize = 2;
/// Where half of the covariances are above 1e-5, and where half are below 1e-100.
const LONG: f64 = 0.1;
const SHORT: f64 = 0.02;

/// Milliseconds of one value and gradient of each model on 1,000 points of the unit square, at both length-scales.
pub fn times() -> Value {
    let mut rng = ChaCha8Rng::seed_from_u64(crate::SEED);
    let x = Matrix::from_fn(ROWS, DIMS, |_, _| rng.random::<f64>());
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let y: Vec<f64> = (0..ROWS).map(|_| normal()).collect();
    let factor = Matrix::from_fn(INDUCING, INDUCING, |_, _| normal());
    let inducing = x.subrows(0, INDUCING).to_owned();
    let sparse = |bound: Bound, kernel: Kernel, length: f64| {
        let log_lengths = vec![length.ln(); DIMS];
        let inducing = inducing.clone();
        let hyper = Hyperparameters { map: None, log_lengths, log_variance: 0.0, log_noise: -2.0, inducing };
        1e3 * best(5, || bound.evaluate(kernel, &hyper, x.as_ref(), &y, 1e-6).expect("the prior is sound"))
    };
    let published = |length: f64| {
        let params = PublishedParameters {
            log_squared_lengths: vec![2.0 * length.ln(); DIMS],
            log_variance: 0.0,
            log_noise: 0.0,
            inducing: inducing.clone(),
            mean: y[..INDUCING].to_vec(),
            factor: factor.clone(),
        };
        1e3 * best(5, || params.energy(x.as_ref(), &y, ROWS).expect("the precision is sound"))
    };
    let both = |time: &dyn Fn(f64) -> f64| json!({"long": time(LONG), "short": time(SHORT)});
    json!({
        "vfe rbf": both(&|length| sparse(Bound::Vfe, Kernel::Rbf, length)),
        "vfe matern": both(&|length| sparse(Bound::Vfe, Kernel::Matern52, length)),
        "fitc rbf": both(&|length| sparse(Bound::Fitc, Kernel::Rbf, length)),
        "published": both(&published),
    })
}
