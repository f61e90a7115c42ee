//! [`Building`]: a graph of DOT while it is read.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::collector::{Described, Fields, Node};
use crate::error::Error;

/// Groups of nodes may make this many edges and memberships in one graph: a line of text can ask for any number.
const MAX_GROUP_EDGES: u64 = 1 << 20;
/// Attributes of one node or graph; they are searched one by one.
pub(super) const MAX_FIELDS: usize = 1000;
/// Default attributes, which every change copies.
pub(super) const MAX_DEFAULTS: usize = 64;

/// A graph while it is read.
#[derive(Default)]
pub(super) struct Building {
    described: Described,
    /// Nodes by name.
    nodes: HashMap<String, usize>,
    /// The nodes of every named subgraph, which may be opened again.
    groups: HashMap<String, Vec<usize>>,
    n_group_edges: u64,
}

/// What holds inside a pair of braces.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// Attributes of nodes that are made from here on.
    pub(super) node_defaults: Rc<Fields>,
    /// The nodes named so far.
    pub(super) members: Vec<usize>,
}

impl Building {
    pub(super) fn new(name: Option<String>) -> Building {
        Building { described: Described { name, ..Described::default() }, ..Building::default() }
    }

    /// The node of a name, made if there is none.
    pub(super) fn node(&mut self, name: String, scope: &mut Scope) -> usize {
        let next = self.described.nodes.len();
        let node = *self.nodes.entry(name.clone()).or_insert(next);
        if node == next {
            let defaults = Rc::clone(&scope.node_defaults);
            self.described.nodes.push(Node { name, fields: Fields::new(), defaults });
        }
        scope.members.push(node);
        node
    }

    /// Sets attributes of a node.
    pub(super) fn set_node(&mut self, node: usize, fields: Fields) -> Result<(), Error> {
        set(&mut self.described.nodes[node].fields, fields, MAX_FIELDS)
    }

    /// Sets attributes of the graph.
    pub(super) fn set_graph(&mut self, fields: Fields) -> Result<(), Error> {
        set(&mut self.described.fields, fields, MAX_FIELDS)
    }

    /// Notes attributes of edges.
    pub(super) fn set_edges(&mut self, fields: Fields) {
        self.described.edge_fields.extend(fields.into_iter().map(|(key, _)| key));
    }

    /// Adds the edges from every node of one group to every node of another.
    pub(super) fn connect(&mut self, from: &[usize], to: &[usize]) -> Result<(), Error> {
        if from.len() > 1 || to.len() > 1 {
            self.count(from.len() as u64 * to.len() as u64)?;
        }
        self.described.edges.extend(from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to))));
        Ok(())
    }

    /// Adds nodes to a named subgraph, and returns all that it has.
    pub(super) fn reopen(&mut self, name: String, nodes: Vec<usize>) -> Result<Vec<usize>, Error> {
        let known = self.groups.remove(&name).unwrap_or_default();
        self.count(known.len() as u64)?;
        let all = distinct([known, nodes].concat());
        self.groups.insert(name, all.clone());
        Ok(all)
    }

    fn count(&mut self, n_more: u64) -> Result<(), Error> {
        self.n_group_edges = self.n_group_edges.saturating_add(n_more);
        match self.n_group_edges > MAX_GROUP_EDGES {
            false => Ok(()),
            true => Err(Error::TooMuch {
                what: "edges by groups",
                max: MAX_GROUP_EDGES,
                remedy: "write the edges out, or split the graph",
            }),
        }
    }

    /// The whole graph; a strict one keeps each edge once.
    pub(super) fn finish(mut self, is_strict: bool) -> Described {
        if is_strict {
            let mut seen = HashSet::new();
            self.described.edges.retain(|edge| seen.insert(*edge));
        }
        self.described
    }
}

/// The nodes of a group, each once, in their order.
pub(super) fn distinct(mut nodes: Vec<usize>) -> Vec<usize> {
    let mut seen = HashSet::new();
    nodes.retain(|node| seen.insert(*node));
    nodes
}

/// Sets attributes; the last value holds.
pub(super) fn set(fields: &mut Fields, new: Fields, max: usize) -> Result<(), Error> {
    for (key, value) in new {
        match fields.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => fields.push((key, value)),
        }
        if fields.len() > max {
            return Err(Error::TooMuch { what: "attributes", max: max as u64, remedy: "leave some of them out" });
        }
    }
    Ok(())
}
