//! Accuracies of unseen cells from few known ones: what encoders of architectures are mostly used for.
//!
//! A sample of cells is labelled, a Gaussian process learns the normal quantiles of their ranks from vectors, and ranks 20,000
//! other cells. No other label is looked at, not even to choose a setting. Ranks, because some trainings crashed: plain
//! accuracies leave almost no difference between good cells. PACE is also fine-tuned, see `fine_tune.rs`.

mod features;
mod fine_tune;
mod properties;

use anyhow::Result;
use pace_graph::{Dag, DagSpec, mean_std, raw_features};
use pace_model::objective::HeadConfig;
use pace_search::metrics::{kendall, spearman};
use pace_search::strategy::Warp;
use pace_search::surrogate::{AdditiveGpConfig, Parts, Surrogate, SurrogateSettings};
use pace_search::widen;
use pace_train::record::{Metric, MetricSpec, Run, Stage};
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::mlm::{Embedded, Vectoriser};
use crate::progress::steps_bar;
use crate::report::Report;
use features::Features;
use fine_tune::{Cells, FineTunePlan, fine_tuned};

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
    /// What learns from vectors; the parts are those of the vectors.
    pub gp: AdditiveGpConfig,
    /// Passes over all cells that teach PACE their properties.
    pub property_epochs: usize,
    /// The seed of that training.
    pub encoder_seed: u64,
    /// How PACE is fine-tuned; other encoders are not.
    pub fine_tune: FineTunePlan,
}

impl FewLabelsPlan {
    /// The sizes of the literature, ten samples each.
    pub fn usual(first_seed: u64, encoder_seed: u64) -> FewLabelsPlan {
        // Some hundred rows cannot tell the length-scales of some hundred dimensions apart: one for each kind of features. One
        // training of a cell has a noise of a tenth of the variance and more.
        let gp = AdditiveGpConfig {
            noise: 0.2,
            max_rows: 5000,
            learn_rows: 600,
            max_iterations: 30,
            ..AdditiveGpConfig::new(1)
        };
        FewLabelsPlan {
            sizes: vec![100, 172, 424, 4236],
            seeds: 10,
            first_seed,
            n_test: 20_000,
            gp,
            property_epochs: 3,
            encoder_seed,
            fine_tune: FineTunePlan::default(),
        }
    }

    /// The same on little work.
    pub fn smoke(self) -> FewLabelsPlan {
        let fine_tune = FineTunePlan { n_steps: 20, min_epochs: 1, n_members: 1, ..self.fine_tune };
        FewLabelsPlan { sizes: vec![50, 100], seeds: 2, n_test: 500, property_epochs: 1, fine_tune, ..self }
    }
}

/// How well the order of the test cells is predicted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Order {
    kendall: f64,
    spearman: f64,
}

