//! `pace generate`: new graphs from an autoencoder.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use pace_formats::{Format, GraphFormat};
use pace_graph::{Dag, GraphKey, Named, Vectors};
use pace_kit::model::{Model, device};
use pace_model::decoder::{Choice, DecodeOptions, Mode};
use pace_train::evaluate::decode;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::json;

use crate::file::write_file;
use crate::progress;
use crate::search::{Allow, AllowArg};
use crate::source::{self, HowArgs, SourceArgs};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace generate model -n 1000 --out new.jsonl
  pace generate model -n 20 --near graphs.jsonl --id resnet --out like-resnet.jsonl
";

/// Generate graphs that obey the spec, with a model that was trained with --objective vae
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder of a trained autoencoder
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// How many different graphs
    #[arg(long, short, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Graphs, around one of which is generated; without it, graphs come from the prior
    #[arg(long, value_name = "GRAPHS", requires = "graph")]
    near: Option<PathBuf>,
    /// Which of these: its name, or its number
    #[arg(long = "id", id = "graph", value_name = "ID", requires = "near")]
    graph: Option<String>,
    /// How far from it, in standard deviations of the prior
    #[arg(long, value_name = "X", default_value_t = 0.3)]
    spread: f64,
    /// How daring choices are: 1 is the model's own distribution, towards 0 the likeliest
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    temperature: f64,
    /// A rule that no spec can say: cmd:COMMAND, which is started once and answers yes or no to every line of JSON, or list:FILE
    #[arg(long, value_name = "RULE")]
    allow: Option<AllowArg>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The file for the graphs; its ending says the format
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Graphs decoded at a time.
const ROUND: usize = 1024;
/// Rounds without a new graph before the space counts as exhausted.
const PATIENCE: usize = 5;

/// Runs the command.
///
/// # Errors
/// If the model decodes nothing, or the file cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    if !(args.temperature > 0.0 && args.temperature.is_finite() && args.spread >= 0.0 && args.spread.is_finite()) {
        bail!("--temperature must be above 0, and --spread at least 0");
    }
    let format = Format::of(&args.out);
    let format = format.with_context(|| format!("the ending of {} names no format of graphs", args.out.display()))?;
    let model = Model::load(&args.model)?;
    let Model::Vae(saved, vae) = &model else {
        bail!(
            "{} was trained for {}, which decodes nothing; train with --objective vae",
            args.model.display(),
            model.objective()
        );
    };
    let (wanted, width, device) = (args.n as usize, model.width()?, device()?);
    let centre = args.near.as_ref().zip(args.graph.as_ref()).map(|(path, id)| {
        let source = SourceArgs { path: path.clone(), how: HowArgs::default() };
        let graphs = source::load(&source, Some(saved.spec.clone()), terminal)?;
        let row = graphs.position(id)?;
        anyhow::Ok(model.vectors(&graphs.dags[row..=row])?.row(0).to_vec())
    });
    let centre = centre.transpose()?;
    let allow = Allow::of(args.allow.as_ref(), &HowArgs::default(), &saved.spec, terminal)?;
    let mut rng = ChaCha8Rng::seed_from_u64(args.seed);
    let bar = terminal.bar(progress::steps("generate", wanted));
    let (mut found, mut seen, mut idle, mut drawn) = (Vec::<Dag>::new(), HashSet::new(), 0, 0_u64);
    while found.len() < wanted && idle < PATIENCE {
        let mut number = |column: usize| -> f32 {
            let normal: f64 = StandardNormal.sample(&mut rng);
            match &centre {
                Some(centre) => centre[column] + (args.spread * normal) as f32,
                None => normal as f32,
            }
        };
        let latents = Vectors::new((0..ROUND * width).map(|index| number(index % width)).collect(), width);
        let choice = Choice::Sample { seed: args.seed, temperature: args.temperature };
        let options = DecodeOptions { mode: Mode::Constrained, choice, first: drawn };
        let before = found.len();
        for dag in decode(vae, &latents, &options, &device, |_| {}) {
            // Virtual ends are normalised: as part of the data they were not there.
            let Ok(whole) = saved.spec.strip_ends(&dag).map(|bare| saved.spec.add_ends(&bare)) else { continue };
            let is_new = |seen: &mut HashSet<GraphKey>| seen.insert(GraphKey::of(&whole));
            if found.len() < wanted && saved.spec.is_valid(&whole) && is_new(&mut seen) && allow.allows(&whole) {
                found.push(whole);
            }
        }
        drawn += ROUND as u64;
        idle = if found.len() == before { idle + 1 } else { 0 };
        bar.set_position(found.len() as u64);
    }
    bar.finish_and_clear();
    allow.check()?;
    if found.len() < wanted {
        terminal.warn(format!("after {drawn} decodings there are only {} different graphs", found.len()));
    }
    let named = |dag: &Dag| Named::of(&saved.spec, dag);
    let graphs: Vec<Named> = found.iter().map(named).collect::<Result<_, _>>()?;
    write_file(&args.out, |out| Ok(format.write(&mut graphs.iter(), out)?))?;
    let result = json!({"graphs": graphs.len(), "decoded": drawn, "out": args.out});
    terminal.result(&result, || format!("{} different valid graphs written to {}", graphs.len(), args.out.display()))
}
