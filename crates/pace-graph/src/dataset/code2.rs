//! OGBG-CODE2: abstract syntax trees of Python functions, in the raw folder layout of the Open Graph Benchmark.
//!
//! ```text
//! raw/num-node-list.csv        nodes of each graph            raw/node-feat.csv            type,attribute per node
//! raw/num-edge-list.csv        edges of each graph            raw/node_is_attributed.csv   0 or 1 per node
//! raw/edge.csv                 parent,child per edge          raw/node_dfs_order.csv       number per node
//! raw/graph-label.csv          sub-tokens of the name         raw/node_depth.csv           number per node
//! mapping/typeidx2type.csv     index,name (with header)       split/project/train.csv      graph numbers, one per line
//! ```
//!
//! All are gzipped; only the mappings have a header. The files are read side by side, one graph at a time, so the half
//! million trees need not fit in memory.

use std::io::BufRead;

use super::Progress;
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::input::row_file::RowFile;
use crate::input::{BELOW_HEADER, csv, not_empty};
use crate::spec::DagSpec;

/// One function as a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Ast {
    /// The tree; operations are node types.
    pub dag: Dag,
    /// Attribute index of each node.
    pub attributes: Vec<u32>,
    /// Whether each node has an attribute of its own (a name, a number, a string).
    pub is_attributed: Vec<bool>,
    /// Position of each node in the depth-first walk.
    pub dfs_order: Vec<u32>,
    /// Ancestors of each node.
    pub depths: Vec<u32>,
    /// Sub-tokens of the function's name: what is to be predicted.
    pub label: Vec<String>,
}

impl Ast {
    /// The next-token edges of OGB and DAGNN: from each attributed node to the next one in depth-first order.
    ///
    /// Some repeat an edge of the tree. Together with the tree they stay acyclic, since both go from a lower to a higher
    /// position in the walk.
    pub fn next_token_edges(&self) -> Vec<(usize, usize)> {
        let mut tokens: Vec<usize> = (0..self.dag.n_nodes()).filter(|&node| self.is_attributed[node]).collect();
        tokens.sort_by_key(|&node| self.dfs_order[node]);
        tokens.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

/// An iterator over the graphs of the folder, in file order. After an error it ends.
pub struct Code2<'a> {
    spec: DagSpec,
    n_nodes: RowFile<'a>,
    n_edges: RowFile<'a>,
    edges: RowFile<'a>,
    features: RowFile<'a>,
    is_attributed: RowFile<'a>,
    dfs_order: RowFile<'a>,
    depths: RowFile<'a>,
    labels: RowFile<'a>,
    graph: usize,
    finished: bool,
}

impl<'a> Code2<'a> {
    /// Opens the raw files; `open` gets names such as `raw/edge.csv` and returns their decompressed content
    /// (`|file| data_dir.open("code2", file)`). `types` is the dictionary, from [`read_mapping`].
    pub fn open(
        types: Vec<String>,
        mut open: impl FnMut(&str) -> Result<Box<dyn BufRead + Send + 'a>, Error>,
    ) -> Result<Code2<'a>, Error> {
        let mut file = |name: &str| {
            let name = format!("raw/{name}.csv");
            Ok::<_, Error>(RowFile::new(open(&name)?, &name))
        };
        Ok(Code2 {
            spec: DagSpec::ast(types),
            n_nodes: file("num-node-list")?,
            n_edges: file("num-edge-list")?,
            edges: file("edge")?,
            features: file("node-feat")?,
            is_attributed: file("node_is_attributed")?,
            dfs_order: file("node_dfs_order")?,
            depths: file("node_depth")?,
            labels: file("graph-label")?,
            graph: 0,
            finished: false,
        })
    }

    /// The spec of the trees. Set its `max_nodes` to refuse larger ones.
    pub fn spec_mut(&mut self) -> &mut DagSpec {
        &mut self.spec
    }

    /// How far the reading has come.
    pub fn progress(&self) -> Progress {
        let files = [&self.n_nodes, &self.n_edges, &self.edges, &self.features];
        let more = [&self.is_attributed, &self.dfs_order, &self.depths, &self.labels];
        Progress { rows: self.graph, bytes: files.into_iter().chain(more).map(RowFile::bytes).sum() }
    }

