//! `pace similar`: the nearest graphs.

use std::path::PathBuf;

use anyhow::Result;
use pace_graph::Dag;
use pace_kit::Model;
use pace_report::nearest;
use serde::Serialize;

use crate::source::{self, SourceArgs};
use crate::terminal::{Terminal, columns};

const EXAMPLES: &str = "\
Examples:
  pace similar model graphs.jsonl --of resnet -k 5
  pace similar model graphs.jsonl                     the nearest neighbour of every graph, the closest pairs first
";

/// Find the graphs whose vectors are nearest
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder of a trained model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    source: SourceArgs,
    /// The graph whose neighbours are wanted, by its name or number [default: all graphs, one neighbour each]
    #[arg(long = "of", value_name = "ID")]
    of: Option<String>,
    /// How many neighbours
    #[arg(long, short, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,
}

/// A graph near another one.
#[derive(Debug, Serialize)]
struct Neighbour {
    of: String,
    id: String,
    /// Euclidean, of vectors with columns of spread 1.
    distance: f64,
    score: Option<f64>,
    graph: String,
    nodes: usize,
    edges: usize,
}

/// A graph with more nodes is described by its size where people read.
const MAX_SHOWN: usize = 16;

/// Runs the command.
///
/// # Errors
/// Those of the model and the graphs, or an unknown name.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let model = Model::load(&args.model)?;
    let graphs = source::load(&args.source, Some(model.spec().clone()), terminal)?;
    let vectors = model.vectors(&graphs.dags)?.standardised();
    let neighbour = |of: usize, row: usize, distance: f64| {
        let bare = graphs.spec.strip_ends(&graphs.dags[row]).ok();
        Neighbour {
            of: graphs.ids[of].clone(),
            id: graphs.ids[row].clone(),
            distance,
            score: graphs.targets[row],
            graph: bare.as_ref().map_or_else(String::new, |dag| graphs.spec.format(dag)),
            nodes: bare.as_ref().map_or(0, Dag::n_nodes),
            edges: bare.as_ref().map_or(0, |dag| dag.edges().count()),
        }
    };
    let found: Vec<Neighbour> = match &args.of {
        Some(id) => {
            let of = graphs.position(id)?;
            let near = nearest(&vectors, of, args.k as usize);
            near.into_iter().map(|(row, distance)| neighbour(of, row, distance)).collect()
        }
        None => {
            let mut pairs: Vec<(usize, usize, f64)> = (0..vectors.len())
                .filter_map(|of| nearest(&vectors, of, 1).first().map(|&(row, distance)| (of, row, distance)))
                .collect();
            pairs.sort_by(|a, b| a.2.total_cmp(&b.2));
            pairs.into_iter().map(|(of, row, distance)| neighbour(of, row, distance)).collect()
        }
    };
    terminal.result(&found, || {
        let head = ["graph", "near", "distance", "score", "operations and edges"].map(str::to_owned).to_vec();
        let row = |near: &Neighbour| {
            let score = near.score.map_or_else(String::new, |score| format!("{score:.4}"));
            let graph = match near.nodes {
                0..=MAX_SHOWN => near.graph.clone(),
                n => format!("{n} nodes, {} edges", near.edges),
            };
            vec![near.of.clone(), near.id.clone(), format!("{:.4}", near.distance), score, graph]
        };
        columns(&[head].into_iter().chain(found.iter().map(row)).collect::<Vec<_>>())
    })
}
