//! Quality on the cells of NAS-Bench-101, described by plain features: fits to few rows, and whole searches.

use std::time::Instant;

use pace_checkout::data_dir;
use pace_graph::Dag;
use pace_graph::dataset::{Nas101Accuracy, Nas101Table};
use pace_search::Matrix;
use pace_search::acquisition::{Acquisition, ExpectedImprovement, PublishedEi};
use pace_search::metrics::spearman;
use pace_search::surrogate::{DngoConfig, Evidence, Loss, SparseGpConfig, SurrogateConfig, SurrogateSettings};
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

const FILE: &str = "nasbench101.csv.xz";
const SLOTS: usize = 7;
/// The number of cells.
const POOL: usize = 20_000;

/// Prints, for every variant whose name contains one of the other arguments (none: all), the rank correlation and the
/// negative log predictive density after a fit to some random cells, and with "search" the regret of searches.
pub fn run(args: &[String]) {
    let dir = data_dir(None);
    let read = dir.open("nasbench101", FILE);
    let cells = read.and_then(|mut reader| Nas101Table::default().read_cells(&mut *reader, FILE, &mut |_| {}));
    let cells = match cells {
        Ok(cells) => cells,
        Err(error) => return println!("{error}"),
    };
    let rows = index::sample(&mut ChaCha8Rng::seed_from_u64(0), cells.len(), POOL).into_vec();
    let features: Vec<Vec<f64>> = rows.iter().map(|&row| plain(&cells[row].dag)).collect();
    let x = Matrix::from_fn(POOL, features[0].len(), |i, d| features[i][d]);
    let accuracy = |&row: &usize| cells[row].accuracy(Nas101Accuracy::Test, 108).expect("the table is full");
    let y: Vec<f64> = rows.iter().map(accuracy).collect();
    drop(cells);
    let is_search = args.iter().any(|arg| arg == "search");
    for (name, config, acquisition) in variants() {
        let mut filters = args.iter().filter(|arg| !["nas101", "search", "--bench"].contains(&arg.as_str())).peekable();
        if filters.peek().is_some() && !filters.any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let start = Instant::now();
        let line = if is_search { searches(&config, &*acquisition, &x, &y) } else { fits(&config, &x, &y) };
        println!("{name:24} {line} {:7.1} s", start.elapsed().as_secs_f64());
    }
}

type Variant = (String, SurrogateConfig, Box<dyn Acquisition>);

fn variants() -> Vec<Variant> {
    let base = DngoConfig::default();
    let mut configs = vec![("default".to_owned(), base.clone())];
    for (rate, epochs) in [(1e-3, 50), (1e-3, 300), (1e-2, 100)] {
        let config = DngoConfig { learning_rate: rate, epochs, ..base.clone() };
        configs.push((format!("rate {rate} epochs {epochs}"), config));
    }
    configs.push(("untrained".to_owned(), DngoConfig { epochs: 0, ..base.clone() }));
    configs.push(("exact evidence".to_owned(), DngoConfig { evidence: Evidence::Exact, ..base.clone() }));
    configs.push(("ensemble 5".to_owned(), DngoConfig { ensemble: 5, ..base.clone() }));
    let ranking = DngoConfig { loss: Loss::Ranking, ..base };
    configs.push(("ranking".to_owned(), ranking.clone()));
    configs.push(("ranking, short".to_owned(), DngoConfig { learning_rate: 1e-3, epochs: 50, ..ranking }));
    let ei = || Box::new(ExpectedImprovement { xi: 0.0 }) as Box<dyn Acquisition>;
    let mut variants: Vec<Variant> =
        configs.into_iter().map(|(name, config)| (name, SurrogateConfig::Dngo(config), ei())).collect();
    let published = SurrogateConfig::Dngo(DngoConfig::published());
    variants.push(("published".to_owned(), published, Box::new(PublishedEi::default())));
    variants.push(("gp".to_owned(), SurrogateConfig::SparseGp(SparseGpConfig::default()), ei()));
    variants
}

