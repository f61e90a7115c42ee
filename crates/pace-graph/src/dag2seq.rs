//! dag2seq: a DAG as the sequence of its canonical form, losslessly (Theorem 3.1), and back.
//!
//! Position `j` of the sequence carries the operation of the node with canonical index `j` and the canonical indices of
//! its direct predecessors: exactly what equations (1) and (2) feed to `Agg` and `Combine`,
//!
//! ```text
//! a_j = Agg({ pi(i) : (i, j) in E })      p_j = Combine(pi(j), a_j)
//! ```
//!
//! The map is injective on isomorphism classes: two DAGs give the same [`Sequence`] iff they are isomorphic.

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use crate::canon::canonical_order;
use crate::csr::Csr;
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::structure::{Mask, MaskRule, sequence_mask};

/// Up to so many nodes, making a sequence needs no memory besides its own.
const STACK_NODES: usize = 64;

/// The sequence of a DAG: per position an operation and a set of earlier positions.
///
/// Two canonical sequences are equal iff their graphs are isomorphic; [`GraphKey`](crate::GraphKey) is the compact form to
/// keep in maps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<RawItem>", into = "Vec<RawItem>")]
pub struct Sequence {
    ops: Vec<Op>,
    /// Per position the positions of the direct predecessors, ascending.
    predecessors: Csr<u32>,
}

/// One position of a [`Sequence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The canonical index, `pi(j)`; also the position.
    pub index: usize,
    /// The operation `o(j)`.
    pub op: Op,
    /// Canonical indices of the direct predecessors, ascending, all below `index`.
    pub predecessors: &'a [u32],
}

/// The serde form of one position.
#[derive(Serialize, Deserialize)]
struct RawItem {
    op: Op,
    predecessors: Vec<u32>,
}

impl Sequence {
    /// Number of positions, the paper's n.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Never true: a DAG has at least one node.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The operations by position.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.predecessors.n_items()
    }

    /// The direct predecessors of every position, ascending and all before it.
    pub fn predecessors(&self) -> &Csr<u32> {
        &self.predecessors
    }

    /// The direct successors of every position, ascending and all after it. O(n + m).
    pub fn successors(&self) -> Csr<u32> {
        Csr::from_pairs(self.len(), self.edges().map(|(from, to)| (from, to as u32)))
    }

    /// The edges as positions `(from, to)`, ascending by `to`, then by `from`.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + Clone + '_ {
        let into = |to: usize| self.predecessors.row(to).iter().map(move |&from| (from as usize, to));
        (0..self.len()).flat_map(into)
    }

    /// The item at `index`.
    pub fn item(&self, index: usize) -> Item<'_> {
        Item { index, op: self.ops[index], predecessors: self.predecessors.row(index) }
    }

    /// All items in order.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Item<'_>> {
        (0..self.len()).map(|index| self.item(index))
    }

    /// The attention mask between positions. O(n m / 64), without going back to a graph.
    ///
    /// ```
    /// use pace_graph::{Dag, canonical, dag2seq, structure::{MaskRule, mask}};
    /// let dag: Dag = "1 3 0 2 : 2>3 2>1 3>0 1>0".parse()?;
    /// assert_eq!(dag2seq(&dag).mask(MaskRule::PACE), mask(&canonical(&dag), MaskRule::PACE));
    /// # Ok::<(), pace_graph::Error>(())
    /// ```
    pub fn mask(&self, rule: MaskRule) -> Mask {
        sequence_mask(self, rule)
    }

    /// The sequence of a DAG whose nodes are taken in the given order, which must be topological.
    ///
    /// For datasets that come with an order of their own (ASTs in DFS order, generation order of a decoder): canonical
    /// only if the order is.
    ///
    /// # Panics
    /// If `order` is not a topological order of the nodes.
    pub fn in_order(dag: &Dag, order: &[usize]) -> Sequence {
        assert_eq!(order.len(), dag.n_nodes(), "an order names every node once");
        let (mut few, mut many) = ([u32::MAX; STACK_NODES], Vec::new());
        let position = if order.len() <= STACK_NODES {
            &mut few[..order.len()]
        } else {
            many.resize(order.len(), u32::MAX);
            &mut many[..]
        };
        let mut sequence = Sequence::with_capacity(order.len(), dag.n_edges());
        for (index, &node) in order.iter().enumerate() {
            let own = sequence.push(dag.op(node), dag.predecessors(node).map(|source| position[source]));
            own.sort_unstable();
            assert!(own.last() != Some(&u32::MAX), "node {node} stands before one of its predecessors");
            position[node] = index as u32;
        }
        sequence
    }

    /// The sequence of a DAG in the order in which its nodes are stored.
    ///
    /// # Panics
    /// If that is not a topological order.
    pub fn as_stored(dag: &Dag) -> Sequence {
        assert!(dag.is_topologically_numbered(), "a stored order must be topological: {dag}");
        let mut sequence = Sequence::with_capacity(dag.n_nodes(), dag.n_edges());
        for (node, op) in dag.ops().enumerate() {
            sequence.push(op, dag.predecessors(node).map(|source| source as u32));
        }
        sequence
    }

    /// No positions yet, and room for some.
    pub(crate) fn with_capacity(n_nodes: usize, n_edges: usize) -> Sequence {
        Sequence { ops: Vec::with_capacity(n_nodes), predecessors: Csr::with_capacity(n_nodes, n_edges) }
    }

    /// Adds a position; the caller sees to it that its predecessors are earlier ones and end up ascending.
    pub(crate) fn push(&mut self, op: Op, predecessors: impl IntoIterator<Item = u32>) -> &mut [u32] {
        self.ops.push(op);
        self.predecessors.push_row(predecessors)
    }
}

