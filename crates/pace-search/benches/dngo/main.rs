//! Seconds of DNGO: a fit at the size of a search, and a prediction for all 423,624 cells of NAS-Bench-101 in 64
//! dimensions.
//!
//! ```text
//! cargo bench -p pace-search --bench dngo             a table
//! cargo bench -p pace-search --bench dngo -- --json   {"<what>": number}
//! cargo bench -p pace-search --bench dngo -- nas101   quality on plain features of NAS-Bench-101, if its file is found
//! ```

mod nas101;
#[path = "../timing/mod.rs"]
mod timing;

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use pace_search::Matrix;
use pace_search::acquisition::{Acquisition, ExpectedImprovement};
use pace_search::surrogate::{DngoConfig, Loss, Surrogate, SurrogateSettings};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use timing::best;

const ROWS: usize = 100;
const POOL: usize = 423_624;
const DIMS: usize = 64;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "nas101") {
        nas101::run(&args);
        return;
    }
    let (x, y) = data();
    let mut times = BTreeMap::new();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let configs = [
        ("default", DngoConfig::default()),
        ("published", DngoConfig::published()),
        ("ranking", DngoConfig { loss: Loss::Ranking, ..DngoConfig::default() }),
    ];
    for (name, config) in configs {
        let fit = || one.install(|| config.fit(x.as_ref(), &y, 0).expect("sound"));
        times.insert(format!("fit, {ROWS} rows, {name}, one thread, s"), best(5, fit));
    }
    let dngo = DngoConfig::default().fit(x.as_ref(), &y, 0).expect("sound");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let pool: Vec<f32> = (0..POOL * DIMS).map(|_| StandardNormal.sample(&mut rng)).collect();
    let by_rows = MatRef::from_row_major_slice(&pool, POOL, DIMS);
    let by_columns = Mat::from_fn(POOL, DIMS, |i, d| by_rows[(i, d)]);
    let threads = rayon::current_num_threads();
    let layouts = [("rows", by_rows), ("columns", by_columns.as_ref())];
    for (name, pool) in layouts {
        let predict = || dngo.predict_f32(pool);
        times.insert(format!("predict, {POOL} f32 {name}, {threads} threads, s"), best(5, predict));
    }
    let alone = || one.install(|| dngo.predict_f32(by_rows));
    times.insert(format!("predict, {POOL} f32 rows, one thread, s"), best(3, alone));
    let posterior = dngo.predict_f32(by_rows);
    times.insert(
        "expected improvement, one thread, s".to_owned(),
        best(5, || ExpectedImprovement { xi: 0.0 }.score(&posterior, 1.0)),
    );
    times.insert("fantasise, 1 row, s".to_owned(), best(20, || dngo.fantasise(x.subrows(0, 1))));
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
