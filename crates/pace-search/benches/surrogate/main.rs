//! Seconds of the sparse Gaussian processes with 500 inducing points on 17,118 x 64 vectors like the latents of NA.
//!
//! ```text
//! cargo bench -p pace-search --bench surrogate             a table
//! cargo bench -p pace-search --bench surrogate -- --json   {"<what>": number}
//! cargo bench -p pace-search --bench surrogate -- short    milliseconds of one evaluation at short length-scales
//! cargo bench -p pace-search --bench surrogate -- na       quality on the raw features of NA, if its file is found
//! ```
//!
//! `cargo xtask bench search` compares with GPyTorch by means of
//!
//! ```text
//! -- dump FOLDER               the vectors, for the peer
//! -- fit SUBSET ITERATIONS     a fit, as one line of JSON
//! ```
//!
//! Both take `--rows TRAIN TEST` for another size, or `--embeddings FILE` for the latents of a finished run of NA.

mod data;
mod embeddings;
mod na;
mod score;
mod short;
#[path = "../timing/mod.rs"]
mod timing;
mod versus;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use data::Data;
use pace_search::Matrix;
use pace_search::surrogate::{Bound, Hyperparameters, Kernel, PublishedGpConfig, SparseGpConfig, SurrogateSettings};
use timing::best;

const TRAIN: usize = 17_118;
const TEST: usize = 1_902;
const INDUCING: usize = 500;
const SEED: u64 = 0;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["na", ..] => na::run(&args),
        ["short"] => println!("{}", short::times()),
        ["dump", folder, ref source @ ..] => versus::dump(&data(source)?, Path::new(folder))?,
        ["fit", subset, iterations, ref source @ ..] => {
            versus::fit(&data(source)?, subset.parse()?, iterations.parse()?)?;
        }
        [] | ["--json"] => times(&data(&[])?, words == ["--json"]),
        _ => return Err(format!("no such way to call this bench: {}", words.join(" ")).into()),
    }
    Ok(())
}

fn data(source: &[&str]) -> Result<Data, Box<dyn Error>> {
    match source {
        [] => Ok(Data::like_na(TRAIN, TEST, SEED)),
        ["--rows", train, test] => Ok(Data::like_na(train.parse()?, test.parse()?, SEED)),
        ["--embeddings", file] => embeddings::read(Path::new(file)),
        _ => Err(format!("not a source of vectors: {}", source.join(" ")).into()),
    }
}

fn times(Data { x, y, .. }: &Data, as_json: bool) {
    let mut times = BTreeMap::new();
    let inducing = x.subrows(0, INDUCING).to_owned();
    let n_dims = x.ncols();
    // The spread of a dimension is about 1/2.
    let log_lengths = vec![(n_dims as f64).ln() / 2.0 - 2.0_f64.ln(); n_dims];
    let hyper = Hyperparameters { map: None, log_lengths, log_variance: 0.0, log_noise: -2.0, inducing };
    for (name, bound) in [("vfe", Bound::Vfe), ("fitc", Bound::Fitc)] {
        let evaluate = || bound.evaluate(Kernel::Rbf, &hyper, x.as_ref(), y, 1e-6).expect("the prior is sound");
        times.insert(format!("{name} value and gradient, all rows, s"), best(5, evaluate));
        let part = || bound.evaluate(Kernel::Rbf, &hyper, x.subrows(0, 4000), &y[..4000], 1e-6).expect("as above");
        times.insert(format!("{name} value and gradient, 4000 rows, s"), best(5, part));
    }
    for (name, subset) in [("all rows", None), ("subset 4000", Some(4000)), ("subset 2000", Some(2000))] {
        let config = SparseGpConfig { subset, tolerance: 0.0, n_inducing: INDUCING, ..SparseGpConfig::default() };
        let fit = || config.fit(x.as_ref(), y, 0).expect("sound");
        times.insert(format!("vfe fit, 60 iterations, {name}, s"), best(1, fit));
    }
    times.insert("published step, ms".to_owned(), 1e3 * published_step(x, y));
    if as_json {
        println!("{}", serde_json::json!(times));
    } else {
        times.iter().for_each(|(what, value)| println!("{what:48} {value:10.4}"));
    }
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
