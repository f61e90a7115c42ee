//! The options that the programs share.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Result, bail};
use pace_checkout::data_dir;
use pace_graph::dataset::DataDir;
use pace_model::Attention;
use pace_model::encoder::EncoderConfig;
use pace_model::layers::{NodeLabel, PositionConfig};
use pace_train::FitConfig;
use pace_train::record::{Run, RunId};
use serde_json::Value;

use crate::table::is_list;

/// The encoder as initialised: the row that says what pre-training is worth.
pub(crate) const UNTRAINED: &str = "untrained";

/// The options of every dataset's program; `cargo xtask reproduce` passes them on.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for the results; a killed run resumes from there [default: runs/DATASET-ENCODER-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Delete what the folder for the results holds and start anew
    #[arg(long)]
    pub fresh: bool,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Rows of a table of encoders that run at the same time; with --threads 1 and a job per core a table takes about half as long
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    pub jobs: usize,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// All stages on little work, in under a minute
    #[arg(long)]
    pub smoke: bool,
}

impl RunArgs {
    /// The folder for the results, emptied if that was asked for.
    pub(crate) fn out_dir(&self, dataset: &str, encoder: &str) -> Result<PathBuf> {
        let smoke = if self.smoke { "-smoke" } else { "" };
        let default = || PathBuf::from(format!("runs/{dataset}-{encoder}-{}{smoke}", self.seed));
        let dir = self.out.clone().unwrap_or_else(default);
        // A smoke run in its own folder takes seconds: nobody wants it to resume yesterday's.
        if self.fresh || (self.smoke && self.out.is_none()) {
            Run::clear(&dir)?;
        }
        Ok(dir)
    }

    /// Where the datasets are looked for.
    pub fn data_dir(&self) -> DataDir {
        data_dir(self.data.as_deref())
    }

    /// A pool of as many worker threads as were asked for. A binary makes it the global one.
    pub fn thread_pool(&self) -> rayon::ThreadPoolBuilder {
        rayon::ThreadPoolBuilder::new().num_threads(self.threads.unwrap_or(0))
    }

    /// Opens the folder for the results, or resumes the run it holds.
    ///
    /// # Errors
    /// If the folder cannot be written, or holds another run.
    pub fn start(&self, dataset: &str, encoder: &str, config: Value) -> Result<Run> {
        let id = RunId::new(dataset, encoder, self.seed, rayon::current_num_threads(), config);
        Ok(Run::start(&self.out_dir(dataset, encoder)?, id)?)
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
    /// Leave out what an encoder is compared with: raw features, the untrained encoder, the authors' surrogate, other searches. A
    /// table of encoders needs them once
    #[arg(long)]
    pub no_controls: bool,
    /// Ablation: attention without mask
    #[arg(long)]
    pub no_mask: bool,
    /// Ablation: no positional encoding by dag2seq, neither in encoders nor in decoders
    #[arg(long)]
    pub no_dag2seq: bool,
    /// What PACE embeds a node by: `op`, or `rooted:H`, the subgraph up to H hops around it (the paper's last appendix)
    #[arg(long, value_name = "LABEL", value_parser = node_label)]
    pub label: Option<NodeLabel>,
    /// Passes over the graphs; of several the last counts, so that a row of a table may have its own
    #[arg(long, value_name = "N", overrides_with = "epochs")]
    pub epochs: Option<usize>,
    /// Graphs per training step
    #[arg(long, value_name = "N", value_parser = count)]
    pub batch: Option<usize>,
    /// Learning rate
    #[arg(long, value_name = "X", value_parser = positive)]
    pub lr: Option<f64>,
    /// Seconds between checkpoints of the training
    #[arg(long, value_name = "X", default_value_t = 20.0, value_parser = seconds)]
    pub save_every: f64,
}

impl TrainArgs {
    /// Puts what the user chose into a training.
    pub fn apply(&self, fit: &mut FitConfig) {
        fit.epochs = self.epochs.unwrap_or(fit.epochs);
        fit.batch_size = self.batch.unwrap_or(fit.batch_size);
        fit.optimiser.lr = self.lr.unwrap_or(fit.optimiser.lr);
    }

