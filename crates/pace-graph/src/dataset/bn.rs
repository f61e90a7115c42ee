//! BN: Bayesian networks over the 8 variables of Asia with their BIC (`asia_200k.txt`).
//!
//! ```text
//! [[0], [1, 1], [2, 0, 0], [3, 0, 0, 0], ...], -12345.5
//! ```
//!
//! Rows are in topological order. Row i holds the number of its variable (A, S, T, L, B, E, X, D), then bit j for "the
//! variable of row j is a parent". A row without parents gets the virtual input, one without children the virtual output.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::{Dataset, DatasetFormat, Progress, Sample};
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::input::lines::{LastLine, Lines};
use crate::input::triangle::{self, Row};
use crate::spec::DagSpec;
use crate::structure::topological_order;

/// Reader of the BN file.
///
/// Graphs are those of D-VAE: input, the rows in order (operation = variable + 2), output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bn {}

impl DatasetFormat for Bn {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        let spec = DagSpec::bn();
        let lines = Lines { reader, file, progress, skip: 0, last_line: LastLine::Cut };
        let parse = |_, text: &str| {
            let (rows, target) = triangle::parse(text)?;
            let dag = build(&spec, &rows)?;
            spec.validate(&dag)?;
            Ok(Sample::new(dag, target))
        };
        let samples = lines.collect(None, parse)?;
        Dataset::from_file(spec, samples, file, "", "")
    }
}

fn build(spec: &DagSpec, rows: &[Row]) -> Result<Dag, Error> {
    let (mut ops, mut edges): (Vec<Op>, _) = (vec![0], Vec::new());
    let mut has_child = vec![false; rows.len()];
    for (index, row) in rows.iter().enumerate() {
        let node = index + 1;
        let op = row.label.checked_add(2).filter(|&op| op < spec.n_ops());
        ops.push(op.ok_or_else(|| spec.unknown_op(node, row.label.to_string()))? as Op);
        row.bits.iter().for_each(|&parent| has_child[parent] = true);
        edges.extend(row.bits.iter().map(|&parent| (parent + 1, node)));
        if row.bits.is_empty() {
            edges.push((0, node));
        }
    }
    let output = rows.len() + 1;
    edges.extend((1..output).filter(|&node| !has_child[node - 1]).map(|node| (node, output)));
    ops.push(1);
    Dag::new(ops, edges)
}

/// Writes a graph as one line of a BN file, without line break. The nodes may be in any order; variables are written
/// in a topological order.
///
/// The error says which rule of the space the graph breaks.
pub fn bn_line(dag: &Dag, target: f64) -> Result<String, Error> {
    let spec = DagSpec::bn();
    spec.validate(dag)?;
    let variables: Vec<usize> = topological_order(dag).into_iter().filter(|&node| dag.op(node) >= 2).collect();
    let row_of = |node: usize| variables.iter().position(|&variable| variable == node);
    let rows = variables.iter().map(|&node| {
        let mut bits: Vec<usize> = dag.predecessors(node).filter_map(row_of).collect();
        bits.sort_unstable();
        Row { label: usize::from(dag.op(node)) - 2, bits }
    });
    let rows: Vec<Row> = rows.collect();
    // The virtual edges are not written: make sure that the reader will put back the very ones the graph has.
    let with_op = |op: Op| (0..dag.n_nodes()).find(|&node| dag.op(node) == op).expect("validated");
    let order: Vec<usize> = [with_op(0)].into_iter().chain(variables.iter().copied()).chain([with_op(1)]).collect();
    if build(&spec, &rows)? != dag.relabel(&order) {
        let rule = "the input feeds the variables without parents and the output is fed by those without children; \
                    mend the edges of the two virtual nodes";
        return Err(Error::Rule { spec: spec.name, rule: rule.to_owned() });
    }
    triangle::format(&rows, target)
}
