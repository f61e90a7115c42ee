//! `pace bn score`: how well a network describes a table.

use std::path::PathBuf;

use anyhow::{Result, bail};
use pace_bn::{ScoreKind, Scorer};
use serde_json::{Map, json};

use super::data::DataArgs;
use super::read_network;
use crate::terminal::{Terminal, columns};

/// Score the structure of a network on a CSV, by every score
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// A network as BIF; only its arcs count
    #[arg(value_name = "NETWORK")]
    network: PathBuf,
    /// The equivalent sample size of BDeu
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    sample_size: f64,
}

/// Runs the command.
///
/// # Errors
/// Those of the data and the network.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let (table, network) = (args.data.read(terminal)?, read_network(&args.network)?);
    if table.names() != network.names() {
        let differs = |own: &[String], other: &[String]| own.iter().find(|name| !other.contains(name)).cloned();
        let data = args.data.name();
        match (differs(network.names(), table.names()), differs(table.names(), network.names())) {
            (Some(name), _) => bail!("{data} has no column '{name}', which is a variable of the network"),
            (_, Some(name)) => {
                bail!("the network has no variable '{name}', which is a column of {data}; --skip leaves it out")
            }
            _ => bail!("the variables of network and data differ"),
        }
    }
    let bdeu = ScoreKind::Bdeu { sample_size: args.sample_size };
    let (mut scores, mut rows) = (Map::new(), vec![["score", "value"].map(str::to_owned).to_vec()]);
    for kind in [ScoreKind::LogLikelihood, ScoreKind::Aic, ScoreKind::Bic, bdeu] {
        let score = Scorer::new(&table, kind)?.structure(network.structure()).nats();
        scores.insert(kind.to_string(), json!(score));
        rows.push(vec![kind.to_string(), format!("{score:.6}")]);
    }
    terminal.result(&scores, || columns(&rows))
}
