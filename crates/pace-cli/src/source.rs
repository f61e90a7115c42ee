//! Where graphs come from: files of any format, by the spec of a model, of a file, or one that is inferred.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use pace_formats::{Error as FormatError, Format, ReadOptions, Summary, read_path};
use pace_graph::{DagSpec, Named};
use pace_kit::Graphs;

use crate::progress;
use crate::terminal::Terminal;

/// The options about graphs, the same for all commands that read them.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Graphs")]
pub struct SourceArgs {
    /// A file, a folder of files, or - for standard input
    #[arg(value_name = "GRAPHS")]
    pub path: PathBuf,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How graphs are read.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Graphs")]
pub struct HowArgs {
    /// The format [default: by the ending of the name; JSON lines for standard input]
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// The attribute of a node that is its operation [default: the first of op, op_type, operation, type, label, name that all have]
    #[arg(long, value_name = "ATTRIBUTE")]
    pub op: Option<String>,
    /// The field or attribute of a graph that is its score [default: target]
    #[arg(long, value_name = "FIELD")]
    pub target: Option<String>,
    /// The field or attribute of a graph that is its name [default: id or name]
    #[arg(long, value_name = "FIELD")]
    pub id: Option<String>,
    /// Leave out graphs with more nodes
    #[arg(long, value_name = "N")]
    pub max_nodes: Option<usize>,
    /// ONNX: keep initialisers, constants, and what is computed from these alone as nodes
    #[arg(long)]
    pub keep_constants: bool,
    /// ONNX: keep the inputs and outputs of the graph as nodes
    #[arg(long)]
    pub keep_ends: bool,
}

impl HowArgs {
    /// The same for the readers.
    pub fn options(&self) -> ReadOptions {
        let usual = ReadOptions::default();
        ReadOptions {
            op: self.op.clone().or(usual.op),
            target: self.target.clone().unwrap_or(usual.target),
            id: self.id.clone(),
            keep_constants: self.keep_constants,
            keep_ends: self.keep_ends,
        }
    }
}

/// Reads graphs as they are, with names for operations, one after another: never all at once in memory.
///
/// # Errors
/// What is wrong in which file and row, or the sink's.
pub fn each(args: &SourceArgs, terminal: &Terminal, mut sink: impl FnMut(Named) -> Result<()>) -> Result<Summary> {
    let bar = terminal.bar(progress::graphs(format!("read {}", shown(&args.path))));
    let is_input = args.path.as_os_str() == "-";
    let format = args.how.format.or(is_input.then_some(Format::JsonLines));
    let mut progress = |done: pace_graph::dataset::Progress| bar.set_position(done.rows as u64);
    let (most, mut n_large) = (args.how.max_nodes.unwrap_or(usize::MAX), 0);
    let read = read_path(&args.path, format, &args.how.options(), &mut progress, &mut |named| {
        if named.ops.len() > most {
            n_large += 1;
            return Ok(());
        }
        sink(named).map_err(|error| FormatError::Sink(error.into()))
    });
    bar.finish_and_clear();
    let summary = read?;
    if n_large > 0 {
        terminal.say(format!("left out {n_large} of {} graphs, which have more than {most} nodes", summary.rows));
    }
    Ok(summary)
}

/// Reads all graphs, and finds their spec: the given one, that of the file, or one that is inferred. The remarks say which.
///
/// # Errors
/// What is wrong in which row, and what to do.
pub fn load(args: &SourceArgs, spec: Option<DagSpec>, terminal: &Terminal) -> Result<Graphs> {
    let (graphs, remarks) = load_with_remarks(args, spec, terminal)?;
    remarks.iter().for_each(|remark| terminal.say(remark));
    Ok(graphs)
}

/// As [`load`], with the remarks to print.
///
/// # Errors
/// As [`load`].
pub fn load_with_remarks(
    args: &SourceArgs,
    spec: Option<DagSpec>,
    terminal: &Terminal,
) -> Result<(Graphs, Vec<String>)> {
    let mut all = Vec::new();
    let summary = each(args, terminal, |named| {
        all.push(named);
        Ok(())
    })?;
    let source = shown(&args.path);
    if all.is_empty() {
        bail!(
            "{source} holds no graphs, or none of the size that --max-nodes allows; give a file or folder with at least one"
        );
    }
    let (graphs, inferred) = Graphs::of(&source, all, spec.or_else(|| summary.spec.clone()))?;
    let mut remarks = summary.remarks();
    remarks.extend(inferred);
    Ok((graphs, remarks))
}

/// Reads a spec that `inspect --write-spec` wrote and somebody edited.
///
/// # Errors
/// If it cannot be read, or contradicts itself.
pub fn read_spec(path: &Path) -> Result<DagSpec> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let spec: DagSpec = serde_json::from_str(&text).with_context(|| {
        format!("{} is no spec; `pace inspect GRAPHS --write-spec {0}` writes one to edit", path.display())
    })?;
    spec.check().with_context(|| format!("the spec in {}", path.display()))?;
    Ok(spec)
}

/// The name of a source for people.
pub fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
