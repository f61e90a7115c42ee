//! `pace encode`: graphs to vectors.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use anyhow::{Result, bail};
use pace_formats::ParquetFile;
use pace_graph::Named;
use pace_kit::Model;
use pace_train::embed::MatrixFile;
use serde_json::json;

use crate::file::write_file;
use crate::source::{self, SourceArgs, shown};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace encode model graphs.jsonl --out vectors.npy          numpy.load reads it
  pace encode model graphs.jsonl --out vectors.parquet      with names and scores, for pandas or DuckDB
  pace encode model graphs.jsonl --out - | head -1          JSON lines: {\"id\": \"1\", \"vector\": [...]}

Graphs are read, encoded and written piece by piece: a file may be larger than memory. npy and safetensors say in their head how
many rows follow, so for them the graphs are read twice.
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
}

/// Graphs that are held at a time ...
const WINDOW: usize = 16_384;
/// ... and nodes: windows of large graphs are smaller.
const WINDOW_NODES: usize = 500_000;

/// Some graphs with their names and vectors.
struct Piece<'a> {
    graphs: &'a [Named],
    /// Graphs before these.
    first: usize,
    vectors: &'a [f32],
}

impl Piece<'_> {
    fn ids(&self) -> impl Iterator<Item = String> {
        let number = |row: usize| (self.first + row + 1).to_string();
        self.graphs.iter().enumerate().map(move |(row, named)| named.id.clone().unwrap_or_else(|| number(row)))
    }

    fn write_lines(&self, out: &mut dyn Write) -> Result<()> {
        let width = self.vectors.len() / self.graphs.len();
        for ((id, named), vector) in self.ids().zip(self.graphs).zip(self.vectors.chunks(width)) {
            let line = match named.target {
                Some(target) => json!({"id": id, "target": target, "vector": vector}),
                None => json!({"id": id, "vector": vector}),
            };
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
/// Those of the model, the graphs and the file.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let model = Model::load(&args.model)?;
    let width = model.width()?;
    if args.out.as_os_str() == "-" {
        let mut out = BufWriter::new(stdout().lock());
        each(&model, args, terminal, |piece| piece.write_lines(&mut out))?;
        return Ok(out.flush()?);
    }
    let ending = args.out.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let mut n_graphs = 0;
    match ending.as_str() {
        "npy" | "safetensors" if args.source.path.as_os_str() == "-" => {
            bail!("{ending} wants to know how many graphs there are; from standard input write .parquet or .jsonl")
        }
        "npy" | "safetensors" => {
            source::each(&args.source, terminal, |_| {
                n_graphs += 1;
                Ok(())
            })?;
            write_file(&args.out, |out| {
                let mut matrix = match ending.as_str() {
                    "npy" => MatrixFile::npy(out, n_graphs, width)?,
                    _ => MatrixFile::safetensors(out, "embeddings", n_graphs, width)?,
                };
                each(&model, args, terminal, |piece| Ok(matrix.write(piece.vectors)?))?;
                Ok(matrix.finish().map(drop)?)
            })?;
        }
        "parquet" => write_file(&args.out, |out| {
            let mut parquet = ParquetFile::new(out)?;
            each(&model, args, terminal, |piece| {
                n_graphs += piece.graphs.len();
                for ((id, named), vector) in piece.ids().zip(piece.graphs).zip(piece.vectors.chunks(width)) {
                    parquet.write(&id, named.target, vector)?;
                }
                Ok(())
            })?;
            Ok(parquet.finish().map(drop)?)
        })?,
        "jsonl" => write_file(&args.out, |out| {
            each(&model, args, terminal, |piece| {
                n_graphs += piece.graphs.len();
                piece.write_lines(out)
            })
        })?,
        _ => bail!("the ending of {} is none of .npy, .safetensors, .parquet and .jsonl", args.out.display()),
    }
    let result = json!({"graphs": n_graphs, "width": width, "out": args.out});
    terminal.result(&result, || format!("{n_graphs} vectors of {width} numbers written to {}", args.out.display()))
}

/// Encodes the graphs window by window.
fn each(model: &Model, args: &Args, terminal: &Terminal, mut sink: impl FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
    let name = shown(&args.source.path);
    let (mut window, mut n_nodes, mut first) = (Vec::new(), 0, 0);
    let mut encode = |window: &mut Vec<Named>| -> Result<()> {
        let dags = pace_kit::dags(window, model.spec(), &name, first)?;
        let vectors = model.vectors(&dags)?;
        sink(Piece { graphs: window, first, vectors: vectors.values() })?;
        first += window.len();
        window.clear();
        Ok(())
    };
    source::each(&args.source, terminal, |named| {
        n_nodes += named.ops.len();
        window.push(named);
        if window.len() < WINDOW && n_nodes < WINDOW_NODES {
            return Ok(());
        }
        n_nodes = 0;
        encode(&mut window)
    })?;
    if window.is_empty() { Ok(()) } else { encode(&mut window) }
}