/// The canonical sequence of a DAG.
///
/// ```
/// use pace_graph::{Dag, dag2seq, seq2dag, canonical};
/// let one: Dag = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?;
/// let same: Dag = "1 3 0 2 : 2>3 2>1 3>0 1>0".parse()?; // renumbered
/// let sequence = dag2seq(&one);
/// assert_eq!(sequence, dag2seq(&same));
/// assert_eq!(sequence.item(3).predecessors, [1, 2]);
/// assert_eq!(seq2dag(&sequence), canonical(&one));
/// # Ok::<(), pace_graph::Error>(())
/// ```
pub fn dag2seq(dag: &Dag) -> Sequence {
    Sequence::in_order(dag, &canonical_order(dag))
}

/// [`dag2seq`] of many graphs, in parallel on rayon's pool, order kept.
pub fn dag2seq_all(dags: &[Dag]) -> Vec<Sequence> {
    dags.par_iter().map(dag2seq).collect()
}

/// The DAG of a sequence: `seq2dag(&dag2seq(&g)) == canonical(&g)`.
pub fn seq2dag(sequence: &Sequence) -> Dag {
    Dag::new(sequence.ops.clone(), sequence.edges()).expect("a sequence only points backwards, once per predecessor")
}

impl TryFrom<Vec<RawItem>> for Sequence {
    type Error = Error;

    fn try_from(items: Vec<RawItem>) -> Result<Sequence, Error> {
        let edges = items
            .iter()
            .enumerate()
            .flat_map(|(index, item)| item.predecessors.iter().map(move |&source| (source as usize, index)));
        let dag = Dag::new(items.iter().map(|item| item.op).collect(), edges)?;
        if let Some((from, to)) = dag.edges().find(|(from, to)| from > to) {
            return Err(Error::syntax(format!("position {to} to name earlier positions only"), &from.to_string()));
        }
        Ok(Sequence::as_stored(&dag))
    }
}

impl From<Sequence> for Vec<RawItem> {
    fn from(sequence: Sequence) -> Vec<RawItem> {
        sequence.items().map(|item| RawItem { op: item.op, predecessors: item.predecessors.to_vec() }).collect()
    }
}