    /// Applies the ablations and the label of nodes to an encoder.
    ///
    /// # Errors
    /// If one was asked for and the encoder is not PACE.
    pub fn ablate(&self, encoder: &mut EncoderConfig) -> Result<()> {
        if !self.no_mask && !self.no_dag2seq && self.label.is_none() {
            return Ok(());
        }
        let name = encoder.name();
        let Some(pace) = encoder.as_pace_mut() else {
            bail!("--no-mask, --no-dag2seq and --label are options of pace; leave them out with --encoder {name}");
        };
        pace.node_label = self.label.unwrap_or(pace.node_label);
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
        Duration::from_secs_f64(self.save_every)
    }
}

/// What `--encoder` takes: an encoder of pace-model, `untrained`, or rows of a table, which are checked when it is made.
pub(crate) fn encoder_name(text: &str) -> Result<String, String> {
    let names = EncoderConfig::NAMES;
    if is_list(text) || text == UNTRAINED || names.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("there are {}; all of them for a table, or some with commas between", names.join(", ")))
}

/// Parses an option and refuses what lies outside its range, in words.
fn within<T: FromStr>(text: &str, is_fine: impl Fn(&T) -> bool, range: &str) -> Result<T, String> {
    text.parse().ok().filter(is_fine).ok_or_else(|| format!("it must be {range}"))
}

/// What a node is embedded by.
fn node_label(text: &str) -> Result<NodeLabel, String> {
    match text.split_once(':') {
        None if text == "op" => Ok(NodeLabel::Op),
        // A graph of 16 nodes is inside 15 hops.
        Some(("rooted", height)) => within(height, |h| (0..=15).contains(h), "rooted:H with H from 0 to 15")
            .map(|height| NodeLabel::Rooted { height }),
        _ => Err("it must be op, or rooted:H, e.g. rooted:1".to_owned()),
    }
}

/// A number of things, at least 1.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    within(text, |&n| n > 0, "a whole number from 1 on")
}

/// A number of threads. A machine has no use for more, and the system refuses far more without saying why.
fn threads(text: &str) -> Result<usize, String> {
    within(text, |n| (1..=1024).contains(n), "a whole number from 1 to 1024")
}

/// A probability that is not certainty.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    within(text, |p| (0.0..1.0).contains(p), "from 0 to below 1")
}

/// A finite number that is not negative.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    within(text, |x: &f64| x.is_finite() && *x >= 0.0, "a number from 0 on")
}

/// A finite number above 0.
fn positive(text: &str) -> Result<f64, String> {
    within(text, |x: &f64| x.is_finite() && *x > 0.0, "a number above 0")
}

/// A time; a year is as good as never.
fn seconds(text: &str) -> Result<f64, String> {
    within(text, |x| (0.0..=31_557_600.0).contains(x), "from 0 to 31557600 seconds, which is a year")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_refused_in_words() {
        assert_eq!((count("1"), threads("2"), probability("0.9")), (Ok(1), Ok(2), Ok(0.9)));
        assert_eq!((not_negative("0"), positive("1e-4"), seconds("0")), (Ok(0.0), Ok(1e-4), Ok(0.0)));
        for text in ["0", "-1", "x", "1.5"] {
            assert!(count(text).is_err() && threads(text).is_err(), "{text}");
        }
        for text in ["1", "-0.1", "nan", "inf", ""] {
            assert_eq!(probability(text), Err("it must be from 0 to below 1".to_owned()), "{text}");
        }
        for text in ["inf", "nan", "-1", "1e300"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert!(not_negative("inf").is_err() && positive("0").is_err() && positive("nan").is_err());
        assert!(threads("99999999").is_err());
        assert_eq!(node_label("rooted:2"), Ok(NodeLabel::Rooted { height: 2 }));
        assert_eq!(node_label("op"), Ok(NodeLabel::Op));
        for text in ["rooted", "rooted:", "rooted:-1", "rooted:99", "ops"] {
            assert!(node_label(text).is_err(), "{text}");
        }
    }
}
