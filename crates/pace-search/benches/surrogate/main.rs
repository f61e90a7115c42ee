//! Seconds of the sparse Gaussian processes on 17,118 x 64 synthetic vectors with 500 inducing points, the size of NA.
//!
//! ```text
//! cargo bench -p pace-search --bench surrogate             a table
//! cargo bench -p pace-search --bench surrogate -- --json   {"<what>": number}
//! cargo bench -p pace-search --bench surrogate -- na       quality on the raw features of NA, where its file is found
//! ```

mod na;

use std::collections::BTreeMap;
use std::time::Instant;

use pace_search::Matrix;
use pace_search::surrogate::{Bound, Hyperparameters, Kernel, PublishedGpConfig, SparseGpConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const ROWS: usize = 17_118;
const DIMS: usize = 64;
const INDUCING: usize = 500;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "na") {
        na::run(&args);
        return;
    }
    let (x, y) = data();
    let mut times = BTreeMap::new();
    let inducing = x.subrows(0, INDUCING).to_owned();
    let hyper = Hyperparameters {
        map: None,
        log_lengths: vec![(DIMS as f64).ln() / 2.0; DIMS],
        log_variance: 0.0,
        log_noise: -2.0,
        inducing,
    };
    for (name, bound) in [("vfe", Bound::Vfe), ("fitc", Bound::Fitc)] {
        let evaluate = || bound.evaluate(Kernel::Rbf, &hyper, x.as_ref(), &y, 1e-6).expect("the prior is sound");
        times.insert(format!("{name} value and gradient, all rows, s"), best(5, evaluate));
        let part = || bound.evaluate(Kernel::Rbf, &hyper, x.subrows(0, 4000), &y[..4000], 1e-6).expect("as above");
        times.insert(format!("{name} value and gradient, 4000 rows, s"), best(5, part));
    }
    for (name, subset) in [("all rows", None), ("subset 4000", Some(4000)), ("subset 2000", Some(2000))] {
        let config = SparseGpConfig { subset, tolerance: 0.0, n_inducing: INDUCING, ..SparseGpConfig::default() };
        times.insert(
            format!("vfe fit, 60 iterations, {name}, s"),
            best(1, || config.fit(x.as_ref(), &y, 0).expect("sound")),
        );
    }
    times.insert("published step, ms".to_owned(), 1e3 * published_step(&x, &y));
    if args.iter().any(|arg| arg == "--json") {
        println!("{}", serde_json::json!(times));
    } else {
        times.iter().for_each(|(what, value)| println!("{what:48} {value:10.4}"));
    }
}

/// Vectors of a smooth function of a few directions, with noise.
fn data() -> (Matrix, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let x = Matrix::from_fn(ROWS, DIMS, |_, _| StandardNormal.sample(&mut rng));
    let score = |i: usize| {
        let noise: f64 = StandardNormal.sample(&mut rng);
        x[(i, 0)].sin() + 0.5 * x[(i, 1)] * x[(i, 2)] + 0.3 * x[(i, 3)] + 0.2 * noise
    };
    let y = (0..ROWS).map(score).collect();
    (x, y)
}

/// The median step, so that the short batch at the end of the epoch does not count.
fn published_step(x: &Matrix, y: &[f64]) -> f64 {
    let config = PublishedGpConfig { epochs: 1, ..PublishedGpConfig::default() };
    let (mut last, mut steps) = (Instant::now(), Vec::new());
    let mut step = |_| steps.push(std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64());
    config.fit_with(x.as_ref(), y, 0, &mut step).expect("sound");
    steps.sort_by(f64::total_cmp);
    steps[steps.len() / 2]
}

/// The fastest of a few runs, which is the least disturbed.
fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(once).fold(f64::INFINITY, f64::min)
}