    fn read_graph(&mut self) -> Result<Option<Ast>, Error> {
        let Some(n_nodes) = self.n_nodes.next(false)?.map(|text| number(text, "a number of nodes")) else {
            self.finish()?;
            return Ok(None);
        };
        let n_nodes: usize = n_nodes.map_err(|reason| self.n_nodes.at(reason))?;
        self.graph += 1;
        if n_nodes == 0 || n_nodes > self.spec.max_nodes {
            let reason = match n_nodes {
                0 => Error::NoNodes,
                _ => Error::TooManyNodes { n_nodes, max_nodes: self.spec.max_nodes, spec: self.spec.name.clone() },
            };
            return Err(self.n_nodes.at(reason));
        }
        let graph = self.graph;
        let wanted = || format!("graph {graph} needs more rows");
        let n_edges: usize = self.n_edges.parse(wanted, |text| number(text, "a number of edges"))?;
        let (mut ops, mut attributes) = (Vec::new(), Vec::new());
        let (mut is_attributed, mut dfs_order, mut depths) = (Vec::new(), Vec::new(), Vec::new());
        for node in 0..n_nodes {
            let (op, attribute) = self.features.parse(wanted, |text| feature(&self.spec, node, text))?;
            ops.push(op);
            attributes.push(attribute);
            is_attributed.push(self.is_attributed.parse(wanted, bit)?);
            dfs_order.push(self.dfs_order.parse(wanted, |text| number(text, "a place in the walk"))?);
            depths.push(self.depths.parse(wanted, |text| number(text, "a depth"))?);
        }
        let mut edges = Vec::new();
        for _ in 0..n_edges {
            edges.push(self.edges.parse(wanted, |text| edge(text, n_nodes))?);
        }
        // What only the whole graph shows is reported at its last edge.
        let dag = Dag::new(ops, edges).and_then(|dag| self.spec.validate(&dag).map(|()| dag));
        let dag = dag.map_err(|reason| self.edges.at(reason))?;
        let tokens = |text: &str| Ok(text.split_whitespace().map(str::to_owned).collect());
        let label = self.labels.parse(wanted, tokens)?;
        Ok(Some(Ast { dag, attributes, is_attributed, dfs_order, depths, label }))
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.graph == 0 {
            return Err(Error::EmptyDataset { file: "raw/num-node-list.csv".to_owned(), hint: String::new() });
        }
        self.n_edges.end()?;
        self.edges.end()?;
        self.features.end()?;
        self.is_attributed.end()?;
        self.dfs_order.end()?;
        self.depths.end()?;
        self.labels.end()
    }
}

impl Iterator for Code2<'_> {
    type Item = Result<Ast, Error>;

    fn next(&mut self) -> Option<Result<Ast, Error>> {
        if self.finished {
            return None;
        }
        let graph = self.read_graph().transpose();
        self.finished = !matches!(graph, Some(Ok(_)));
        graph
    }
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Error> {
    text.trim().parse().map_err(|_| Error::syntax(what, text))
}

fn bit(text: &str) -> Result<bool, Error> {
    match text.trim() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(Error::syntax("0 or 1", text)),
    }
}

fn feature(spec: &DagSpec, node: usize, text: &str) -> Result<(Op, u32), Error> {
    let (op, attribute) = text.split_once(',').ok_or_else(|| Error::syntax("type,attribute", text))?;
    let op: usize = number(op, "a node type")?;
    let known = Op::try_from(op).ok().filter(|_| op < spec.n_ops());
    Ok((known.ok_or_else(|| spec.unknown_op(node, op.to_string()))?, number(attribute, "an attribute")?))
}

fn edge(text: &str, n_nodes: usize) -> Result<(usize, usize), Error> {
    let (from, to) = text.split_once(',').ok_or_else(|| Error::syntax("parent,child", text))?;
    let (from, to) = (number(from, "a parent")?, number(to, "a child")?);
    if from >= n_nodes || to >= n_nodes {
        return Err(Error::EdgeOutOfRange { from, to, n_nodes });
    }
    if from == to { Err(Error::SelfLoop { node: from }) } else { Ok((from, to)) }
}

/// Reads a mapping file (`typeidx2type.csv`, `attridx2attr.csv`): a header, then `index,name` in order. Names may hold
/// commas, quotes and line breaks inside quotes.
pub fn read_mapping(reader: Box<dyn BufRead + Send + '_>, file: &str) -> Result<Vec<String>, Error> {
    let mut rows = RowFile::new(reader, file);
    let mut names = Vec::new();
    rows.next(true)?;
    while let Some(record) = rows.next(true)?.map(|text| csv::exactly(text, "index,name")) {
        let [index, name]: [String; 2] = record.map_err(|reason| rows.at(reason))?;
        if number::<usize>(&index, "an index").map_err(|reason| rows.at(reason))? != names.len() {
            return Err(rows.at(Error::syntax(format!("index {}", names.len()), &index)));
        }
        names.push(name);
    }
    not_empty(names, file, BELOW_HEADER)
}

/// Reads a split file (`split/project/train.csv`): graph numbers below `n_graphs`, one per line.
pub fn read_split(reader: Box<dyn BufRead + Send + '_>, file: &str, n_graphs: usize) -> Result<Vec<usize>, Error> {
    let mut rows = RowFile::new(reader, file);
    let mut graphs = Vec::new();
    while let Some(graph) = rows.next(false)?.map(|text| number(text, "a graph number")) {
        let graph: usize = graph.map_err(|reason| rows.at(reason))?;
        if graph >= n_graphs {
            return Err(rows.at(Error::syntax(format!("a graph number below {n_graphs}"), &graph.to_string())));
        }
        graphs.push(graph);
    }
    Ok(graphs)
}
