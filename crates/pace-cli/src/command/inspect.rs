//! `pace inspect`: what is in a file of graphs.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use pace_graph::disk::write_whole;
use pace_graph::{Dag, DagSpec, GraphKey, infer, mean_std};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use crate::source::{self, SourceArgs, read_spec};
use crate::terminal::{Terminal, columns};

const EXAMPLES: &str = "\
Examples:
  pace inspect graphs.jsonl
  pace inspect models/ --format onnx --write-spec spec.json    a spec to edit and give to other commands
  pace inspect new.jsonl --spec spec.json                      which graphs break it, and why
";

/// Say what is in a file of graphs: sizes, operations, duplicates, scores, and a spec
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Check the graphs against this spec instead of inferring one
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Write the spec to this file, to be edited and given to other commands
    #[arg(long, value_name = "FILE")]
    write_spec: Option<PathBuf>,
}

/// Everything that is said.
#[derive(Debug, Serialize)]
struct Summary {
    graphs: usize,
    /// How many break the spec, and the first reasons.
    invalid: usize,
    reasons: Vec<String>,
    nodes: Range,
    edges: Range,
    depth: Range,
    /// Classes of isomorphic graphs.
    different: usize,
    /// The largest classes: the graphs that are the same, by name.
    same: Vec<Vec<String>>,
    operations: BTreeMap<String, usize>,
    scores: Option<Scores>,
    remarks: Vec<String>,
    spec: DagSpec,
}

#[derive(Debug, Serialize)]
struct Range {
    min: usize,
    median: usize,
    max: usize,
}

#[derive(Debug, Serialize)]
struct Scores {
    graphs: usize,
    mean: f64,
    std: f64,
    min: f64,
    max: f64,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read, and what is wrong with it.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let mut all = Vec::new();
    let read = source::each(&args.source, terminal, |named| {
        all.push(named);
        Ok(())
    })?;
    let name = source::shown(&args.source.path);
    if all.is_empty() {
        bail!("{name} holds no graphs; give a file or folder with at least one");
    }
    let given = args.spec.as_deref().map(read_spec).transpose()?.or_else(|| read.spec.clone());
    let mut remarks = read.remarks();
    let spec = match given {
        Some(spec) => spec,
        None => {
            let inferred = infer(&name, &all)?;
            remarks.extend(inferred.remarks);
            inferred.spec
        }
    };
    let checked: Vec<_> = all.par_iter().map(|named| named.dag(&spec)).collect();
    let mut reasons = Vec::new();
    let mut kept: Vec<(usize, Dag)> = Vec::with_capacity(checked.len());
    for (row, dag) in checked.into_iter().enumerate() {
        match dag {
            Ok(dag) => kept.push((row, dag)),
            Err(error) => reasons.push(error.at(&name, row + 1).to_string()),
        }
    }
    let label = |row: usize| all[row].id.clone().unwrap_or_else(|| (row + 1).to_string());
    let mut classes: HashMap<GraphKey, Vec<usize>> = HashMap::new();
    let keys: Vec<GraphKey> = kept.par_iter().map(|(_, dag)| GraphKey::of(dag)).collect();
    kept.iter().zip(keys).for_each(|((row, _), key)| classes.entry(key).or_default().push(*row));
    let mut repeated: Vec<&Vec<usize>> = classes.values().filter(|rows| rows.len() > 1).collect();
    repeated.sort_by_key(|rows| (std::cmp::Reverse(rows.len()), rows[0]));
    let mut operations: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().flat_map(|named| &named.ops).for_each(|op| *operations.entry(op.clone()).or_default() += 1);
    let scores: Vec<f64> = all.iter().filter_map(|named| named.target).collect();
    let summary = Summary {
        graphs: all.len(),
        invalid: reasons.len(),
        reasons: reasons.into_iter().take(5).collect(),
        nodes: range(all.iter().map(|named| named.ops.len())),
        edges: range(all.iter().map(|named| named.edges.len())),
        depth: range(kept.iter().map(|(_, dag)| depth(dag) - spec.added.count().min(depth(dag)))),
        different: classes.len(),
        same: repeated.iter().take(5).map(|rows| rows.iter().take(8).map(|&row| label(row)).collect()).collect(),
        operations,
        scores: (!scores.is_empty()).then(|| of_scores(&scores)),
        remarks,
        spec,
    };
    if let Some(path) = &args.write_spec {
        let text = serde_json::to_string_pretty(&summary.spec)?;
        write_whole(path, format!("{text}\n").as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        terminal.say(format!("spec written to {}", path.display()));
    }
    terminal.result(&summary, || summary.text(&name))?;
    if args.spec.is_some() && summary.invalid > 0 {
        bail!("{} of {} graphs break the spec", summary.invalid, summary.graphs);
    }
    Ok(())
}

impl Summary {
    fn text(&self, name: &str) -> String {
        let mut text = format!("{name}: {} graphs, {} different ones\n\n", self.graphs, self.different);
        let row = |what: &str, range: &Range| {
            [what.to_owned(), range.min.to_string(), range.median.to_string(), range.max.to_string()].to_vec()
        };
        let head = ["", "least", "median", "most"].map(str::to_owned).to_vec();
        text += &columns(&[head, row("nodes", &self.nodes), row("edges", &self.edges), row("depth", &self.depth)]);
        let mut ops: Vec<(&String, &usize)> = self.operations.iter().collect();
        ops.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
        let total: usize = self.operations.values().sum();
        let shown = ops.iter().take(20).map(|(name, count)| {
            vec![(*name).clone(), count.to_string(), format!("{:.1} %", 100.0 * **count as f64 / total.max(1) as f64)]
        });
        text += "\noperations\n";
        text += &columns(&shown.collect::<Vec<_>>());
        if ops.len() > 20 {
            text += &format!("... and {} more\n", ops.len() - 20);
        }
        match &self.scores {
            Some(scores) => {
                text += &format!(
                    "\nscores: {} graphs, {:.6} to {:.6}, mean {:.6}, standard deviation {:.6}\n",
                    scores.graphs, scores.min, scores.max, scores.mean, scores.std
                );
            }
            None => text += "\nno graph has a score; say with --target which field is one\n",
        }
        for same in &self.same {
            text += &format!("the same graph: {}\n", same.join(", "));
        }
        if self.invalid > 0 {
            text += &format!("\n{} graphs break the spec, such as\n", self.invalid);
            self.reasons.iter().for_each(|reason| text += &format!("  {reason}\n"));
        }
        text += "\nspec\n";
        self.remarks.iter().for_each(|remark| text += &format!("  {remark}\n"));
        text += "  --write-spec FILE writes it, to be edited and given to other commands with --spec\n";
        text
    }
}

fn range(numbers: impl Iterator<Item = usize>) -> Range {
    let mut all: Vec<usize> = numbers.collect();
    all.sort_unstable();
    let at = |index: usize| all.get(index).copied().unwrap_or(0);
    Range { min: at(0), median: at(all.len() / 2), max: at(all.len().saturating_sub(1)) }
}

fn of_scores(scores: &[f64]) -> Scores {
    let (mean, std) = mean_std(scores.iter().copied());
    let (min, max) = scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &x| (min.min(x), max.max(x)));
    Scores { graphs: scores.len(), mean, std, min, max }
}

/// Edges of the longest path.
fn depth(dag: &Dag) -> usize {
    pace_graph::structure::depths(dag).into_iter().max().unwrap_or(0)
}
