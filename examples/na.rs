//! NA: PACE-VAE on 19,020 neural architectures of the ENAS space, with their weight-sharing accuracies.
//!
//! `cargo xtask reproduce na` runs this. Stages: *train* encoders; *embed* all graphs; fit the surrogates (*gp*,
//! *gp-published*, and the rows *raw* and *untrained* that an encoder has to beat); *reconstruct* the test graphs; *generate*
//! from the prior. A killed run goes on where it was.

use anyhow::Result;
use clap::Parser;
use pace_examples::{
    Gp, PaperRow, Preset, Report, RunArgs, VaeArgs, VaeData, VaePlan, VaeTask, record, report, reproduce,
};
use pace_graph::Dag;
use pace_graph::dataset::Na;
use pace_model::encoder::Task;
use pace_model::objective::VaeConfig;
use pace_search::oracle::embedded_na;
use pace_search::surrogate::{PublishedGpConfig, SparseGpConfig};
use pace_train::record::{Run, RunId};
use pace_train::{FitConfig, OptimiserConfig, Schedule};
use serde_json::json;

const TASK: VaeTask = VaeTask { id: "na", raw_features };
const PAPER: PaperRow = PaperRow { rmse: 0.254, pearson: 0.964, generation: [99.97, 98.16, 57.77, 100.0] };

/// As many architectures as the real data has.
const N_EMBEDDED: usize = 19_020;

/// Trains PACE-VAE on NA and redoes the paper's tables
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    vae: VaeArgs,
}

/// The paper's model with a latent space node by node; training that fits a quarter of an hour on two cores.
fn best() -> VaePlan {
    VaePlan {
        model: VaeConfig::per_node(),
        fit: FitConfig {
            epochs: 30,
            batch_size: 64,
            optimiser: OptimiserConfig::adam(1e-3),
            schedule: Schedule::WarmupCosine { warmup: 200 },
            ..FitConfig::vae()
        },
        encoder_seeds: 2,
        gp: Gp::Sparse(SparseGpConfig { subset: Some(4000), ..SparseGpConfig::default() }),
        gp_seeds: 10,
        published_gp: Gp::Published { config: PublishedGpConfig::default(), n_rows: None },
        published_gp_seeds: 1,
        baseline_gp_seeds: 3,
        reconstruct: (usize::MAX, 100),
        generate: (1000, 10),
        limit: None,
    }
}

/// The paper's model, trained the same way.
fn paper() -> VaePlan {
    VaePlan { model: VaeConfig::paper(), ..best() }
}

/// The authors' model and training, at their 100 epochs.
fn as_published() -> VaePlan {
    VaePlan { model: VaeConfig::as_published(Task::Na), fit: FitConfig::vae(), encoder_seeds: 1, ..paper() }
}

fn smoke(plan: VaePlan) -> VaePlan {
    VaePlan {
        fit: FitConfig { epochs: 2, ..plan.fit },
        gp: Gp::Sparse(SparseGpConfig { n_inducing: 50, max_iterations: 15, ..SparseGpConfig::default() }),
        gp_seeds: 2,
        published_gp: Gp::Published {
            config: PublishedGpConfig { n_inducing: 50, epochs: 5, ..PublishedGpConfig::default() },
            n_rows: None,
        },
        baseline_gp_seeds: 1,
        reconstruct: (100, 10),
        generate: (100, 10),
        limit: Some((2000, 200)),
        ..plan
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let plan = match args.vae.preset {
        Preset::Best => best(),
        Preset::Paper => paper(),
        Preset::AsPublished => as_published(),
    };
    let plan = if args.run.smoke { smoke(plan) } else { plan }.with_args(&args.vae);
    let plan = VaePlan { fit: FitConfig { seed: args.run.seed, ..plan.fit }, ..plan };
    let threads = args.run.init_threads()?;
    let mut data =
        VaeData::load(&args.run, ("na", "final_structures6.txt"), &Na::default(), || Ok(embedded_na(N_EMBEDDED, 0)?))?;
    if let Some((n_train, n_test)) = plan.limit {
        data = data.truncated(n_train, n_test);
    }
    println!("{}", data.note);
    let id = RunId::new("na", &args.vae.encoder, args.run.seed, threads, json!({"plan": plan, "data": data.note}));
    let mut run = Run::start(&args.run.out_dir("na", &args.vae.encoder)?, id)?;
    run.data(data.kind, data.note.clone());
    let outcome = reproduce(&TASK, &plan, &data, &mut run, &args.vae)?;
    record(&outcome, &PAPER, &mut run);
    let mut page = Report::new("PACE-VAE on NA");
    report(&outcome, &run, &mut page)?;
    println!("report: {}", page.finish(run)?.display());
    Ok(())
}

/// One-hot operations (6 x 6) and the 15 skip connections: all that varies in an architecture.
fn raw_features(dag: &Dag) -> Vec<f32> {
    let mut features = Vec::with_capacity(51);
    for layer in 1..=6 {
        features.extend((2..8).map(|op| f32::from(u8::from(dag.op(layer) == op))));
    }
    for layer in 1..=6 {
        features.extend((0..layer - 1).map(|from| f32::from(u8::from(dag.has_edge(from, layer)))));
    }
    features
}
