//! `pace predict`: do vectors predict scores, better than what costs nothing?

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use pace_graph::Vectors;
use pace_kit::Model;
use pace_kit::features::{plain, plain_name, properties};
use pace_kit::predict::{Folds, Gp, Method, Named, Quality, Tuned, validate};
use serde::Serialize;
use serde_json::json;

use crate::file::write_file;
use crate::progress;
use crate::source::{self, SourceArgs, read_spec};
use crate::terminal::{Terminal, columns};

const EXAMPLES: &str = "\
Examples:
  pace predict graphs.jsonl                                   plain features only: what an encoder has to beat
  pace predict graphs.jsonl --model model --target accuracy   does encoding pay?
  pace predict graphs.jsonl --model model --on new.jsonl --out predictions.jsonl
  pace predict new.jsonl --model supervised --apply           what a model trained with --objective supervised says

Each method predicts every graph from the scores of the graphs in the other folds. Controls are there to be beaten.
";

/// Predict scores: cross-validated, beside controls; then, of new graphs, by the best method
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The folder of a trained model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// A spec for the graphs [default: the model's, or inferred]
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    spec: Option<PathBuf>,
    /// Parts of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    folds: u32,
    /// Train the whole encoder on the scores, too, once per fold: slow
    #[arg(long, requires = "model")]
    tune: bool,
    /// Compare nothing: print what a supervised model predicts for GRAPHS (after a training by ranks only the order counts)
    #[arg(long, requires = "model", conflicts_with_all = ["on", "tune"])]
    apply: bool,
    /// Graphs whose scores are wanted
    #[arg(long, value_name = "GRAPHS", requires = "out")]
    on: Option<PathBuf>,
    /// The file for their predictions, JSON lines
    #[arg(long, value_name = "FILE", requires = "on")]
    out: Option<PathBuf>,
    /// The method for them [default: the best by Kendall's tau]
    #[arg(long, value_name = "ID")]
    method: Option<String>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A row of the comparison.
#[derive(Debug, Serialize)]
struct Row {
    id: &'static str,
    title: String,
    is_control: bool,
    #[serde(flatten)]
    quality: Quality,
}

/// Runs the command.
///
/// # Errors
/// Those of the model, the graphs and the fits.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let model = args.model.as_deref().map(Model::load).transpose()?;
    let given = args.spec.as_deref().map(read_spec).transpose()?.or_else(|| model.as_ref().map(|m| m.spec().clone()));
    let graphs = source::load(&args.source, given, terminal)?;
    if let Some(model) = model.as_ref().filter(|_| args.apply) {
        let predicted = model.predict(&graphs.dags)?;
        let rows: Vec<Vec<String>> =
            graphs.ids.iter().zip(&predicted).map(|(id, score)| vec![id.clone(), format!("{score:.6}")]).collect();
        let pairs: Vec<_> =
            graphs.ids.iter().zip(&predicted).map(|(id, mean)| json!({"id": id, "mean": mean})).collect();
        return terminal.result(&pairs, || columns(&rows));
    }
    let (rows, scores) = graphs.scored_at_least(4 * args.folds as usize)?;
    let known: Vec<_> = rows.iter().map(|&row| graphs.dags[row].clone()).collect();
    // New graphs stand behind the known ones, so that every method sees them as rows, too.
    let new = match &args.on {
        Some(path) => {
            let source = SourceArgs { path: path.clone(), how: args.source.how.clone() };
            Some(source::load(&source, Some(graphs.spec.clone()), terminal)?)
        }
        None => None,
    };
    let dags = [&known[..], new.as_ref().map_or(&[], |new| &new.dags)].concat();
    let methods = methods(args, model.as_ref(), &dags, &graphs.spec)?;
    if let Some(id) = args.method.as_ref().filter(|id| methods.iter().all(|method| method.id != **id)) {
        let ids: Vec<&str> = methods.iter().map(|method| method.id).collect();
        bail!("there is no method '{id}' here; there are {}", ids.join(", "));
    }
    let folds = Folds::new(known.len(), args.folds as usize, args.seed);
    let bar = terminal.bar(progress::steps("cross-validate", methods.len() * folds.count()));
    let mut found = Vec::new();
    for method in &methods {
        bar.set_message(method.title.clone());
        let quality = validate(&method.method, &scores, &folds, || bar.inc(1))?;
        found.push(Row { id: method.id, title: method.title.clone(), is_control: method.is_control, quality });
    }
    bar.finish_and_clear();
    let best = found.iter().max_by(|a, b| a.quality.kendall.total_cmp(&b.quality.kendall)).context("no methods")?;
    let chosen = args.method.as_deref().unwrap_or(best.id);
    if let Some((new, out)) = new.as_ref().zip(args.out.as_ref()) {
        let method = methods.iter().find(|method| method.id == chosen).context("a method that was just compared")?;
        let all: Vec<usize> = (0..known.len()).collect();
        let wanted: Vec<usize> = (known.len()..dags.len()).collect();
        let predictions = method.method.predict(&all, &scores, &wanted)?;
        write_file(out, |out| {
            for (id, prediction) in new.ids.iter().zip(&predictions) {
                let mut line = json!(prediction);
                line["id"] = json!(id);
                writeln!(out, "{line}")?;
            }
            Ok(())
        })?;
        terminal.say(format!("{} predictions by {} written to {}", predictions.len(), method.title, out.display()));
    }
    let result = json!({"graphs": known.len(), "folds": folds.count(), "best": best.id, "methods": found});
    terminal.result(&result, || text(&found, known.len(), folds.count()))
}

