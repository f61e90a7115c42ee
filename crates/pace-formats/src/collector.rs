//! [`Collector`]: from graphs as a file describes them to [`Named`].
//!
//! Every format reads into [`Described`]; which attribute is the operation, the target and the name is decided here, once for
//! all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pace_graph::Named;

use crate::check::check_dag;
use crate::error::{Error, Place, shortened};
use crate::format::Sink;
use crate::options::{OP_ATTRIBUTES, ReadOptions};
use crate::summary::Summary;

/// Attributes in the order of the file. What is no text, number or truth value has no text.
pub(crate) type Fields = Vec<(String, Option<String>)>;

/// A graph as a file describes it.
#[derive(Default)]
pub(crate) struct Described {
    /// What the format itself calls the graph.
    pub(crate) name: Option<String>,
    /// Its attributes.
    pub(crate) fields: Fields,
    /// Its nodes.
    pub(crate) nodes: Vec<Node>,
    /// Its edges.
    pub(crate) edges: Vec<(usize, usize)>,
    /// Attributes of edges, which no `Named` can hold.
    pub(crate) edge_fields: BTreeSet<String>,
}

/// A node as a file describes it.
#[derive(Default)]
pub(crate) struct Node {
    /// What the file calls it.
    pub(crate) name: String,
    /// Its attributes.
    pub(crate) fields: Fields,
    /// What it has if it says nothing else. Shared, as a short text may make many nodes with many defaults.
    pub(crate) defaults: Rc<Fields>,
}

impl Node {
    /// The text of an attribute.
    fn text(&self, wanted: &str) -> Option<&str> {
        let own = self.fields.iter().find(|(key, _)| key == wanted);
        own.map_or_else(|| text(&self.defaults, wanted), |(_, text)| text.as_deref())
    }

    /// The names of its attributes, some perhaps twice.
    fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().chain(self.defaults.iter()).map(|(key, _)| key.as_str())
    }
}

