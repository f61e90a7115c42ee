//! `pace convert`: graphs from one format to another.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use pace_formats::{Format, GraphFormat};

use crate::file::write_file;
use crate::source::{self, SourceArgs};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace convert models/ graphs.jsonl                  a folder of ONNX models to JSON lines
  pace convert graphs.graphml - --to dot | dot -Tsvg
  pace convert net.bif net.json --to node-link       a Bayesian network to networkx
";

/// Convert graphs from one format to another
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The file to write; - for standard output
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The format to write [default: by the ending of the name]
    #[arg(long, value_name = "NAME")]
    to: Option<Format>,
}

/// Runs the command.
///
/// # Errors
/// What is wrong in which file and row, or a file that cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let format = args.to.or_else(|| Format::of(&args.out));
    let format = format.with_context(|| {
        format!(
            "the ending of {} names no format; say with --to which: {}",
            args.out.display(),
            Format::NAMES.join(", ")
        )
    })?;
    if !format.is_written() {
        bail!("graphs cannot be written as {format}; choose another format with --to");
    }
    let mut n_written = 0;
    let mut convert = |out: &mut dyn Write| -> Result<()> {
        // The others have a beginning and an end around all graphs, or hold only one.
        let streams = matches!(format, Format::JsonLines | Format::Dot);
        let mut held = Vec::new();
        source::each(&args.source, terminal, |named| {
            n_written += 1;
            match streams {
                true => Ok(format.write(&mut std::iter::once(&named), out)?),
                false => {
                    held.push(named);
                    Ok(())
                }
            }
        })?;
        if streams { Ok(()) } else { Ok(format.write(&mut held.iter(), out)?) }
    };
    if args.out.as_os_str() == "-" {
        let mut out = BufWriter::new(stdout().lock());
        convert(&mut out)?;
        out.flush()?;
        return Ok(());
    }
    write_file(&args.out, |out| convert(out))?;
    terminal.result(&serde_json::json!({"graphs": n_written, "out": args.out}), || {
        format!("{n_written} graphs written to {}", args.out.display())
    })
}
