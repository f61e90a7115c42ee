//! [`Dag`]: a labelled directed acyclic graph that cannot be cyclic, doubled or dangling.

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// An operation: an index into the dictionary of a [`DagSpec`](crate::DagSpec). The paper's `o(v)`.
pub type Op = u16;

/// A labelled DAG `G = (V, E, o)` on petgraph.
///
/// Every value of this type is acyclic, has at least one node, no self loop and no double edge: [`Dag::new`] is the only
/// way in, and nothing mutates a graph afterwards. Nodes are `0..n_nodes()`; edges are kept sorted, so `==` compares
/// labelled graphs. To compare isomorphism classes, compare [`GraphKey`](crate::GraphKey)s.
///
/// The one-line text form lists the operations, then the edges:
///
/// ```
/// let dag: pace_graph::Dag = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?;
/// assert_eq!(dag.n_nodes(), 4);
/// assert_eq!(dag.predecessors(3).collect::<Vec<_>>(), [1, 2]);
/// assert_eq!(dag.to_string(), "0 2 3 1 : 0>1 0>2 1>3 2>3");
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "RawDag", into = "RawDag")]
pub struct Dag {
    graph: DiGraph<Op, (), u32>,
}

/// The serde form of a [`Dag`]; checked on the way in.
#[derive(Serialize, Deserialize)]
struct RawDag {
    ops: Vec<Op>,
    edges: Vec<(usize, usize)>,
}

impl TryFrom<RawDag> for Dag {
    type Error = Error;

    fn try_from(raw: RawDag) -> Result<Dag, Error> {
        Dag::new(raw.ops, raw.edges)
    }
}

impl From<Dag> for RawDag {
    fn from(dag: Dag) -> RawDag {
        RawDag { ops: dag.ops().collect(), edges: dag.edges().collect() }
    }
}

