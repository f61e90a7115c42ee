//! The options that the programs share.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use pace_checkout::data_dir;
use pace_graph::dataset::DataDir;
use pace_model::Attention;
use pace_model::encoder::EncoderConfig;
use pace_model::layers::PositionConfig;
use pace_train::FitConfig;

/// The options of every dataset's program; `cargo xtask reproduce` hands them through.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for the results; a run that was killed goes on from there [default: runs/DATASET-ENCODER-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Throw away what the folder for the results holds and start anew
    #[arg(long)]
    pub fresh: bool,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// All stages on little work, in under a minute
    #[arg(long)]
    pub smoke: bool,
}

impl RunArgs {
    /// The folder for the results, emptied where that was asked for.
    pub fn out_dir(&self, dataset: &str, encoder: &str) -> Result<PathBuf> {
        let smoke = if self.smoke { "-smoke" } else { "" };
        let default = || PathBuf::from(format!("runs/{dataset}-{encoder}-{}{smoke}", self.seed));
        let dir = self.out.clone().unwrap_or_else(default);
        // A smoke run in its own folder takes seconds: nobody wants it to go on from yesterday's.
        if (self.fresh || (self.smoke && self.out.is_none())) && dir.exists() {
            std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
        }
        Ok(dir)
    }

    /// Where the datasets are looked for.
    pub fn data_dir(&self) -> DataDir {
        data_dir(self.data.as_deref())
    }

    /// Sizes rayon's pool; returns how many threads there are.
    pub fn init_threads(&self) -> Result<usize> {
        let threads = self.threads.unwrap_or(0);
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .context("cannot start the worker threads")?;
        Ok(rayon::current_num_threads())
    }
}

/// Which model a VAE program trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// Ours: the paper's model, changed where that helps (the program's page says how)
    Best,
    /// The paper's model
    Paper,
    /// What the authors' code does, quirks included
    AsPublished,
}

/// The options of every encoder and its training.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainArgs {
    /// Ablation: attention without mask
    #[arg(long)]
    pub no_mask: bool,
    /// Ablation: no positional encoding by dag2seq, in decoders neither
    #[arg(long)]
    pub no_dag2seq: bool,
    /// Passes over the graphs
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Graphs per training step
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Learning rate
    #[arg(long, value_name = "X")]
    pub lr: Option<f64>,
    /// Seconds between checkpoints of the training
    #[arg(long, value_name = "X", default_value_t = 20.0)]
    pub save_every: f64,
}

impl TrainArgs {
    /// Applies what the user chose to a training.
    pub fn apply(&self, fit: &mut FitConfig) {
        fit.epochs = self.epochs.unwrap_or(fit.epochs);
        fit.batch_size = self.batch.unwrap_or(fit.batch_size);
        fit.optimiser.lr = self.lr.unwrap_or(fit.optimiser.lr);
    }

    /// Applies the ablations to an encoder.
    ///
    /// # Errors
    /// If one was asked for and the encoder is another than PACE.
    pub fn ablate(&self, encoder: &mut EncoderConfig) -> Result<()> {
        if !self.no_mask && !self.no_dag2seq {
            return Ok(());
        }
        let name = encoder.name();
        let Some(pace) = encoder.as_pace_mut() else {
            bail!("--no-mask and --no-dag2seq are ablations of pace; leave them out with --encoder {name}");
        };
        if self.no_mask {
            pace.attention = Attention::Open;
        }
        if self.no_dag2seq {
            // The index alone: what is left when the GNN over the edges is taken out.
            pace.embedding.position = PositionConfig::Index;
        }
        Ok(())
    }

    /// How often the training is saved.
    pub fn save_every(&self) -> Duration {
        Duration::from_secs_f64(self.save_every.max(0.0))
    }
}

/// What `--encoder` takes: the encoders of pace-model, and what the program adds.
fn encoder_names(more: &[&'static str]) -> clap::builder::PossibleValuesParser {
    EncoderConfig::NAMES.iter().chain(more).copied().collect::<Vec<_>>().into()
}

/// The vector of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReadoutArg {
    /// The output node
    Output,
    /// The mean of the nodes
    Mean,
}

/// Whose search loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Protocol {
    /// Ours: a correct acquisition, nothing asked twice, seeded
    Ours,
    /// The authors', with its slips
    Published,
}

/// What DNGO chooses among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReachArg {
    /// Graphs one edit away from the best so far, and random ones
    Edits,
    /// All graphs
    Space,
}

/// The options of the programs that pre-train by masked language modelling and then search.
#[derive(Clone, Debug, clap::Args)]
pub struct MlmArgs {
    /// The encoder; `untrained` is PACE as initialised
    #[arg(long, value_name = "NAME", default_value = "pace", value_parser = encoder_names(&["untrained"]))]
    pub encoder: String,
    /// Which model
    #[arg(long, value_enum, default_value = "best")]
    pub preset: Preset,
    /// Whose search loop
    #[arg(long, value_enum, default_value = "ours")]
    pub protocol: Protocol,
    /// Searches per method, each from a seed of its own
    #[arg(long, value_name = "N")]
    pub seeds: Option<usize>,
    /// Queries per search
    #[arg(long, value_name = "N")]
    pub queries: Option<usize>,
    /// Only these methods, e.g. `dngo,random` [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Those of the encoder and its training.
    #[command(flatten)]
    pub train: TrainArgs,
    /// What of the node vectors is searched: that of the output node (the paper), or the mean of all
    #[arg(long, value_enum)]
    pub readout: Option<ReadoutArg>,
    /// What DNGO chooses among; the authors' protocol always has all graphs [default: edits for nas101, space for nas301]
    #[arg(long, value_enum)]
    pub reach: Option<ReachArg>,
    /// Of how many nearest neighbours DNGO-LS asks for the most promising; the paper asks for the nearest, 1; with
    /// `--reach edits` it chooses among the graphs one edit away instead
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub neighbourhood: u32,
    /// Networks whose beliefs DNGO averages
    #[arg(long, value_name = "N")]
    pub ensemble: Option<usize>,
}

/// The options of the programs that train a variational autoencoder.
#[derive(Clone, Debug, clap::Args)]
pub struct VaeArgs {
    /// The encoder
    #[arg(long, value_name = "NAME", default_value = "pace", value_parser = encoder_names(&[]))]
    pub encoder: String,
    /// Encoders to train, each from a seed of its own
    #[arg(long, value_name = "N")]
    pub seeds: Option<usize>,
    /// Which model
    #[arg(long, value_enum, default_value = "best")]
    pub preset: Preset,
    /// Those of the encoder and its training.
    #[command(flatten)]
    pub train: TrainArgs,
    /// Width of the latent space
    #[arg(long, value_name = "N")]
    pub latent: Option<usize>,
    /// Weight of the KL divergence
    #[arg(long, value_name = "X")]
    pub beta: Option<f64>,
    /// Dropout
    #[arg(long, value_name = "X")]
    pub dropout: Option<f64>,
    /// Leave the search in the latent space out
    #[arg(long)]
    pub no_search: bool,
    /// Stop after the surrogate scores: no reconstruction, nothing generated, no search
    #[arg(long)]
    pub scores_only: bool,
}