/// Turns described graphs into named ones, checks them, and hands them on.
pub(crate) struct Collector<'a> {
    pub(crate) file: &'a str,
    pub(crate) options: &'a ReadOptions,
    sink: Sink<'a>,
    pub(crate) summary: Summary,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(file: &'a str, options: &'a ReadOptions, sink: Sink<'a>) -> Collector<'a> {
        let summary = Summary { files: 1, target: options.target.clone(), ..Summary::default() };
        Collector { file, options, sink, summary }
    }

    /// The place of the next graph.
    pub(crate) fn next_place(&self, name: Option<&str>) -> Place {
        Place::Graph(self.summary.rows + 1, name.map(str::to_owned))
    }

    /// Takes a graph as a file describes it.
    pub(crate) fn describe(&mut self, graph: Described) -> Result<(), Error> {
        let place = self.next_place(graph.name.as_deref());
        let named = self.named(&graph).map_err(|reason| reason.at(self.file, place.clone()))?;
        self.take(named, place, &|node| graph.nodes[node].name.clone())
    }

    /// Takes a graph whose parts are known; `name` says what the file calls a node.
    pub(crate) fn take(&mut self, graph: Named, place: Place, name: &dyn Fn(usize) -> String) -> Result<(), Error> {
        check_dag(&graph, name).map_err(|reason| reason.at(self.file, place))?;
        self.summary.rows += 1;
        self.summary.rows_with_target += usize::from(graph.target.is_some());
        (self.sink)(graph)
    }

    /// Counts something that is not used, once per graph.
    pub(crate) fn ignore(&mut self, what: String) {
        *self.summary.ignored.entry(what).or_default() += 1;
    }

    /// The summary, if there was a graph at all.
    pub(crate) fn finish(self) -> Result<Summary, Error> {
        match self.summary.rows {
            0 => Err(Error::NoGraphs.at(self.file, Place::Whole)),
            _ => Ok(self.summary),
        }
    }

    /// A number that can be a target.
    pub(crate) fn target(&self, text: &str) -> Result<f64, Error> {
        let bad = || Error::BadTarget { field: self.options.target.clone(), value: format!("'{}'", shortened(text)) };
        text.trim().parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(bad)
    }

    fn named(&mut self, graph: &Described) -> Result<Named, Error> {
        let source = self.source(graph)?;
        let op = |node: &Node| match &source {
            None => node.name.clone(),
            Some(attribute) => node.text(attribute).unwrap_or_default().to_owned(),
        };
        let target = match graph.fields.iter().find(|(key, _)| *key == self.options.target) {
            None | Some((_, None)) => None,
            Some((_, Some(text))) => Some(self.target(text)?),
        };
        let (id, id_from) = self.id(graph)?;
        let named = Named { ops: graph.nodes.iter().map(op).collect(), edges: graph.edges.clone(), target, id };
        self.count(graph, source.as_deref(), id_from.as_deref());
        *self.summary.ops_from.entry(source).or_default() += 1;
        Ok(named)
    }

    /// The attribute that is the operation; `None` for the name of the node.
    fn source(&self, graph: &Described) -> Result<Option<String>, Error> {
        if let Some(wanted) = &self.options.op {
            let lacks = |node: &&Node| node.text(wanted).is_none();
            return match graph.nodes.iter().find(lacks) {
                None => Ok(Some(wanted.clone())),
                Some(node) => Err(no_attribute(format!("node '{}'", shortened(&node.name)), wanted, node.keys())),
            };
        }
        let everywhere = |attribute: &&str| graph.nodes.iter().all(|node| node.text(attribute).is_some());
        Ok(OP_ATTRIBUTES.into_iter().find(everywhere).map(str::to_owned))
    }

    /// The name of a graph, and the attribute it came from.
    fn id(&self, graph: &Described) -> Result<(Option<String>, Option<String>), Error> {
        if let Some(wanted) = &self.options.id {
            let id = text(&graph.fields, wanted);
            let id = id.ok_or_else(|| no_attribute("the graph".to_owned(), wanted, keys(&graph.fields)))?;
            return Ok((Some(id.to_owned()), Some(wanted.clone())));
        }
        let found = ["id", "name"].into_iter().find_map(|key| Some((text(&graph.fields, key)?, key)));
        Ok(match found {
            Some((id, key)) => (Some(id.to_owned()), Some(key.to_owned())),
            None => (graph.name.clone(), None),
        })
    }

    /// Counts the attributes that are neither operation nor target nor name.
    fn count(&mut self, graph: &Described, op: Option<&str>, id: Option<&str>) {
        let mut ignored: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let used = [Some(self.options.target.as_str()), id];
        let unused = keys(&graph.fields).filter(|key| !used.contains(&Some(*key)));
        ignored.entry("graph").or_default().extend(unused);
        let unused = graph.nodes.iter().flat_map(Node::keys).filter(|key| op != Some(*key));
        ignored.entry("node").or_default().extend(unused);
        ignored.entry("edge").or_default().extend(graph.edge_fields.iter().map(String::as_str));
        for (kind, keys) in ignored {
            keys.into_iter().for_each(|key| self.ignore(format!("{kind} attribute '{}'", shortened(key))));
        }
    }
}

/// The text of an attribute.
fn text<'a>(fields: &'a Fields, wanted: &str) -> Option<&'a str> {
    fields.iter().find(|(key, _)| key == wanted).and_then(|(_, text)| text.as_deref())
}

fn keys(fields: &Fields) -> impl Iterator<Item = &str> {
    fields.iter().map(|(key, _)| key.as_str())
}

fn no_attribute<'a>(owner: String, wanted: &str, has: impl Iterator<Item = &'a str>) -> Error {
    let has: BTreeSet<&str> = has.collect();
    let kind = if has.contains(wanted) { "text or number in attribute" } else { "attribute" };
    let names: Vec<String> = has.into_iter().map(|key| format!("'{}'", shortened(key))).take(12).collect();
    let has = if names.is_empty() { "no attributes".to_owned() } else { names.join(", ") };
    Error::NoAttribute { owner, kind, wanted: wanted.to_owned(), has }
}
