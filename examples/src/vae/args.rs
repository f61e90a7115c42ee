//! The options of the programs that train a variational autoencoder.

use pace_model::decoder::DecoderConfig;

use crate::args::{Preset, TrainArgs, count, encoder_name, not_negative, probability};

/// The options of the programs that train a variational autoencoder.
#[derive(Clone, Debug, clap::Args)]
pub struct VaeArgs {
    /// The encoder; `all`, or names with commas between, makes a table of them
    #[arg(long, value_name = "NAME", default_value = "pace", value_parser = encoder_name)]
    pub encoder: String,
    /// The decoder [default: the encoder's own if it has one, else D-VAE's]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(DecoderConfig::NAMES))]
    pub decoder: Option<String>,
    /// Encoders to train, with different seeds
    #[arg(long, value_name = "N", value_parser = count)]
    pub seeds: Option<usize>,
    /// Which model
    #[arg(long, value_enum, default_value = "best")]
    pub preset: Preset,
    /// Those of the encoder and its training.
    #[command(flatten)]
    pub train: TrainArgs,
    /// Width of the latent space; with `--preset best` a multiple of the positions of a graph (nodes and start symbol)
    #[arg(long, value_name = "N", value_parser = count)]
    pub latent: Option<usize>,
    /// Weight of the KL divergence
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pub beta: Option<f64>,
    /// Dropout
    #[arg(long, value_name = "X", value_parser = probability)]
    pub dropout: Option<f64>,
    /// Compare settings instead: each is trained on nine tenths of the training graphs and scored on the others; the test graphs
    /// are not looked at. Writes a table of what was tried
    #[arg(long)]
    pub tune: bool,
    /// With `--tune`: only the settings whose name contains this, e.g. "dense"
    #[arg(long, value_name = "TEXT", requires = "tune", default_value = "")]
    pub only: String,
    /// Train on the first N training graphs only
    #[arg(long, value_name = "N", value_parser = count)]
    pub graphs: Option<usize>,
    /// Only what a table of encoders shows: one encoder, fewer fits of the surrogates and fewer decodings, no search
    #[arg(long)]
    pub row: bool,
    /// Leave out the searches
    #[arg(long)]
    pub no_search: bool,
    /// Stop after the surrogate scores: no reconstruction, nothing generated, no search
    #[arg(long)]
    pub scores_only: bool,
}
