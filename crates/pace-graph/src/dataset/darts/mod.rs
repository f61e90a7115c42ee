//! DARTS cells: genotypes, their 15-node graphs, and the NAS-Bench-301 lists.
//!
//! A cell has two inputs (c_{k-2}, c_{k-1}) and four intermediate nodes; each adds two operations on earlier states, and
//! the output joins the four. In the graph the operations are nodes (reference code, `gen_json_darts.py`):
//!
//! ```text
//! 0 c_k-2   1 c_k-1   2,3 ops -> 4 sum   5,6 -> 7   8,9 -> 10   11,12 -> 13   4,7,10,13 -> 14 output
//! ```
//!
//! Within a pair the entries are swapped: entry 2i+1 of the genotype is the lower node. Embeddings of canonical graphs do
//! not see the swap; it is kept so that graphs equal those of the reference, node by node.

use super::{Dataset, Sample};
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::spec::DagSpec;
use crate::structure::topological_order;

mod archs;
mod genotypes;
mod pairs;
mod text;

pub use archs::DartsArchs;
pub use genotypes::DartsGenotypes;
pub use pairs::DartsPairs;

/// Operations of [`DagSpec::darts`]: the first one that a genotype can choose.
const FIRST_OP: Op = 2;
/// How many a genotype can choose from; NASLib's compact form numbers them from 0.
const N_OPS: Op = 7;
const SUM: Op = 9;
const OUTPUT: Op = 10;

/// One entry of a genotype: an operation and the state it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DartsEdge {
    /// Operation 2..=8 of [`DagSpec::darts`].
    pub op: Op,
    /// State: 0 is c_{k-2}, 1 is c_{k-1}, 2..=4 the intermediate nodes before.
    pub input: usize,
}

/// A cell: entries 2i and 2i+1 feed intermediate node i.
///
/// The two inputs of a node may be equal: NAS-Bench-301 never has that, published genotypes of other searches do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DartsCell {
    edges: [DartsEdge; 8],
}

/// A normal and a reduction cell.
///
/// ```
/// let text = "[[(0, 0), (1, 5), (1, 1), (0, 1), (1, 3), (0, 3), (1, 3), (3, 2)], \
///              [(1, 0), (0, 2), (1, 3), (0, 3), (3, 0), (0, 1), (2, 0), (3, 6)]]";
/// let genotype: pace_graph::dataset::Genotype = text.parse()?;
/// assert!(genotype.to_string().starts_with("Genotype(normal=[('max_pool_3x3', 0), ('dil_conv_3x3', 1), "));
/// assert_eq!(genotype.compact(), text);
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Genotype {
    /// The cell that keeps the resolution; the one that PACE encodes.
    pub normal: DartsCell,
    /// The cell that halves it.
    pub reduce: DartsCell,
}

/// One architecture of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct DartsRecord {
    /// The architecture.
    pub genotype: Genotype,
    /// Measured or published accuracy in percent, if the list has one.
    pub accuracy: Option<f64>,
    /// A surrogate's prediction in percent, if the list has one.
    pub predicted: Option<f64>,
    /// Its key in the list, if it has one.
    pub key: Option<String>,
}

impl DartsCell {
    /// Checks operations, and that each input comes before the node that reads it.
    pub fn new(edges: [DartsEdge; 8]) -> Result<DartsCell, Error> {
        for (entry, edge) in edges.iter().enumerate() {
            if !(FIRST_OP..FIRST_OP + N_OPS).contains(&edge.op) {
                return Err(DagSpec::darts().unknown_op(entry, edge.op.to_string()));
            }
            let n_states = entry / 2 + 2;
            if edge.input >= n_states {
                let rule = format!(
                    "entry {entry} reads state {}, but only states 0..{n_states} come before its node; correct it",
                    edge.input
                );
                return Err(Error::Rule { spec: "darts".to_owned(), rule });
            }
        }
        Ok(DartsCell { edges })
    }

    /// The eight entries.
    pub fn edges(&self) -> &[DartsEdge; 8] {
        &self.edges
    }

    /// The 15-node graph of the cell, numbered as in the reference code.
    pub fn to_dag(&self) -> Dag {
        let state = |input: usize| if input < 2 { input } else { 3 * input - 2 };
        let (mut ops, mut edges) = (vec![0, 1], Vec::with_capacity(20));
        for (node, pair) in self.edges.chunks_exact(2).enumerate() {
            let first = 3 * node + 2;
            ops.extend([pair[1].op, pair[0].op, SUM]);
            edges.extend([(state(pair[1].input), first), (state(pair[0].input), first + 1)]);
            edges.extend([(first, first + 2), (first + 1, first + 2), (first + 2, 14)]);
        }
        ops.push(OUTPUT);
        Dag::new(ops, edges).expect("every input comes before its node")
    }

    /// The cell of a graph that satisfies [`DagSpec::darts`], numbered in any way.
    ///
    /// Intermediate nodes are taken in topological order, the pairs by node number, so `to_dag` is undone exactly.
    pub fn from_dag(dag: &Dag) -> Result<DartsCell, Error> {
        DagSpec::darts().validate(dag)?;
        let order = topological_order(dag);
        let sums: Vec<usize> = order.into_iter().filter(|&node| dag.op(node) == SUM).collect();
        let state = |node: usize| match sums.iter().position(|&sum| sum == node) {
            Some(at) => at + 2,
            None => usize::from(dag.op(node)),
        };
        let edge_of = |node: usize| {
            let input = dag.predecessors(node).next().map(state);
            input.map(|input| DartsEdge { op: dag.op(node), input })
        };
        let pairs = sums.iter().flat_map(|&sum| {
            let mut pair: Vec<usize> = dag.predecessors(sum).collect();
            pair.reverse();
            pair
        });
        let edges: Vec<DartsEdge> = pairs.filter_map(edge_of).collect();
        let edges: Result<[DartsEdge; 8], _> = edges.try_into();
        DartsCell::new(edges.map_err(|_| Error::Rule {
            spec: "darts".to_owned(),
            rule: "it wants 8 operations in 4 pairs".to_owned(),
        })?)
    }
}

/// Turns records into samples: the graph of the **normal** cell (the reference samples and encodes only that one), the
/// accuracy as target, the compact genotype as id.
pub fn darts_dataset(records: &[DartsRecord], note: &str) -> Dataset {
    let sample = |record: &DartsRecord| Sample {
        dag: record.genotype.normal.to_dag(),
        target: record.accuracy,
        id: Some(record.genotype.compact()),
    };
    let note = format!("{} architectures {note}, normal cells only", records.len());
    let samples = records.iter().map(sample).collect();
    Dataset { name: "nas301".to_owned(), spec: DagSpec::darts(), samples, note }
}
