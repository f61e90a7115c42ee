//! `pace bn learn`: from a table to a network.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use pace_bn::{
    BootstrapConfig, ClimbConfig, ExactConfig, JsonNetwork, LearnConfig, Limits, Method, NearConfig, OrderConfig,
    ScoreKind, Summary, learn, write_bif, write_dot, write_graphml,
};
use pace_graph::disk::write_whole;
use serde_json::json;

use super::data::DataArgs;
use super::page;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace bn learn asia.csv --out asia
  pace bn learn data.csv --score bdeu:10 --max-parents 2 --out network
  pace bn learn data.csv --bootstrap 100 --out network            how sure each arc is
  pace bn learn wide.csv --method orders --minutes 5 --out network
  pace bn learn measured.csv --bins 4 --drop-missing --out network

The folder gets network.bif (with probabilities), network.json, network.dot, network.graphml, summary.json and report.html. The result does
not depend on the order of rows or columns.
";

/// Learn a network from a CSV
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// The folder for the network
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What a good network is: bic, aic, loglik, bdeu, or bdeu with its equivalent sample size, such as bdeu:10
    #[arg(long, value_name = "SCORE", default_value = "bic")]
    score: ScoreKind,
    /// The most parents of a variable; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_parents: usize,
    /// How to search
    #[arg(long, value_enum, default_value = "exact")]
    method: MethodArg,
    /// End the search after so many minutes, with the best network so far and a bound on how much better another can be
    #[arg(long, value_name = "X", default_value_t = 5.0)]
    minutes: f64,
    /// How sure each arc is, by so many samples of the rows
    #[arg(long, value_name = "N")]
    bootstrap: Option<usize>,
    /// Count every combination this often more than it occurs, for the probabilities
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pseudo_count: f64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// How to search.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MethodArg {
    /// The best network of all within the limit of parents: proven in seconds for some twenty variables, beyond that with a bound
    Exact,
    /// Tabu search, then orders of the variables: hundreds of variables, no proof
    Orders,
    /// Tabu search on arcs
    Tabu,
    /// Hill climbing on arcs
    Climb,
}

impl Args {
    fn config(&self) -> LearnConfig {
        let seed = self.seed;
        let tabu = ClimbConfig { seed, ..ClimbConfig::tabu() };
        let orders = OrderConfig { seed, ..OrderConfig::default() };
        let method = match self.method {
            MethodArg::Exact => Method::Exact(ExactConfig { start: orders, ..ExactConfig::default() }),
            MethodArg::Orders => {
                let near = NearConfig::default();
                let orders = OrderConfig { seed, ..near.orders.clone() };
                Method::Orders { climb: tabu, near: NearConfig { orders, ..near } }
            }
            MethodArg::Tabu => Method::Climb(tabu),
            MethodArg::Climb => Method::Climb(ClimbConfig { seed, ..ClimbConfig::default() }),
        };
        let bootstrap =
            self.bootstrap.map(|replicates| BootstrapConfig { replicates, seed, ..BootstrapConfig::default() });
        let max_parents = (self.max_parents > 0).then_some(self.max_parents);
        LearnConfig { score: self.score, max_parents, method, pseudo_count: self.pseudo_count, bootstrap }
    }
}

/// Runs the command.
///
/// # Errors
/// Those of the data and of the search, or a file that cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    if !(args.minutes > 0.0 && args.minutes < 1e6) {
        bail!("--minutes must be a number above 0 and below a million");
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let table = args.data.read(terminal)?;
    let (config, start) = (args.config(), Instant::now());
    let deadline = start + Duration::from_secs_f64(60.0 * args.minutes);
    let is_late = || Instant::now() >= deadline;
    let bar = terminal.bar(ProgressBar::new_spinner().with_message("searching"));
    bar.enable_steady_tick(Duration::from_millis(200));
    let learnt = learn(&table, &config, &Limits { max_structures: None, stop: Some(&is_late) });
    bar.finish_and_clear();
    let (learnt, seconds) = (learnt?, start.elapsed().as_secs_f64());
    let summary = Summary::of(&table, &config, &learnt);
    let (network, strengths) = (&learnt.network, learnt.strengths.as_ref());
    let html = page::of(&args.data.name(), &summary, network, strengths, seconds)?;
    for (name, text) in [
        ("network.bif", write_bif(network)),
        ("network.json", JsonNetwork::of(network, strengths).to_text()?),
        ("network.dot", write_dot(network.names(), network.structure(), strengths)),
        ("network.graphml", write_graphml(network.names(), network.structure(), strengths)),
        ("summary.json", serde_json::to_string_pretty(&summary)? + "\n"),
        ("report.html", html),
    ] {
        let path = args.out.join(name);
        write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let result = json!({"out": args.out, "seconds": seconds, "summary": summary});
    terminal.result(&result, || {
        let proof = match summary.upper_bound {
            Some(_) if summary.is_proven => ", which no other network exceeds".to_owned(),
            Some(bound) => format!("; no other exceeds {bound:.4}"),
            None => String::new(),
        };
        let (score, arcs, out) = (summary.score, summary.arcs, args.out.display());
        format!("{}: {score:.4}{proof}\n{arcs} arcs, {seconds:.1} s\nnetwork: {out}", summary.score_name)
    })
}
