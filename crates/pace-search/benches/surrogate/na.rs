//! Quality on the raw features of NA: one-hot operations and skip bits, 51 numbers per architecture.

use std::time::Instant;

use pace_checkout::data_dir;
use pace_graph::dataset::Na;
use pace_graph::{Dag, split_reference};
use pace_search::Matrix;
use pace_search::surrogate::{Bound, Kernel, PublishedGpConfig, SparseGpConfig, SurrogateConfig, SurrogateSettings};

use crate::data::Data;
use crate::score::Score;

const LAYERS: usize = 6;
const OPS: usize = 6;

/// Prints RMSE, correlation, negative log predictive density and seconds of every variant whose name contains the last
/// argument.
pub fn run(args: &[String]) {
    let dir = data_dir(None);
    let na = match dir.read(&Na::default(), "na", "final_structures6.txt", &mut |_| {}) {
        Ok(na) => na,
        Err(error) => return println!("{error}"),
    };
    let split = split_reference(na.samples.len(), 0.9);
    let rows = [split.train.clone(), split.test].concat();
    let features: Vec<Vec<f64>> = rows.iter().map(|&row| raw(&na.samples[row].dag)).collect();
    let x = Matrix::from_fn(rows.len(), features[0].len(), |i, d| features[i][d]);
    let Data { x, y, x_test, y_test } = Data::split(&x, &na.targets(&rows).expect("NA has targets"), split.train.len());
    println!("{} train, {} test rows, {} features", y.len(), y_test.len(), x.ncols());
    for (name, config) in variants() {
        if args
            .last()
            .is_some_and(|filter| filter != "na" && !filter.starts_with("--") && !name.contains(filter.as_str()))
        {
            continue;
        }
        let start = Instant::now();
        let mut steps = (0, 0.0);
        let fitted = config.fit_with(x.as_ref(), &y, 1, &mut |progress| steps = (progress.step, progress.objective));
        let seconds = start.elapsed().as_secs_f64();
        match fitted {
            Ok(gp) => println!("{name:28} {} {seconds:8.2} s  {steps:?}", Score::of(&*gp, &x_test, &y_test)),
            Err(error) => println!("{name:28} {error}"),
        }
    }
}

fn variants() -> Vec<(String, SurrogateConfig)> {
    let base = SparseGpConfig::default();
    let mut variants = vec![];
    for (name, kernel, bound) in [
        ("vfe", Kernel::Rbf, Bound::Vfe),
        ("fitc", Kernel::Rbf, Bound::Fitc),
        ("vfe matern", Kernel::Matern52, Bound::Vfe),
    ] {
        for subset in [Some(2000), Some(4000), Some(6000), None] {
            let size = subset.map_or("all".to_owned(), |rows| rows.to_string());
            let config = SparseGpConfig { kernel, bound, subset, ..base.clone() };
            variants.push((format!("{name} {size}"), SurrogateConfig::SparseGp(config)));
        }
    }
    variants.push(("quick".to_owned(), SurrogateConfig::SparseGp(SparseGpConfig::quick())));
    variants.push(("published".to_owned(), SurrogateConfig::PublishedGp(PublishedGpConfig::default())));
    variants
}

fn raw(dag: &Dag) -> Vec<f64> {
    let mut features = vec![0.0; LAYERS * OPS];
    for layer in 0..LAYERS {
        features[layer * OPS + usize::from(dag.op(layer + 1)) - 2] = 1.0;
    }
    for node in 2..=LAYERS {
        features.extend((0..node - 1).map(|from| f64::from(u8::from(dag.has_edge(from, node)))));
    }
    features
}
