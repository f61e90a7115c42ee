//! [`NodeLink`]: the node-link JSON of networkx and D3.
//!
//! ```text
//! {"directed": true, "multigraph": false, "graph": {"target": 0.5},
//!  "nodes": [{"id": 0, "op": "in"}, {"id": "x", "op": "out"}], "edges": [{"source": 0, "target": "x"}]}
//! ```
//!
//! A file is one such object, a list of them, or one after another; graphs are handed on as they come. Edges stand in `edges` or
//! `links`. A graph that does not say whether it is directed is taken to be. Names of nodes are scalars; `1` and `"1"` differ.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::{BufRead, Write};

use pace_graph::Named;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::GraphFormat;
use crate::check::check_written;
use crate::collector::{Collector, Described, Fields, Node};
use crate::error::{Error, shortened};
use crate::input::skip_space;
use crate::json::{Members, json_error, scalar};
use crate::options::ReadOptions;
use crate::summary::Summary;

const EXPECTED: &str = "a node-link graph in JSON";

/// Node-link JSON. Written as one object per line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeLink;

impl GraphFormat for NodeLink {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let mut collector = Collector::new(file, options, sink);
        read_all(reader, &mut collector).map_err(|reason| reason.at(file, collector.next_place(None)))?;
        collector.finish()
    }

    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        for (index, graph) in graphs.enumerate() {
            check_written(graph, index + 1)?;
            let mut fields = serde_json::Map::new();
            fields.extend(graph.id.as_ref().map(|id| ("id".to_owned(), json!(id))));
            fields.extend(graph.target.map(|target| ("target".to_owned(), json!(target))));
            let nodes: Vec<Value> = graph.ops.iter().enumerate().map(|(id, op)| json!({"id": id, "op": op})).collect();
            let edge = |&(source, target): &(usize, usize)| json!({"source": source, "target": target});
            let edges: Vec<Value> = graph.edges.iter().map(edge).collect();
            let whole = json!({"directed": true, "multigraph": false, "graph": fields, "nodes": nodes, "edges": edges});
            writeln!(writer, "{whole}")?;
        }
        Ok(())
    }
}

fn read_all(reader: &mut dyn BufRead, collector: &mut Collector<'_>) -> Result<(), Error> {
    let is_list = skip_space(reader, collector.file)? == Some(b'[');
    let file = collector.file;
    if is_list {
        let mut failure = None;
        let mut json = serde_json::Deserializer::from_reader(reader);
        let list = ListVisitor { collector, failure: &mut failure };
        let read = json.deserialize_seq(list).and_then(|()| json.end());
        // What went wrong with a graph is more to the point than what the JSON reader says of it.
        return failure.map_or(Ok(()), Err).and(read.map_err(|error| json_error(error, file, EXPECTED)));
    }
    for graph in serde_json::Deserializer::from_reader(reader).into_iter::<Graph>() {
        take(graph.map_err(|error| json_error(error, file, EXPECTED))?, collector)?;
    }
    Ok(())
}

/// Hands the graphs of a list on, one by one.
struct ListVisitor<'a, 'b> {
    collector: &'a mut Collector<'b>,
    failure: &'a mut Option<Error>,
}

impl<'de> Visitor<'de> for ListVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of graphs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(graph) = list.next_element()? {
            if let Err(error) = take(graph, self.collector) {
                *self.failure = Some(error);
                return Err(A::Error::custom("a graph that cannot be used"));
            }
        }
        Ok(())
    }
}

/// One graph as written.
#[derive(Default)]
struct Graph {
    directed: Option<bool>,
    /// The attributes of the graph, and what else stands beside its nodes.
    fields: Vec<(String, Value)>,
    nodes: Option<Vec<Members>>,
    edges: Option<Vec<Edge>>,
}

/// One edge as written.
struct Edge {
    source: Option<Value>,
    target: Option<Value>,
    fields: Vec<String>,
}

impl<'de> Deserialize<'de> for Graph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Graph, D::Error> {
        deserializer.deserialize_map(GraphVisitor)
    }
}