/// What predicts.
#[derive(Clone, Copy)]
enum Predictor<'a> {
    /// The Gaussian process, from features.
    Gp(&'a Features),
    /// An encoder with a head, both trained on the labels.
    FineTuned(&'a Vectoriser, HeadConfig),
    /// The mean of both, each of spread 1: they err in different places.
    Both(&'a Features, &'a Vectoriser, HeadConfig),
}

/// Predicts by every method, and records the rows: by the vectors of the encoder; with `controls` also by what does not depend on
/// it, and by PACE fine-tuned.
///
/// # Errors
/// Those of the fits, or a file that cannot be written.
pub fn predict(
    plan: &FewLabelsPlan,
    controls: bool,
    dags: &[Dag],
    embedded: &Embedded,
    accuracies: &[f64],
    run: &mut Run,
    page: &mut Report,
) -> Result<()> {
    let own = Features::new(embedded.vectors.clone()).standardised();
    let mut found = vec![("gp", "GP on vectors of the encoder", own)];
    let mut taught = None;
    if controls {
        let known = features::properties(dags).standardised();
        let how = (plan.property_epochs, plan.encoder_seed);
        let model = properties::taught(&embedded.trained, dags, &known, how, run)?;
        found.extend(run.stage(&Stage::new("controls"), |_| {
            let vectors = |model: &Vectoriser| Features::new(model.vectors(dags)).standardised();
            let raw = Features::new(raw_features(dags, &DagSpec::nas101()));
            let paths = raw.beside(&features::paths(dags));
            let structure = paths.beside(&known);
            let taught = vectors(&model);
            let all = structure.beside(&taught);
            anyhow::Ok([
                ("taught", "GP on vectors of the encoder that learnt properties", taught),
                ("all", "GP on these, paths and properties", all),
                ("untrained", "GP on vectors of an untrained encoder", vectors(&embedded.untrained)),
                ("raw", "GP on operations and adjacency", raw),
                ("paths", "GP on operations, adjacency and paths", paths),
                ("properties", "GP on properties", known),
                ("structure", "GP on paths and properties", structure),
            ])
        })?);
        taught = Some(model);
    }
    let mut kinds: Vec<(&str, &str, Predictor<'_>)> =
        found.iter().map(|(id, title, features)| (*id, *title, Predictor::Gp(features))).collect();
    if let Some(taught) = &taught {
        let all = found.iter().find(|(id, ..)| *id == "all").map(|(_, _, features)| features);
        kinds.extend(all.map(|all| {
            let both = Predictor::Both(all, taught, HeadConfig::Ranking);
            ("both", "mean of that GP and the encoder fine-tuned, ranking loss", both)
        }));
        let fine_tuned = |model, head| Predictor::FineTuned(model, head);
        kinds.extend([
            ("ranking_taught", "learnt properties, fine-tuned, ranking loss", fine_tuned(taught, HeadConfig::Ranking)),
            ("ranking", "fine-tuned, ranking loss", fine_tuned(&embedded.trained, HeadConfig::Ranking)),
            ("regression", "fine-tuned, squared error", fine_tuned(&embedded.trained, HeadConfig::Regression)),
            ("scratch", "without pre-training, ranking loss", fine_tuned(&embedded.untrained, HeadConfig::Ranking)),
        ]);
    }
    let mut rows = vec![["method", "labels", "Kendall's tau", "std", "Spearman's rho"].map(str::to_owned).to_vec()];
    for (id, title, predictor) in kinds {
        for &size in &plan.sizes {
            let found = orders(plan, id, size, predictor, (dags, accuracies), run)?;
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

/// One method and one number of labels, the seeds in parallel.
fn orders(
    plan: &FewLabelsPlan,
    id: &str,
    size: usize,
    predictor: Predictor<'_>,
    (dags, accuracies): (&[Dag], &[f64]),
    run: &mut Run,
) -> Result<Vec<Order>> {
    let seeds: Vec<u64> = (plan.first_seed..).take(plan.seeds).collect();
    let kind = Stage::new("few-labels").variant(&format!("{id}-{size}"));
    let stages: Vec<Stage> = seeds.iter().map(|&seed| kind.clone().seed(seed)).collect();
    let bar = steps_bar(kind.to_string(), seeds.len() as u64);
    let found = run.each(&stages, |index| {
        let mut rng = ChaCha8Rng::seed_from_u64(seeds[index]);
        let n_test = plan.n_test.min(dags.len() - size);
        let drawn = sample(&mut rng, dags.len(), size + n_test).into_vec();
        let (known, test) = drawn.split_at(size);
        let of = |rows: &[usize]| rows.iter().map(|&row| accuracies[row]).collect::<Vec<f64>>();
        let mut y = of(known);
        Warp::Ranks.apply(&mut y);
        let by_gp = |Features { vectors, parts }: &Features| {
            let (x, x_test) = (widen(&vectors.select(known)), widen(&vectors.select(test)));
            let gp = AdditiveGpConfig { parts: Parts::Widths(parts.clone()), ..plan.gp.clone() };
            anyhow::Ok(gp.fit_with(x.as_ref(), &y, seeds[index], &mut |_| {})?.predict_mean(x_test.as_ref()))
        };
        let by_head = |model: &Vectoriser, head: HeadConfig| {
            let of = |rows: &[usize]| rows.iter().map(|&row| dags[row].clone()).collect::<Vec<Dag>>();
            let (known, test) = (of(known), of(test));
            let cells = Cells { known: &known, labels: &y, test: &test };
            fine_tuned(&plan.fine_tune, head, model, cells, seeds[index])
        };
        let predicted = match predictor {
            Predictor::Gp(features) => by_gp(features)?,
            Predictor::FineTuned(model, head) => by_head(model, head)?,
            Predictor::Both(features, model, head) => {
                let (one, other) = (of_spread_one(by_gp(features)?), of_spread_one(by_head(model, head)?));
                one.into_iter().zip(other).map(|(one, other)| one + other).collect()
            }
        };
        bar.inc(1);
        let actual = of(test);
        anyhow::Ok(Order { kendall: kendall(&predicted, &actual), spearman: spearman(&predicted, &actual) })
    });
    bar.finish_and_clear();
    found
}

/// The same numbers in units of their spread.
fn of_spread_one(mut numbers: Vec<f64>) -> Vec<f64> {
    let (_, spread) = mean_std(numbers.iter().copied());
    numbers.iter_mut().for_each(|number| *number /= spread.max(f64::MIN_POSITIVE));
    numbers
}
