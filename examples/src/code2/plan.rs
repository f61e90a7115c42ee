//! What is trained, and how.

use anyhow::{Result, bail};
use pace_model::ast::Attends;
use pace_model::encoder::{AstEncoder, AstEncoderConfig, AstReadout};
use pace_model::layers::TreeMessagesConfig;
use pace_model::objective::Supervised;
use pace_train::{FitConfig, OptimiserConfig, Reduction, Schedule};
use serde::Serialize;

use super::Args;

/// An encoder of trees with five heads.
pub type Model = Supervised<AstEncoder>;

/// The options of the model.
#[derive(Clone, Debug, clap::Args)]
pub struct ModelArgs {
    /// Width of the vectors
    #[arg(long, value_name = "D", default_value_t = 256)]
    pub width: usize,
    /// Rounds of messages between neighbours before PACE attends: its GNN; 0 for none
    #[arg(long, value_name = "H", default_value_t = 2)]
    pub gnn: usize,
    /// Whom a node of PACE attends to
    #[arg(long, value_enum, default_value_t = AttendsArg::Descendants)]
    pub attends: AttendsArg,
    /// What PACE reads out: the root as in the paper, or the mean of all nodes
    #[arg(long, value_enum, default_value_t = ReadoutArg::Root)]
    pub readout: ReadoutArg,
    /// Blocks of PACE; 6 in the paper
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub layers: usize,
    /// Dropout
    #[arg(long, value_name = "X", default_value_t = 0.1)]
    pub dropout: f64,
}

/// See [`Attends`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AttendsArg {
    /// Those below it: the root sees all
    Descendants,
    /// Those above it; needs `--readout mean`
    Ancestors,
    /// Both
    Relatives,
}

/// See [`AstReadout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReadoutArg {
    /// The root
    Root,
    /// The mean of all nodes
    Mean,
}

/// How much of what is done.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// The encoder.
    pub encoder: AstEncoderConfig,
    /// Its training; with `minutes` the number of steps is found when it starts.
    pub fit: FitConfig,
    /// The budget, if it is time.
    pub minutes: Option<f64>,
    /// Functions to train on, at most.
    pub functions: usize,
    /// Validation functions that are scored along the way.
    pub n_watched: usize,
}

/// The plan that the options ask for.
///
/// # Errors
/// If options contradict each other.
pub fn plan(args: &Args) -> Result<Plan> {
    let Some(encoder) = AstEncoderConfig::named(&args.encoder) else {
        bail!("no encoder is called {}", args.encoder);
    };
    if !(0.0..1.0).contains(&args.model.dropout) {
        bail!("--dropout {} is not from 0 to below 1", args.model.dropout);
    }
    if args.minutes.is_some_and(|minutes| minutes.is_nan() || minutes <= 0.0) {
        bail!("--minutes wants a time to train");
    }
    let smoke = args.run.smoke;
    let fit = FitConfig {
        seed: args.run.seed,
        epochs: args.epochs.unwrap_or(if smoke { 1 } else { 5 }),
        batch_size: args.batch.unwrap_or(32),
        optimiser: OptimiserConfig::adam(args.lr.unwrap_or(5e-4)),
        schedule: Schedule::WarmupCosine { warmup: if smoke { 5 } else { 100 } },
        clip: Some(1.0),
        reduction: Reduction::Mean,
        ..FitConfig::mlm()
    };
    let functions = match (smoke, args.full) {
        (true, _) => args.functions.min(300),
        (false, true) => usize::MAX,
        (false, false) => args.functions,
    };
    let encoder = configured(encoder.with_width(if smoke { 32 } else { args.model.width }), &args.model)?;
    Ok(Plan { encoder, fit, minutes: args.minutes, functions, n_watched: if smoke { 50 } else { 1000 } })
}

fn configured(mut encoder: AstEncoderConfig, args: &ModelArgs) -> Result<AstEncoderConfig> {
    match &mut encoder {
        AstEncoderConfig::Pace(pace) => {
            (pace.blocks.n_layers, pace.blocks.d_ff, pace.blocks.dropout) = (args.layers, pace.d_model, args.dropout);
            pace.messages = TreeMessagesConfig { height: args.gnn, next_token: true, inverse: true };
            pace.attends = match args.attends {
                AttendsArg::Descendants => Attends::Descendants,
                AttendsArg::Ancestors => Attends::Ancestors,
                AttendsArg::Relatives => Attends::Relatives,
            };
            pace.readout = match args.readout {
                ReadoutArg::Root => AstReadout::Root,
                ReadoutArg::Mean => AstReadout::Mean,
            };
            if (pace.attends, pace.readout) == (Attends::Ancestors, AstReadout::Root) {
                bail!("--attends ancestors leaves the root with nothing to see; add --readout mean");
            }
            if pace.d_model % pace.blocks.n_heads != 0 {
                bail!("--width {} is no multiple of the {} heads", pace.d_model, pace.blocks.n_heads);
            }
        }
        AstEncoderConfig::Dvae(recursion) | AstEncoderConfig::Dagnn(recursion) => recursion.dropout = args.dropout,
        AstEncoderConfig::Bag(bag) => bag.dropout = args.dropout,
    }
    Ok(encoder)
}
