//! [`JsonLines`]: our own format, one JSON object per line.
//!
//! ```text
//! {"spec": {"name": "mine", "ops": ["in", "relu", "out"], ...}}                         optional first line
//! {"ops": ["in", "relu", "out"], "edges": [[0, 1], [1, 2]], "target": 0.5, "id": "x"}
//! ```
//!
//! Operations are names, or numbers of the dictionary in the header. Virtual ends that a spec has added are taken away again, as
//! [`Named`] has none; the spec itself is handed on in [`Summary::spec`].

use std::fmt;
use std::io::{BufRead, Read, Write};

use pace_graph::{Dag, DagSpec, Error as GraphError, Named, Op};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::GraphFormat;
use crate::check::check_written;
use crate::collector::Collector;
use crate::error::{Error, Place};
use crate::json::{json_error, scalar};
use crate::options::ReadOptions;
use crate::summary::Summary;

/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// JSON lines with `ops`, `edges`, `target` and `id`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonLines;

impl GraphFormat for JsonLines {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut collector = Collector::new(file, options, sink);
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let n_bytes = (&mut *reader).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes);
            if n_bytes.map_err(|source| Error::read(source, file))? == 0 {
                break;
            }
            read_line(&bytes, line, &mut collector).map_err(|reason| reason.at(file, Place::Line(line)))?;
        }
        collector.finish()
    }

    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        for (index, graph) in graphs.enumerate() {
            check_written(graph, index + 1)?;
            let row = RowOut { ops: &graph.ops, edges: &graph.edges, target: graph.target, id: graph.id.as_deref() };
            serde_json::to_writer(&mut *writer, &row).map_err(std::io::Error::from)?;
            writeln!(writer)?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct RowOut<'a> {
    ops: &'a [String],
    edges: &'a [(usize, usize)],
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

fn read_line(bytes: &[u8], line: u64, collector: &mut Collector<'_>) -> Result<(), Error> {
    if bytes.len() as u64 > MAX_LINE_BYTES {
        return Err(Error::TooMuch {
            what: "bytes in a line",
            max: MAX_LINE_BYTES,
            remedy: "give every graph its own",
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Error::NotUtf8)?;
    let text = if line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let row = RowSeed(collector.options).deserialize(&mut json).and_then(|row| json.end().map(|()| row));
    let expected = "a JSON object with \"ops\" and \"edges\" (for networkx' JSON choose node-link)";
    let row = row.map_err(|error| json_error(error, collector.file, expected))?;
    if let Some(spec) = row.spec {
        if collector.summary.rows > 0 || collector.summary.spec.is_some() || row.ops.is_some() {
            return Err(Error::syntax("a graph; a spec stands alone in the first line", "\"spec\""));
        }
        spec.check()?;
        collector.summary.spec = Some(spec);
        return Ok(());
    }
    let missing = |field: &str| Error::expected(format!("a field \"{field}\""), "a row without it");
    let ops = row.ops.ok_or_else(|| missing(collector.options.op.as_deref().unwrap_or("ops")))?;
    let edges = row.edges.ok_or_else(|| missing("edges"))?;
    let ops = ops.into_iter().map(|word| named_op(word, collector.summary.spec.as_ref())).collect::<Result<_, _>>()?;
    let target = row.target.map(|text| collector.target(&text)).transpose()?;
    let graph = bare(Named { ops, edges, target, id: row.id }, collector.summary.spec.as_ref())?;
    row.ignored.into_iter().for_each(|field| collector.ignore(format!("field '{field}'")));
    *collector.summary.ops_from.entry(Some(collector.options.op.clone().unwrap_or("ops".into()))).or_default() += 1;
    collector.take(graph, Place::Line(line), &|node| node.to_string())
}

/// An operation as written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Number(u64),
    Name(String),
}

/// The name of an operation.
fn named_op(word: Word, spec: Option<&DagSpec>) -> Result<String, Error> {
    match (word, spec) {
        (Word::Name(name), _) => Ok(name),
        (Word::Number(number), None) => Ok(number.to_string()),
        (Word::Number(number), Some(spec)) => {
            let op = Op::try_from(number).ok().filter(|&op| usize::from(op) < spec.n_ops());
            let unknown =
                || Error::syntax(format!("an operation below {} of the spec", spec.n_ops()), &number.to_string());
            op.map(|op| spec.op_name(op)).ok_or_else(unknown)
        }
    }
}

/// The graph without the virtual ends of the spec.
fn bare(graph: Named, spec: Option<&DagSpec>) -> Result<Named, Error> {
    let Some(spec) = spec.filter(|spec| spec.added.count() > 0) else { return Ok(graph) };
    let op = |name: &String| {
        spec.op(name).ok_or_else(|| Error::syntax(format!("an operation of the spec '{}'", spec.name), name))
    };
    let ops = graph.ops.iter().map(op).collect::<Result<_, Error>>()?;
    let dag = Dag::new(ops, graph.edges.iter().copied()).map_err(|error: GraphError| Error::Graph(error))?;
    Ok(Named { target: graph.target, id: graph.id, ..Named::of(spec, &dag)? })
}

/// One line: a header has `spec`, a graph has `ops` and `edges`.
#[derive(Default)]
struct Row {
    spec: Option<DagSpec>,
    ops: Option<Vec<Word>>,
    edges: Option<Vec<(usize, usize)>>,
    target: Option<String>,
    id: Option<String>,
    ignored: Vec<String>,
}

/// Reads a line by the names that the options give its fields.
struct RowSeed<'a>(&'a ReadOptions);

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = Row;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Row, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
        let options = self.0;
        let (op, id) = (options.op.as_deref().unwrap_or("ops"), options.id.as_deref().unwrap_or("id"));
        let mut row = Row::default();
        while let Some(key) = map.next_key::<String>()? {
            let is_twice = if key == op {
                row.ops.replace(map.next_value()?).is_some()
            } else if key == "edges" {
                row.edges.replace(map.next_value()?).is_some()
            } else if key == "spec" {
                row.spec.replace(map.next_value()?).is_some()
            } else if key == options.target {
                replace_scalar(&mut row.target, map.next_value()?, &key)?
            } else if key == id {
                replace_scalar(&mut row.id, map.next_value()?, &key)?
            } else {
                map.next_value::<IgnoredAny>()?;
                row.ignored.push(key);
                continue;
            };
            if is_twice {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
        }
        Ok(row)
    }
}

/// Takes a scalar; `null` means that there is none.
fn replace_scalar<E: serde::de::Error>(slot: &mut Option<String>, value: Value, key: &str) -> Result<bool, E> {
    match value {
        Value::Null => Ok(false),
        value => match scalar(value) {
            Some(text) => Ok(slot.replace(text).is_some()),
            None => Err(E::custom(format!("{key:?} is a list or an object"))),
        },
    }
}