/// Controls first, then what the model adds.
fn methods<'a>(
    args: &Args,
    model: Option<&'a Model>,
    dags: &'a [pace_graph::Dag],
    spec: &'a pace_graph::DagSpec,
) -> Result<Vec<Named<'a>>> {
    let gp = |id, title: &str, is_control, kinds: &[&Vectors]| Named {
        id,
        title: title.to_owned(),
        is_control,
        method: Method::Gp(Gp::new(kinds, args.seed)),
    };
    let (features, properties) = (plain(dags, spec), properties(dags, spec));
    let mut methods = vec![
        gp("plain", &format!("GP on {}", plain_name(spec)), true, &[&features]),
        gp("properties", "GP on sizes, depths, paths and counts", true, &[&properties]),
        gp("both", "GP on both", true, &[&features, &properties]),
    ];
    let Some(model) = model else { return Ok(methods) };
    let (untrained, trained) = (model.untrained(args.seed)?.vectors(dags)?, model.vectors(dags)?);
    methods.extend([
        gp("untrained", "GP on vectors of the untrained encoder", true, &[&untrained]),
        gp("vectors", "GP on vectors of the model", false, &[&trained]),
        gp("all", "GP on these, sizes, depths, paths and counts", false, &[&trained, &properties]),
    ]);
    if args.tune {
        let tuned = |start| Tuned { dags, spec, config: model.encoder_config(), start, valid: 0.1, seed: args.seed };
        methods.push(Named {
            id: "tuned",
            title: "the whole encoder, trained to rank".to_owned(),
            is_control: false,
            method: Method::Tuned(tuned(Some(model.encoder()))),
        });
        methods.push(Named {
            id: "scratch",
            title: "the same from initial weights".to_owned(),
            is_control: true,
            method: Method::Tuned(tuned(None)),
        });
    }
    Ok(methods)
}

fn text(rows: &[Row], n_graphs: usize, n_folds: usize) -> String {
    let head = ["", "Kendall", "of folds", "Spearman", "Pearson", "RMSE", ""].map(str::to_owned).to_vec();
    let best = rows.iter().map(|row| row.quality.kendall).fold(f64::NEG_INFINITY, f64::max);
    let line = |row: &Row| {
        let q = &row.quality;
        let (low, high) = q.kendall_of_folds.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
        let mark = match (q.kendall == best, row.is_control) {
            (true, true) => "best, a control",
            (true, false) => "best",
            (false, true) => "control",
            (false, false) => "",
        };
        vec![
            row.title.clone(),
            format!("{:.3}", q.kendall),
            format!("{low:.3} to {high:.3}"),
            format!("{:.3}", q.spearman),
            format!("{:.3}", q.pearson),
            q.rmse.map_or_else(String::new, |rmse| format!("{rmse:.5}")),
            mark.to_owned(),
        ]
    };
    let table = columns(&[head].into_iter().chain(rows.iter().map(line)).collect::<Vec<_>>());
    let control = rows.iter().filter(|row| row.is_control).map(|row| row.quality.kendall).fold(f64::MIN, f64::max);
    let own = rows.iter().filter(|row| !row.is_control).map(|row| row.quality.kendall).fold(f64::MIN, f64::max);
    let verdict = match own {
        f64::MIN => "no model was given: this is what an encoder has to beat".to_owned(),
        own if own > control => format!("encoding pays here: tau {own:.3} against {control:.3} of the best control"),
        own => format!("encoding does not pay here: tau {own:.3} against {control:.3} of the best control"),
    };
    format!("{n_graphs} graphs, {n_folds} folds\n\n{table}\n{verdict}\n")
}
