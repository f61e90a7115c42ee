//! NA: PACE-VAE on 19,020 neural architectures of the ENAS space, with their weight-sharing accuracies.
//!
//! `cargo xtask reproduce na` runs this. Stages: *train* encoders; *embed* all graphs; fit the surrogates (*gp*,
//! *gp-published*, and the rows *raw* and *untrained* that an encoder has to beat); *reconstruct* the test graphs; *generate*
//! from the prior; search the latent space (*bo*). A killed run resumes where it was.

use anyhow::Result;
use clap::Parser;
use pace_graph::dataset::Na;
use pace_graph::enumerate::Enas;
use pace_graph::{Dag, DagSpec};
use pace_model::encoder::Task;
use pace_model::objective::VaeConfig;
use pace_search::oracle::{NaSurrogate, embedded_na};
use pace_search::surrogate::{PublishedGpConfig, SparseGpConfig};
use pace_train::{FitConfig, OptimiserConfig, Schedule};

use crate::args::RunArgs;
use crate::vae::{
    Checked, Gp, Judge, LatentPlan, Learner, PaperRow, Plans, RawFeatures, SearchPlan, Tried, VaeArgs, VaeData,
    VaePlan, VaeProgram,
};

const PROGRAM: VaeProgram = VaeProgram {
    id: "na",
    title: "NA: ENAS architectures",
    raw: RawFeatures { of: raw_features, block: 11 },
    paper: PAPER,
    plans: Plans { best, paper, as_published },
    tried: TRIED,
};
const PAPER: PaperRow = PaperRow {
    rmse: 0.254,
    pearson: 0.964,
    reconstruction: 99.97,
    valid: 98.16,
    unique: 57.77,
    novel: 100.0,
    search: None,
};

/// What was compared on validation graphs, before the test graphs were looked at.
const TRIED: &[Tried] = &[
    Tried { name: "node by node, not below 0, 144 dimensions, beta 0.0005", change: |_| {} },
    Tried { name: "the same, beta 0.00005", change: |plan| plan.model.beta = 0.00005 },
    Tried { name: "the same, beta 0.005", change: |plan| plan.model.beta = 0.005 },
    Tried { name: "the same, 288 dimensions", change: |plan| plan.model.d_latent = 288 },
    Tried { name: "the same, 12 epochs", change: |plan| plan.fit.epochs = 12 },
    Tried { name: "the same, 50 epochs", change: |plan| plan.fit.epochs = 50 },
    Tried { name: "the same, below 0, too", change: |plan| plan.model.positive = false },
    Tried { name: "dense map, 64 dimensions, 64 + 64 wide", change: |plan| plan.model = VaeConfig::paper().any() },
    Tried {
        name: "dense map, 64 dimensions, 32 + 32 wide, beta 0.0005",
        change: |plan| plan.model = VaeConfig { beta: 0.0005, ..VaeConfig::paper().of_width(32) }.any(),
    },
];

/// Six convolutions in a row, no skip connection: what NA has instead of an empty graph.
const PLAIN: &str = "input conv3x3 conv3x3 conv3x3 conv3x3 conv3x3 conv3x3 output : 0>1 1>2 2>3 3>4 4>5 5>6 6>7";
/// As many architectures as the real data has.
const N_EMBEDDED: usize = 19_020;

/// Trains PACE-VAE on NA and reproduces the paper's tables
#[derive(Debug, Parser)]
pub struct Args {
    /// Those of every program.
    #[command(flatten)]
    pub run: RunArgs,
    /// Those of the model.
    #[command(flatten)]
    pub vae: VaeArgs,
}

/// The paper's model with a latent space node by node; training that fits a quarter of an hour on two cores.
fn best() -> VaePlan {
    VaePlan {
        // A tenth of the paper's weight on the KL divergence, chosen on validation graphs (`--tune`).
        model: VaeConfig { beta: 0.0005, ..VaeConfig::per_node() }.any(),
        fit: FitConfig {
            // Longer training reconstructs better but decodes a vector to fewer different graphs.
            epochs: 25,
            batch_size: 64,
            optimiser: OptimiserConfig::adam(1e-3),
            schedule: Schedule::WarmupCosine { warmup: 200 },
            ..FitConfig::vae()
        },
        encoder_seeds: 2,
        gp: Gp::Sparse(SparseGpConfig { subset: Some(4000), ..SparseGpConfig::default() }),
        gp_seeds: 10,
        published_gp: Gp::Published { config: PublishedGpConfig::default(), n_rows: None },
        published_gp_seeds: 10,
        baseline_gp_seeds: 3,
        reconstruct: (usize::MAX, 100),
        generate: (1000, 10),
        search: search(),
        limit: None,
    }
}

/// A search of NA looks for architectures whose learnt accuracy is higher than any known one. There is no optimum to stop at, so
/// every search takes all its queries: fewer of them, and fewer rows and inducing points in the GPs.
fn search() -> SearchPlan {
    let plan = SearchPlan::paper();
    let gp = SparseGpConfig { n_inducing: 150, subset: Some(1000), ..plan.latent.gp };
    let learner = Learner { max_rows: 300, whole: 0.02, ..plan.learner };
    SearchPlan { budget: 200, learner, latent: LatentPlan { gp, ..plan.latent }, ..plan }
}

/// The paper's model, trained the same way.
fn paper() -> VaePlan {
    VaePlan { model: VaeConfig::paper().any(), ..best() }
}

/// The authors' model and training, at their 100 epochs.
fn as_published() -> VaePlan {
    VaePlan { model: VaeConfig::as_published(Task::Na).any(), fit: FitConfig::vae(), encoder_seeds: 1, ..paper() }
}

/// Runs the experiment.
///
/// # Errors
/// Those of its stages.
pub fn run(args: &Args) -> Result<()> {
    let load = |args: &RunArgs| {
        VaeData::load(args, ("na", "final_structures6.txt"), &Na::default(), || Ok(embedded_na(N_EMBEDDED, 0)?))
    };
    // The shared weights behind the published accuracies are lost: the judge has learnt from the table.
    let judge = Judge {
        oracle: Box::new(NaSurrogate::embedded()),
        optimum: None,
        sampler: Box::new(Enas::default()),
        edits: Box::new(Enas::default()),
        empty: DagSpec::na().parse(PLAIN).expect("the plainest architecture is one"),
        name: "learnt accuracy",
    };
    let checked = Checked { judge: Some(judge), ..Checked::default() };
    PROGRAM.run(&args.run, &args.vae, load, |_, _| Ok(checked))
}

/// For each of the 6 layers its operation, one-hot, and its skip connections from up to 5 earlier nodes: all that varies in an
/// architecture. Layers with fewer have zeros there.
fn raw_features(dag: &Dag) -> Vec<f32> {
    let mut features = Vec::with_capacity(66);
    for layer in 1..=6 {
        features.extend((2..8).map(|op| f32::from(u8::from(dag.op(layer) == op))));
        features.extend((0..5).map(|from| f32::from(u8::from(from + 1 < layer && dag.has_edge(from, layer)))));
    }
    features
}