struct GraphVisitor;

impl<'de> Visitor<'de> for GraphVisitor {
    type Value = Graph;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"nodes\" and \"edges\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Graph, A::Error> {
        let twice = |key: &str| A::Error::custom(format!("{key:?} is there twice"));
        let mut graph = Graph::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "directed" => graph.directed = map.next_value()?,
                "multigraph" => drop(map.next_value::<IgnoredAny>()?),
                "graph" => graph.fields.extend(map.next_value::<Option<Members>>()?.into_iter().flat_map(|all| all.0)),
                "nodes" if graph.nodes.is_some() => return Err(twice(&key)),
                "nodes" => graph.nodes = Some(map.next_value()?),
                "edges" | "links" if graph.edges.is_some() => {
                    return Err(A::Error::custom("edges are there twice, as \"edges\" or \"links\""));
                }
                "edges" | "links" => graph.edges = Some(map.next_value()?),
                _ => graph.fields.push((key, map.next_value()?)),
            }
        }
        Ok(graph)
    }
}

impl<'de> Deserialize<'de> for Edge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Edge, D::Error> {
        let mut edge = Edge { source: None, target: None, fields: Vec::new() };
        for (key, value) in Members::deserialize(deserializer)?.0 {
            match key.as_str() {
                "source" => edge.source = Some(value),
                "target" => edge.target = Some(value),
                _ => edge.fields.push(key),
            }
        }
        Ok(edge)
    }
}

/// Resolves the names of nodes and hands the graph on.
fn take(graph: Graph, collector: &mut Collector<'_>) -> Result<(), Error> {
    if graph.directed == Some(false) {
        return Err(Error::Unsupported {
            what: "the graph is undirected".to_owned(),
            remedy: "make it a DAG first, e.g. a networkx.DiGraph",
        });
    }
    let missing = |field: &str| Error::expected(format!("a list \"{field}\""), "a graph without it");
    let mut described = Described { fields: texts(graph.fields), ..Described::default() };
    let mut places = HashMap::new();
    for Members(mut members) in graph.nodes.ok_or_else(|| missing("nodes"))? {
        let id = members.iter().position(|(key, _)| key == "id").map(|index| members.remove(index).1);
        let id = id.ok_or_else(|| Error::expected("an \"id\" in every node", "a node without it"))?;
        let (key, name) = node_name(id)?;
        if places.insert(key, described.nodes.len()).is_some() {
            return Err(Error::DuplicateNode { node: shortened(&name) });
        }
        described.nodes.push(Node { name, fields: texts(members), ..Node::default() });
    }
    let mut edge_fields = BTreeSet::new();
    for edge in graph.edges.ok_or_else(|| missing("edges"))? {
        let end = |value: Option<Value>, end: &str| {
            node_name(value.ok_or_else(|| Error::expected(format!("a {end:?} in every edge"), "an edge without it"))?)
        };
        let (from, to) = (end(edge.source, "source")?, end(edge.target, "target")?);
        let place = |end: &(String, String)| {
            places.get(&end.0).copied().ok_or_else(|| Error::DanglingEdge {
                from: shortened(&from.1),
                to: shortened(&to.1),
                missing: shortened(&end.1),
            })
        };
        described.edges.push((place(&from)?, place(&to)?));
        edge_fields.extend(edge.fields);
    }
    described.edge_fields = edge_fields;
    collector.describe(described)
}

/// Attributes as text.
fn texts(members: Vec<(String, Value)>) -> Fields {
    members.into_iter().map(|(key, value)| (key, scalar(value))).collect()
}

/// The name of a node: as a key, which tells numbers from texts, and in words.
fn node_name(id: Value) -> Result<(String, String), Error> {
    if id.is_array() || id.is_object() {
        return Err(Error::syntax("a text or a number as the name of a node", &id.to_string()));
    }
    let key = id.to_string();
    let name = scalar(id).unwrap_or_else(|| key.clone());
    Ok((key, name))
}
