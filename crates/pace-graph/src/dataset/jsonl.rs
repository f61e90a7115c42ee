//! Your own DAGs: one JSON object per line.
//!
//! ```text
//! {"spec": {"name": "mine", "ops": ["in", "relu", "out"], "max_nodes": 9, ...}}         optional first line
//! {"ops": ["in", "relu", "out"], "edges": [[0, 1], [1, 2]], "target": 0.5, "id": "x"}
//! {"ops": [0, 1, 2], "edges": [[0, 1], [1, 2]]}
//! ```
//!
//! Operations are names or numbers of the dictionary; target and id may be missing. Without a spec the dictionary is made
//! from the file: names in alphabetical order, or all numbers up to the largest.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Dataset, DatasetFormat, Progress, Sample};
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::input::lines::{LastLine, Lines};
use crate::spec::DagSpec;

/// Reader of JSON lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonLines {
    /// Used if the file has none of its own.
    pub spec: Option<DagSpec>,
}

/// Any line: a header has `spec`, a graph has `ops` and `edges`.
#[derive(Deserialize)]
struct Line {
    spec: Option<DagSpec>,
    name: Option<String>,
    note: Option<String>,
    ops: Option<Vec<Word>>,
    edges: Option<Vec<(usize, usize)>>,
    target: Option<f64>,
    id: Option<Id>,
    #[serde(flatten)]
    ignored: BTreeMap<String, IgnoredAny>,
}

/// An operation as written.
#[derive(Clone, Deserialize, Serialize)]
#[serde(untagged)]
enum Word {
    Number(u64),
    Name(String),
}

/// An id as written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(i64),
}

#[derive(Serialize)]
struct HeaderOut<'a> {
    spec: &'a DagSpec,
    name: &'a str,
    note: &'a str,
}

#[derive(Serialize)]
struct RowOut<'a> {
    ops: Vec<Word>,
    edges: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

impl DatasetFormat for JsonLines {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        let mut found = Found { spec: self.spec.clone(), file: file.to_owned(), ..Found::default() };
        let lines = Lines { reader, file, progress, skip: 0, last_line: LastLine::MayBeOpen };
        lines.read(|_, text| parse(text), |_, line| found.add(line))?;
        found.finish()
    }
}

