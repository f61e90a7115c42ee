//! `pace train`: a model from your graphs.

use std::path::PathBuf;

use anyhow::Result;
use pace_kit::model::{Lesson, Objective, PlanArgs, train_in};
use pace_train::collective::Collective;
use serde_json::json;

use crate::page;
use crate::progress::Bar;
use crate::source::{self, SourceArgs, read_spec};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace train graphs.jsonl --out model                                     vectors, without scores
  pace train graphs.jsonl --objective vae --out model                     vectors that can be decoded
  pace train graphs.jsonl --objective supervised --target accuracy --out model
  pace train graphs.jsonl --encoder dagnn --out dagnn                     another encoder
  mpirun -n 4 pace train graphs.jsonl --out model                         four processes together (built with MPI)

A killed training resumes with the same command.
";

/// Train an encoder on graphs; the model is one folder that every other command takes
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The folder of the model; a killed training resumes from there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A spec for the graphs, as `inspect --write-spec` writes it [default: inferred]
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Delete what the folder holds and start anew
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    plan: PlanArgs,
}

/// Beyond this many nodes attention over all pairs of nodes takes most of the time and memory.
const MANY_NODES: usize = 500;

/// Shards of a training by several processes, if nobody says how many: the same for up to eight processes, so that another number
/// of them may resume it.
fn shards(ranks: &dyn Collective) -> Option<u32> {
    (ranks.size() > 1).then_some(8.max(u32::try_from(ranks.size()).unwrap_or(u32::MAX)))
}

/// Runs the command.
///
/// # Errors
/// Those of the data and of the training.
pub fn run(args: &Args, ranks: &dyn Collective, terminal: &Terminal) -> Result<()> {
    let plan = PlanArgs { shards: args.plan.shards.or_else(|| shards(ranks)), ..args.plan.clone() };
    let spec = args.spec.as_deref().map(read_spec).transpose()?;
    let graphs = source::load(&args.source, spec, terminal)?;
    if graphs.spec.max_nodes > MANY_NODES {
        terminal.warn(format!(
            "graphs of {} nodes: memory and time of a step grow with the square of that; a small --batch takes less memory",
            graphs.spec.max_nodes
        ));
    }
    let is_supervised = args.plan.objective == Objective::Supervised;
    let (rows, scores) = match is_supervised {
        true => graphs.scored_at_least(10)?,
        false => ((0..graphs.dags.len()).collect(), Vec::new()),
    };
    if rows.len() < graphs.dags.len() {
        terminal.say(format!("{} graphs have no score and are left out", graphs.dags.len() - rows.len()));
    }
    let dags: Vec<_> = rows.iter().map(|&row| graphs.dags[row].clone()).collect();
    let lesson = Lesson {
        source: &graphs.source,
        spec: &graphs.spec,
        dags: &dags,
        scores: &scores,
        target: args.source.how.target.as_deref().unwrap_or("target"),
    };
    let mut bar = Bar::new(terminal);
    if ranks.rank() > 0 {
        // Its own copy of the run is of no use to anyone.
        let scratch = std::env::temp_dir().join(format!("pace-rank-{}-{}", ranks.rank(), std::process::id()));
        let trained = train_in(&scratch, &plan, lesson, true, ranks, &mut bar);
        let _ = std::fs::remove_dir_all(&scratch);
        return trained.map(drop);
    }
    let (trained, metrics) = train_in(&args.out, &plan, lesson, args.fresh, ranks, &mut bar)?;
    let result = json!({
        "model": args.out, "objective": trained.objective(), "encoder": args.plan.encoder, "graphs": dags.len(),
        "metrics": metrics,
    });
    page::write(&args.out)?;
    terminal.result(&result, || format!("model: {}", args.out.display()))
}
