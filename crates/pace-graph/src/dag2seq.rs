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
use crate::dag::{Dag, Op};
use crate::error::Error;

/// The sequence of a DAG: per position an operation and a set of earlier positions.
///
/// Equality, order and hash are those of isomorphism classes, so a sequence serves as the key of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<RawItem>", into = "Vec<RawItem>")]
pub struct Sequence {
    ops: Vec<Op>,
    /// The predecessors of position `j` are `predecessors[offsets[j]..offsets[j + 1]]`, ascending.
    offsets: Vec<u32>,
    predecessors: Vec<u32>,
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

    /// The item at `index`.
    pub fn item(&self, index: usize) -> Item<'_> {
        let (start, end) = (self.offsets[index] as usize, self.offsets[index + 1] as usize);
        Item { index, op: self.ops[index], predecessors: &self.predecessors[start..end] }
    }

    /// All items in order.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Item<'_>> {
        (0..self.len()).map(|index| self.item(index))
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
        let mut position = vec![u32::MAX; order.len()];
        let mut sequence = Sequence {
            ops: Vec::with_capacity(order.len()),
            offsets: Vec::with_capacity(order.len() + 1),
            predecessors: Vec::with_capacity(dag.n_edges()),
        };
        sequence.offsets.push(0);
        for (index, &node) in order.iter().enumerate() {
            let start = sequence.predecessors.len();
            sequence.ops.push(dag.op(node));
            sequence.predecessors.extend(dag.predecessors(node).map(|source| position[source]));
            let own = &mut sequence.predecessors[start..];
            own.sort_unstable();
            assert!(own.last() != Some(&u32::MAX), "node {node} stands before one of its predecessors");
            sequence.offsets.push(sequence.predecessors.len() as u32);
            position[node] = index as u32;
        }
        sequence
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
    let edges =
        sequence.items().flat_map(|item| item.predecessors.iter().map(move |&source| (source as usize, item.index)));
    Dag::new(sequence.ops.clone(), edges).expect("a sequence only points backwards, once per predecessor")
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
        Ok(Sequence::in_order(&dag, &(0..dag.n_nodes()).collect::<Vec<_>>()))
    }
}

impl From<Sequence> for Vec<RawItem> {
    fn from(sequence: Sequence) -> Vec<RawItem> {
        sequence.items().map(|item| RawItem { op: item.op, predecessors: item.predecessors.to_vec() }).collect()
    }
}