/// Operations by slot, edges, and counts of both that do not depend on the numbering.
fn plain(dag: &Dag) -> Vec<f64> {
    let n = dag.n_nodes();
    // The output always takes the last slot.
    let slot = |node: usize| if node + 1 == n { SLOTS - 1 } else { node };
    let n_types = 5;
    let (mut ops, mut edges, mut counts) = (vec![0.0; SLOTS * n_types], vec![0.0; SLOTS * SLOTS], vec![0.0; n_types]);
    let (mut paths, mut depth) = (vec![0.0_f64; n], vec![0.0_f64; n]);
    paths[0] = 1.0;
    for node in 0..n {
        ops[slot(node) * n_types + usize::from(dag.op(node))] = 1.0;
        counts[usize::from(dag.op(node))] += 1.0;
        for from in dag.predecessors(node) {
            edges[slot(from) * SLOTS + slot(node)] = 1.0;
            paths[node] += paths[from];
            depth[node] = depth[node].max(depth[from] + 1.0);
        }
    }
    [ops, edges, counts, vec![paths[n - 1], depth[n - 1], dag.n_edges() as f64]].concat()
}

fn fits(config: &SurrogateConfig, x: &Matrix, y: &[f64]) -> String {
    let mut line = String::new();
    for n in [30, 100] {
        let (mut correlation, mut nlpd) = (0.0, 0.0);
        let runs = 6;
        for seed in 0..runs {
            let chosen = index::sample(&mut ChaCha8Rng::seed_from_u64(seed), POOL, n + 4000).into_vec();
            let gather = |rows: &[usize]| Matrix::from_fn(rows.len(), x.ncols(), |i, d| x[(rows[i], d)]);
            let take = |rows: &[usize]| rows.iter().map(|&row| y[row]).collect::<Vec<f64>>();
            let (train, test) = chosen.split_at(n);
            let fitted = config.fit(gather(train).as_ref(), &take(train), seed).expect("sound");
            let (posterior, truth) = (fitted.predict(gather(test).as_ref()), take(test));
            correlation += spearman(&posterior.mean, &truth) / runs as f64;
            let density = |i: usize| {
                let v = posterior.variance[i] + posterior.noise;
                0.5 * ((2.0 * std::f64::consts::PI * v).ln() + (posterior.mean[i] - truth[i]).powi(2) / v)
            };
            nlpd += (0..truth.len()).map(density).sum::<f64>() / truth.len() as f64 / runs as f64;
        }
        line += &format!("  {n:3} rows: rho {correlation:.3} nlpd {nlpd:7.3}");
    }
    line
}

/// Mean and largest regret in percent over seeds: 16 random cells, then 5 a round by greedy fantasies, 150 in all.
fn searches(config: &SurrogateConfig, acquisition: &dyn Acquisition, x: &Matrix, y: &[f64]) -> String {
    let best = y.iter().copied().fold(0.0, f64::max);
    let regret = |seed: u64| {
        let mut rows = index::sample(&mut ChaCha8Rng::seed_from_u64(seed), POOL, 16).into_vec();
        while rows.len() < 150 {
            let seen = Matrix::from_fn(rows.len(), x.ncols(), |i, d| x[(rows[i], d)]);
            let scores: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
            let incumbent = scores.iter().copied().fold(0.0, f64::max);
            let mut surrogate = config.fit(seen.as_ref(), &scores, rows.len() as u64).expect("sound");
            for _ in 0..5 {
                let worth = acquisition.score(&surrogate.predict(x.as_ref()), incumbent);
                let new = (0..POOL).filter(|row| !rows.contains(row));
                let row = new.max_by(|&a, &b| worth[a].total_cmp(&worth[b])).expect("the pool is large");
                rows.push(row);
                surrogate = surrogate.fantasise(x.subrows(row, 1));
            }
        }
        100.0 * (best - rows.iter().map(|&row| y[row]).fold(0.0, f64::max))
    };
    let regrets: Vec<f64> = (0..8).map(regret).collect();
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    format!("regret: mean {mean:.3} % worst {:.3} %", regrets.iter().copied().fold(0.0, f64::max))
}
