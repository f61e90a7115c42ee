//! Accuracies of unseen cells from few known ones: what encoders of architectures are mostly used for.
//!
//! A sample of cells is labelled, a Gaussian process learns the normal quantiles of their ranks from vectors, and ranks 20,000
//! other cells. No other label is looked at, not even to choose a setting. Ranks, because some trainings crashed: plain
//! accuracies leave almost no difference between good cells.

use anyhow::Result;
use pace_graph::{Dag, DagSpec, PathEncoding, Vectors};
use pace_search::metrics::{kendall, spearman};
use pace_search::strategy::Warp;
use pace_search::surrogate::{Kernel, SparseGpConfig, Surrogate, SurrogateSettings};
use pace_search::widen;
use pace_train::record::{Metric, MetricSpec, Run, Stage};
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use crate::mlm::{Embedded, raw_features};
use crate::progress::steps_bar;
use crate::report::Report;

/// The longest path of a cell has five inner nodes.
const MAX_PATH: usize = 5;

/// How much is predicted from how little.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FewLabelsPlan {
    /// Numbers of labelled cells: 100, and 0.04, 0.1 and 1 percent of the space.
    pub sizes: Vec<usize>,
    /// Samples of each, with different seeds.
    pub seeds: usize,
    /// The first of these seeds.
    pub first_seed: u64,
    /// Other cells that are ranked.
    pub n_test: usize,
    /// What learns.
    pub gp: SparseGpConfig,
}

impl FewLabelsPlan {
    /// The sizes of the literature, ten samples each.
    pub fn usual(first_seed: u64) -> FewLabelsPlan {
        // Some hundred rows cannot tell the length-scales of some hundred dimensions apart beyond what a few steps find.
        let gp = SparseGpConfig { kernel: Kernel::Matern52, max_iterations: 30, ..SparseGpConfig::default() };
        FewLabelsPlan { sizes: vec![100, 172, 424, 4236], seeds: 10, first_seed, n_test: 20_000, gp }
    }

    /// The same on little work.
    pub fn smoke(self) -> FewLabelsPlan {
        FewLabelsPlan { sizes: vec![50, 100], seeds: 2, n_test: 500, ..self }
    }
}

/// How well the order of the test cells is predicted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Order {
    kendall: f64,
    spearman: f64,
}

/// Predicts from every kind of vector, and records the rows.
///
/// # Errors
/// Those of the fits, or a file that cannot be written.
pub fn predict(
    plan: &FewLabelsPlan,
    dags: &[Dag],
    embedded: &Embedded,
    accuracies: &[f64],
    run: &mut Run,
    page: &mut Report,
) -> Result<()> {
    let (untrained, raw, paths) = run.stage(&Stage::new("controls"), |_| {
        let raw = raw_features(dags, &DagSpec::nas101());
        let paths = beside(&raw, &path_features(dags));
        anyhow::Ok((embedded.untrained.vectors(dags), raw, paths))
    })?;
    let kinds = [
        ("pace", "PACE vectors", &embedded.vectors),
        ("untrained", "vectors of an untrained encoder", &untrained),
        ("raw", "operations and adjacency", &raw),
        ("paths", "operations, adjacency and paths", &paths),
    ];
    let mut rows = vec![["vectors", "labels", "Kendall's tau", "std", "Spearman's rho"].map(str::to_owned).to_vec()];
    for (id, title, vectors) in kinds {
        for &size in &plan.sizes {
            let found = orders(plan, id, size, vectors, accuracies, run)?;
            let column = |part: fn(&Order) -> f64| Metric::over(&found.iter().map(part).collect::<Vec<f64>>());
            let (tau, rho) = (column(|order| order.kendall), column(|order| order.spearman));
            println!("{size} labels, {title}: Kendall {:.4} +- {:.4}, Spearman {:.4}", tau.mean, tau.std, rho.mean);
            for (name, what, metric) in [("kendall", "Kendall's tau", tau), ("spearman", "Spearman's rho", rho)] {
                let (id, title) =
                    (format!("{name}_{size}_{id}").into(), format!("{what} from {size} labels, {title}").into());
                run.metric(&MetricSpec { id, title, ..MetricSpec::new("", "").higher() }, metric);
            }
            let numbers = [tau.mean, tau.std, rho.mean].map(|number| format!("{number:.4}"));
            rows.push([title.to_owned(), size.to_string()].into_iter().chain(numbers).collect());
        }
    }
    page.heading("Prediction from few labels");
    page.table(&rows);
    Ok(())
}

/// One kind of vectors and one number of labels, the seeds in parallel.
fn orders(
    plan: &FewLabelsPlan,
    id: &str,
    size: usize,
    vectors: &Vectors,
    accuracies: &[f64],
    run: &mut Run,
) -> Result<Vec<Order>> {
    let seeds: Vec<u64> = (plan.first_seed..).take(plan.seeds).collect();
    let kind = Stage::new("few-labels").variant(&format!("{id}-{size}"));
    let stages: Vec<Stage> = seeds.iter().map(|&seed| kind.clone().seed(seed)).collect();
    let bar = steps_bar(kind.to_string(), seeds.len() as u64);
    let found = run.each(&stages, |index| {
        let mut rng = ChaCha8Rng::seed_from_u64(seeds[index]);
        let n_test = plan.n_test.min(vectors.len() - size);
        let drawn = sample(&mut rng, vectors.len(), size + n_test).into_vec();
        let (known, test) = drawn.split_at(size);
        let of = |rows: &[usize]| rows.iter().map(|&row| accuracies[row]).collect::<Vec<f64>>();
        let mut y = of(known);
        Warp::Ranks.apply(&mut y);
        let (x, x_test) = (widen(&vectors.select(known)), widen(&vectors.select(test)));
        let gp = plan.gp.fit_with(x.as_ref(), &y, seeds[index], &mut |_| {})?;
        let (predicted, actual) = (gp.predict(x_test.as_ref()).mean, of(test));
        bar.inc(1);
        anyhow::Ok(Order { kendall: kendall(&predicted, &actual), spearman: spearman(&predicted, &actual) })
    });
    bar.finish_and_clear();
    found
}

fn path_features(dags: &[Dag]) -> Vectors {
    let paths = PathEncoding::new(&DagSpec::nas101(), MAX_PATH).expect("cells have an input and an output");
    Vectors::from_rows(dags.par_iter().map(|dag| paths.encode(dag)).collect::<Vec<_>>(), paths.width())
}

/// Two kinds of vectors of the same graphs, side by side.
fn beside(one: &Vectors, other: &Vectors) -> Vectors {
    let rows = (0..one.len()).map(|row| [one.row(row), other.row(row)].concat());
    Vectors::from_rows(rows.collect::<Vec<_>>(), one.width() + other.width())
}