impl Dag {
    /// Checks and builds a DAG from the operation of each node and the edges `(from, to)`, in any order.
    ///
    /// O(n + m log m). An edge list in which every edge goes from a lower to a higher index needs no cycle search.
    pub fn new(ops: Vec<Op>, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Dag, Error> {
        let n_nodes = ops.len();
        if n_nodes == 0 {
            return Err(Error::NoNodes);
        }
        let mut edges: Vec<(usize, usize)> = edges.into_iter().collect();
        for &(from, to) in &edges {
            if from >= n_nodes || to >= n_nodes {
                return Err(Error::EdgeOutOfRange { from, to, n_nodes });
            }
            if from == to {
                return Err(Error::SelfLoop { node: from });
            }
        }
        edges.sort_unstable();
        if let Some(pair) = edges.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::DuplicateEdge { from: pair[0].0, to: pair[0].1 });
        }
        let dag = Dag::from_sorted(&ops, &edges);
        if edges.iter().any(|&(from, to)| from > to) {
            petgraph::algo::toposort(&dag.graph, None)
                .map_err(|cycle| Error::Cycle { node: cycle.node_id().index() })?;
        }
        Ok(dag)
    }

    /// Takes a petgraph graph after the checks of [`Dag::new`].
    pub fn from_graph(graph: &DiGraph<Op, ()>) -> Result<Dag, Error> {
        let edges = graph.raw_edges().iter().map(|edge| (edge.source().index(), edge.target().index()));
        Dag::new(graph.node_weights().copied().collect(), edges)
    }

    /// Builds from edges that are already checked and sorted.
    fn from_sorted(ops: &[Op], edges: &[(usize, usize)]) -> Dag {
        let mut graph = DiGraph::with_capacity(ops.len(), edges.len());
        for &op in ops {
            graph.add_node(op);
        }
        // petgraph walks neighbours in reverse order of insertion: inserting backwards makes every walk ascending.
        for &(from, to) in edges.iter().rev() {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        }
        Dag { graph }
    }

    /// The graph underneath, for petgraph's algorithms.
    pub fn graph(&self) -> &DiGraph<Op, (), u32> {
        &self.graph
    }

    /// |V|.
    pub fn n_nodes(&self) -> usize {
        self.graph.node_count()
    }

    /// |E|.
    pub fn n_edges(&self) -> usize {
        self.graph.edge_count()
    }

    /// The operation o(v).
    pub fn op(&self, node: usize) -> Op {
        self.graph[NodeIndex::new(node)]
    }

    /// The operations of nodes `0..n_nodes()`.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = Op> + '_ {
        self.graph.raw_nodes().iter().map(|node| node.weight)
    }

    /// The edges `(from, to)`, ascending.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        self.graph.raw_edges().iter().rev().map(|edge| (edge.source().index(), edge.target().index()))
    }

    /// Direct predecessors of `node`, ascending.
    pub fn predecessors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.neighbours(node, Direction::Incoming)
    }

    /// Direct successors of `node`, ascending.
    pub fn successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.neighbours(node, Direction::Outgoing)
    }

    fn neighbours(&self, node: usize, direction: Direction) -> impl Iterator<Item = usize> + '_ {
        self.graph.neighbors_directed(NodeIndex::new(node), direction).map(NodeIndex::index)
    }

    /// Whether the edge `from -> to` exists.
    pub fn has_edge(&self, from: usize, to: usize) -> bool {
        self.predecessors(to).any(|source| source == from)
    }

    /// Nodes without predecessors, ascending.
    pub fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        self.graph.externals(Direction::Incoming).map(NodeIndex::index)
    }

    /// Nodes without successors, ascending.
    pub fn sinks(&self) -> impl Iterator<Item = usize> + '_ {
        self.graph.externals(Direction::Outgoing).map(NodeIndex::index)
    }

    /// Whether `0..n_nodes()` is already a topological order.
    pub fn is_topologically_numbered(&self) -> bool {
        self.graph.raw_edges().iter().all(|edge| edge.source() < edge.target())
    }

    /// The same graph with node `order[i]` renamed to `i`.
    ///
    /// # Panics
    /// If `order` is not a permutation of the nodes.
    pub fn relabel(&self, order: &[usize]) -> Dag {
        assert_eq!(order.len(), self.n_nodes(), "an order names every node once");
        let mut position = vec![usize::MAX; order.len()];
        for (index, &node) in order.iter().enumerate() {
            assert_eq!(position[node], usize::MAX, "node {node} stands twice in the order");
            position[node] = index;
        }
        let ops: Vec<Op> = order.iter().map(|&node| self.op(node)).collect();
        let mut edges: Vec<_> = self.edges().map(|(from, to)| (position[from], position[to])).collect();
        edges.sort_unstable();
        Dag::from_sorted(&ops, &edges)
    }

    /// Adds a virtual output node after all others, fed by every node without successors.
    ///
    /// The paper assumes a single output node and adds this one to DAGs with several sinks (section 3.3).
    pub fn with_virtual_output(&self, output: Op) -> Dag {
        let new = self.n_nodes();
        let ops: Vec<Op> = self.ops().chain([output]).collect();
        let mut edges: Vec<_> = self.edges().chain(self.sinks().map(|sink| (sink, new))).collect();
        edges.sort_unstable();
        Dag::from_sorted(&ops, &edges)
    }

    /// Adds a virtual input node before all others, feeding every node without predecessors. All nodes move up by one.
    ///
    /// With the paper's start symbol as `input` (appendix D) this is the graph that PACE-VAE sees.
    pub fn with_virtual_input(&self, input: Op) -> Dag {
        let ops: Vec<Op> = [input].into_iter().chain(self.ops()).collect();
        let mut edges: Vec<_> = self.sources().map(|source| (0, source + 1)).collect();
        edges.extend(self.edges().map(|(from, to)| (from + 1, to + 1)));
        Dag::from_sorted(&ops, &edges)
    }

    /// The same graph with every operation mapped, e.g. shifted to make room for virtual ones.
    pub fn map_ops(&self, map: impl Fn(Op) -> Op) -> Dag {
        Dag { graph: self.graph.map(|_, &op| map(op), |_, ()| ()) }
    }
}

impl PartialEq for Dag {
    fn eq(&self, other: &Dag) -> bool {
        self.ops().eq(other.ops()) && self.edges().eq(other.edges())
    }
}

impl Eq for Dag {}

impl std::hash::Hash for Dag {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_usize(self.n_nodes());
        self.ops().for_each(|op| op.hash(state));
        self.edges().for_each(|edge| edge.hash(state));
    }
}
