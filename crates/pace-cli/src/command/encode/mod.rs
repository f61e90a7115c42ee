//! `pace encode`: graphs to vectors.

mod output;
mod parts;

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use anyhow::{Result, bail};
use pace_graph::Named;
use pace_kit::Model;
use pace_train::collective::Collective;
use serde_json::json;

use crate::source::{self, SourceArgs, shown};
use crate::terminal::Terminal;
use output::{Kind, Piece, Sink};

const EXAMPLES: &str = "\
Examples:
  pace encode model graphs.jsonl --out vectors.npy          numpy.load reads it
  pace encode model graphs.jsonl --out vectors.parquet      with names and scores, for pandas or DuckDB
  pace encode model graphs.jsonl --out - | head -1          JSON lines: {\"id\": \"1\", \"vector\": [...]}
  pace encode model graphs.jsonl --out vectors.npy --parts 64             files vectors-00001-of-00064.npy and so on
  mpirun -n 4 pace encode model graphs.jsonl --out vectors.npy            the same by four processes (built with MPI)

Graphs are read, encoded and written piece by piece: a file may be larger than memory. npy and safetensors say in their head how
many rows follow, so for them the graphs are read twice. In parts, the same command after a kill computes only what is missing.
";

/// Encode graphs: one vector per graph, the same for isomorphic graphs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder of a trained model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    source: SourceArgs,
    /// The file for the vectors: .npy, .safetensors, .parquet, or .jsonl; - for JSON lines on standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Cut a file of JSON lines into this many parts, each with a file of vectors of its own, and an index beside them
    /// [default under MPI: one per 16 MB, at least 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    parts: Option<u32>,
}

/// Graphs that are held at a time ...
const WINDOW: usize = 16_384;
/// ... and nodes: windows of large graphs are smaller.
const WINDOW_NODES: usize = 500_000;

/// Runs the command.
///
/// # Errors
/// Those of the model, the graphs and the file.
pub fn run(args: &Args, ranks: &dyn Collective, terminal: &Terminal) -> Result<()> {
    let model = Model::load(&args.model)?;
    if args.parts.is_some() || ranks.size() > 1 {
        return parts::run(args, &model, ranks, terminal);
    }
    let width = model.width()?;
    let name = shown(&args.source.path);
    let each = |sink: &mut Sink<'_>| {
        let mut windows = Windows::new(&model, &name, 0, sink);
        source::each(&args.source, terminal, |named| windows.push(named))?;
        windows.finish()
    };
    if args.out.as_os_str() == "-" {
        let mut out = BufWriter::new(stdout().lock());
        each(&mut |piece| piece.write_lines(&mut out))?;
        return Ok(out.flush()?);
    }
    let (kind, mut n_graphs) = (Kind::of(&args.out)?, 0);
    if kind.is_counted() {
        if args.source.path.as_os_str() == "-" {
            bail!("that format wants to know how many graphs there are; from standard input write .parquet or .jsonl")
        }
        source::each(&args.source, terminal, |_| {
            n_graphs += 1;
            Ok(())
        })?;
    }
    let mut n_written = 0;
    kind.write(&args.out, (n_graphs, width), |sink| {
        each(&mut |piece| {
            n_written += piece.graphs.len();
            sink(piece)
        })
    })?;
    let result = json!({"graphs": n_written, "width": width, "out": args.out});
    terminal.result(&result, || format!("{n_written} vectors of {width} numbers written to {}", args.out.display()))
}

/// Graphs on their way to vectors: a window at a time.
struct Windows<'a, 's> {
    model: &'a Model,
    /// Where they come from, for messages.
    name: &'a str,
    window: Vec<Named>,
    n_nodes: usize,
    /// Graphs before the window.
    first: usize,
    sink: &'a mut Sink<'s>,
}

impl<'a, 's> Windows<'a, 's> {
    /// `first` graphs come before these.
    fn new(model: &'a Model, name: &'a str, first: usize, sink: &'a mut Sink<'s>) -> Windows<'a, 's> {
        Windows { model, name, window: Vec::new(), n_nodes: 0, first, sink }
    }

    fn push(&mut self, named: Named) -> Result<()> {
        self.n_nodes += named.ops.len();
        self.window.push(named);
        if self.window.len() < WINDOW && self.n_nodes < WINDOW_NODES { Ok(()) } else { self.encode() }
    }

    fn encode(&mut self) -> Result<()> {
        let dags = pace_kit::dags(&self.window, self.model.spec(), self.name, self.first)?;
        let vectors = self.model.vectors(&dags)?;
        (self.sink)(Piece { graphs: &self.window, first: self.first, vectors: vectors.values() })?;
        self.first += self.window.len();
        self.window.clear();
        self.n_nodes = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if self.window.is_empty() { Ok(()) } else { self.encode() }
    }
}