fn parse(text: &str) -> Result<Line, Error> {
    serde_json::from_str(text).map_err(|error| match bad_target(text) {
        Some(value) => Error::BadTarget { value },
        None => Error::syntax(r#"a JSON object with "ops" and "edges""#, &format!("{error} in {text}")),
    })
}

/// Python writes NaN and Infinity, which JSON does not know; the plain syntax error would not say what is wrong.
fn bad_target(text: &str) -> Option<String> {
    let (_, value) = text.split_once("\"target\"")?;
    let value = value.trim_start().strip_prefix(':')?.trim_start();
    let value = &value[..value.find([',', '}', ' ']).unwrap_or(value.len())];
    let number: f64 = value.parse().ok()?;
    (!number.is_finite()).then(|| value.to_owned())
}

/// What has been read so far.
#[derive(Default)]
struct Found {
    file: String,
    name: Option<String>,
    note: Option<String>,
    spec: Option<DagSpec>,
    /// Without a spec: the dictionary so far.
    names: HashMap<String, Op>,
    n_numbers: usize,
    samples: Vec<Sample>,
    started: bool,
    ignored: BTreeMap<String, usize>,
}

impl Found {
    fn add(&mut self, line: Line) -> Result<(), Error> {
        let first = !std::mem::replace(&mut self.started, true);
        for field in line.ignored.into_keys() {
            *self.ignored.entry(field).or_default() += 1;
        }
        if let Some(spec) = line.spec {
            if !first || line.ops.is_some() {
                return Err(Error::syntax("a graph; a spec stands alone in the first line", r#""spec""#));
            }
            spec.check()?;
            (self.spec, self.name, self.note) = (Some(spec), line.name, line.note);
            return Ok(());
        }
        let missing = |field: &str| Error::Syntax {
            expected: format!("an object with the field \"{field}\""),
            found: "one without it".to_owned(),
        };
        let ops = self.resolve(line.ops.ok_or_else(|| missing("ops"))?)?;
        let dag = Dag::new(ops, line.edges.ok_or_else(|| missing("edges"))?)?;
        if let Some(spec) = &self.spec {
            spec.validate(&dag)?;
        }
        let id = line.id.map(|id| match id {
            Id::Text(text) => text,
            Id::Number(number) => number.to_string(),
        });
        self.samples.push(Sample { dag, target: line.target, id });
        Ok(())
    }

    fn resolve(&mut self, words: Vec<Word>) -> Result<Vec<Op>, Error> {
        let numbered = self.n_numbers > 0;
        let resolve = |(node, word): (usize, Word)| match (&self.spec, word) {
            (Some(spec), Word::Name(name)) => spec.op(&name).ok_or_else(|| spec.unknown_op(node, name)),
            (Some(spec), Word::Number(number)) => {
                let op = Op::try_from(number).ok().filter(|&op| usize::from(op) < spec.n_ops());
                op.ok_or_else(|| spec.unknown_op(node, number.to_string()))
            }
            (None, Word::Number(number)) if self.names.is_empty() => {
                let op = Op::try_from(number).map_err(|_| {
                    Error::syntax(format!("an operation number from 0 to {}", Op::MAX), &number.to_string())
                })?;
                self.n_numbers = self.n_numbers.max(usize::from(op) + 1);
                Ok(op)
            }
            (None, Word::Name(name)) if !numbered && self.n_numbers == 0 => {
                let next = Op::try_from(self.names.len());
                let next = next.map_err(|_| Error::syntax(format!("at most {} operation names", Op::MAX), &name))?;
                Ok(*self.names.entry(name).or_insert(next))
            }
            (None, Word::Name(word)) => Err(mixed(&word)),
            (None, Word::Number(word)) => Err(mixed(&word.to_string())),
        };
        words.into_iter().enumerate().map(resolve).collect()
    }

    fn finish(self) -> Result<Dataset, Error> {
        let mut samples = self.samples;
        let spec = self.spec.unwrap_or_else(|| {
            // In alphabetical order, so that the order of the rows plays no part.
            let mut names: Vec<(String, Op)> = self.names.into_iter().collect();
            names.sort_unstable();
            let mut sorted = vec![0; names.len()];
            names.iter().enumerate().for_each(|(index, (_, op))| sorted[usize::from(*op)] = index as Op);
            if !sorted.is_empty() {
                samples.iter_mut().for_each(|sample| sample.dag = sample.dag.map_ops(|op| sorted[usize::from(op)]));
            }
            let ops = names.into_iter().map(|(name, _)| name).chain((0..self.n_numbers).map(|op| op.to_string()));
            let max_nodes = samples.iter().map(|sample| sample.dag.n_nodes()).max().unwrap_or(0);
            DagSpec::new(&self.file, ops, max_nodes)
        });
        let ignored: Vec<String> = self.ignored.iter().map(|(field, n)| format!("\"{field}\" in {n} rows")).collect();
        let note = if ignored.is_empty() { String::new() } else { format!("; ignored {}", ignored.join(", ")) };
        let mut dataset = Dataset::from_file(spec, samples, &self.file, "", &note)?;
        dataset.name = self.name.unwrap_or(dataset.name);
        if let Some(note) = self.note.filter(|_| ignored.is_empty()) {
            dataset.note = note;
        }
        Ok(dataset)
    }
}

fn mixed(found: &str) -> Error {
    Error::syntax("all operations as names or all as numbers (both need a spec in the first line)", found)
}

/// Writes the spec, then one line per graph. Operations are written by name, or by number if two share the name.
///
/// ```
/// use pace_graph::dataset::{Dataset, Sample, write_json_lines};
/// let spec = pace_graph::DagSpec::new("mine", ["in", "out"], 2);
/// let samples = vec![Sample::new(spec.parse("in out : 0>1")?, 0.5)];
/// let mut text = Vec::new();
/// write_json_lines(&Dataset { name: "mine".into(), spec, samples, note: String::new() }, &mut text).unwrap();
/// assert!(text.ends_with(b"{\"ops\":[\"in\",\"out\"],\"edges\":[[0,1]],\"target\":0.5}\n"));
/// # Ok::<(), pace_graph::Error>(())
/// ```
pub fn write_json_lines(dataset: &Dataset, writer: &mut dyn Write) -> io::Result<()> {
    let spec = &dataset.spec;
    serde_json::to_writer(&mut *writer, &HeaderOut { spec, name: &dataset.name, note: &dataset.note })?;
    writeln!(writer)?;
    for sample in &dataset.samples {
        let word = |op: Op| match spec.op_name(op) {
            name if spec.op(&name) == Some(op) => Word::Name(name),
            _ => Word::Number(u64::from(op)),
        };
        let ops = sample.dag.ops().map(word).collect();
        let (edges, id) = (sample.dag.edges().collect(), sample.id.as_deref());
        serde_json::to_writer(&mut *writer, &RowOut { ops, edges, target: sample.target, id })?;
        writeln!(writer)?;
    }
    Ok(())
}
