//! [`Building`]: a graph of GraphML while it is read, and [`Keys`], the names of its attributes.

use std::collections::HashMap;
use std::rc::Rc;

use crate::collector::{Described, Fields, Node};
use crate::error::{Error, shortened};

/// The keys of a document.
#[derive(Default)]
pub(super) struct Keys {
    by_id: HashMap<String, String>,
    node_defaults: Rc<Fields>,
    graph_defaults: Fields,
}

/// A key while it is read.
pub(super) struct Key {
    pub(super) id: String,
    pub(super) name: String,
    /// `node`, `graph`, `edge`, `all` and others.
    pub(super) owner: String,
    pub(super) default: Option<String>,
}

impl Keys {
    pub(super) fn add(&mut self, key: Key) -> Result<(), Error> {
        if let Some(default) = key.default {
            let field = (key.name.clone(), Some(default));
            if ["node", "all"].contains(&key.owner.as_str()) {
                Rc::make_mut(&mut self.node_defaults).push(field.clone());
            }
            if ["graph", "all"].contains(&key.owner.as_str()) {
                self.graph_defaults.push(field);
            }
        }
        match self.by_id.insert(key.id.clone(), key.name) {
            None => Ok(()),
            Some(_) => Err(Error::expected("keys with different ids", format!("key '{}' twice", shortened(&key.id)))),
        }
    }

    pub(super) fn name(&self, id: &str) -> Result<String, Error> {
        self.by_id.get(id).cloned().ok_or_else(|| Error::syntax("data of a key that is declared before", id))
    }
}

/// What data belong to.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    Graph,
    Node(usize),
    Edge,
}

/// A graph while it is read. An edge may come before its nodes.
#[derive(Default)]
pub(super) struct Building {
    described: Described,
    nodes: HashMap<String, usize>,
    edges: Vec<(String, String)>,
}

impl Building {
    pub(super) fn new(name: Option<String>) -> Building {
        Building { described: Described { name, ..Described::default() }, ..Building::default() }
    }

    pub(super) fn node(&mut self, name: String, keys: &Keys) -> Result<Owner, Error> {
        let node = self.described.nodes.len();
        if self.nodes.insert(name.clone(), node).is_some() {
            return Err(Error::DuplicateNode { node: shortened(&name) });
        }
        let defaults = Rc::clone(&keys.node_defaults);
        self.described.nodes.push(Node { name, fields: Fields::new(), defaults });
        Ok(Owner::Node(node))
    }

    pub(super) fn edge(&mut self, from: String, to: String) {
        self.edges.push((from, to));
    }

    pub(super) fn data(&mut self, owner: Owner, name: String, text: String) {
        match owner {
            Owner::Graph => self.described.fields.push((name, Some(text))),
            Owner::Node(node) => self.described.nodes[node].fields.push((name, Some(text))),
            Owner::Edge => drop(self.described.edge_fields.insert(name)),
        }
    }

    pub(super) fn finish(self, keys: &Keys) -> Result<Described, Error> {
        let Building { mut described, nodes, edges } = self;
        for (from, to) in &edges {
            let place = |name: &String| {
                nodes.get(name).copied().ok_or_else(|| Error::DanglingEdge {
                    from: shortened(from),
                    to: shortened(to),
                    missing: shortened(name),
                })
            };
            described.edges.push((place(from)?, place(to)?));
        }
        // Behind the graph's own, as the first of a name is taken.
        described.fields.extend(keys.graph_defaults.iter().cloned());
        Ok(described)
    }
}
