//! NA: ENAS macro architectures with weight-sharing accuracy (`final_structures6.txt`, `final_structures12.txt`).
//!
//! ```text
//! [[0], [1, 0], [2, 1, 0], [3, 0, 0, 1], [4, 1, 0, 0, 1], [5, 0, 0, 0, 0, 0]], 0.75
//! ```
//!
//! Row i is layer i: its ENAS operation (0..=5), then bit j for "vertex j feeds this layer", where vertex 0 is the input
//! and vertex k the layer k-1. The vertex just before is always connected and has no bit.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::{Dataset, DatasetFormat, Progress, Sample};
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::input::lines::{LastLine, Lines};
use crate::input::triangle::{self, Row};
use crate::spec::DagSpec;
use crate::structure::topological_order;

/// Reader of the NA files, for any number of layers (that of the first row).
///
/// Graphs are those of D-VAE: input, layers in order (operation = ENAS id + 2), output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Na {
    /// Rows dropped unread at the start of the file: the sampler of the published files had not settled before row
    /// 1,000, and every loader drops them.
    pub burn_in: usize,
}

impl Default for Na {
    fn default() -> Na {
        Na { burn_in: 1000 }
    }
}

impl DatasetFormat for Na {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        let mut spec: Option<DagSpec> = None;
        let mut samples = Vec::new();
        let lines = Lines { reader, file, progress, skip: self.burn_in, last_line: LastLine::Cut };
        let enas = DagSpec::na();
        let parse = |_, text: &str| {
            let (rows, target) = triangle::parse(text)?;
            Ok((build(&enas, &rows)?, target))
        };
        lines.read(parse, |_, (dag, target)| {
            let spec = spec.get_or_insert_with(|| spec_of(dag.n_nodes() - 2));
            // Everything else holds by construction.
            if dag.n_nodes() > spec.max_nodes {
                spec.validate(&dag)?;
            } else if dag.n_nodes() < spec.max_nodes {
                let (found, wanted) = (dag.n_nodes() - 2, spec.max_nodes - 2);
                let rule = format!("{found} layers where the rows before have {wanted}; keep one size per file");
                return Err(Error::Rule { spec: spec.name.clone(), rule });
            }
            samples.push(Sample::new(dag, target));
            Ok(())
        })?;
        let (hint, note) = match self.burn_in {
            0 => (String::new(), String::new()),
            n => (
                format!(" after the {n} that are dropped as burn-in, or set burn_in to 0"),
                format!(", without the first {n} rows (burn-in)"),
            ),
        };
        Dataset::from_file(spec.unwrap_or_else(DagSpec::na), samples, file, &hint, &note)
    }
}

fn spec_of(n_layers: usize) -> DagSpec {
    if n_layers == 6 { DagSpec::na() } else { DagSpec::enas(&format!("na{n_layers}"), n_layers) }
}

/// `spec` lends its dictionary, which is the same for any number of layers.
fn build(spec: &DagSpec, rows: &[Row]) -> Result<Dag, Error> {
    let mut ops: Vec<Op> = vec![0];
    let mut edges = Vec::new();
    for (layer, row) in rows.iter().enumerate() {
        let node = layer + 1;
        let op = row.label.checked_add(2).filter(|&op| op < spec.n_ops());
        ops.push(op.ok_or_else(|| spec.unknown_op(node, row.label.to_string()))? as Op);
        edges.extend(row.bits.iter().map(|&from| (from, node)));
        edges.push((layer, node));
    }
    edges.push((rows.len(), rows.len() + 1));
    ops.push(1);
    Dag::new(ops, edges)
}

/// Writes a graph as one line of an NA file, without line break. The nodes may be in any order.
///
/// The error says which rule of the space the graph breaks.
pub fn na_line(dag: &Dag, target: f64) -> Result<String, Error> {
    let spec = spec_of(dag.n_nodes().saturating_sub(2));
    spec.validate(dag)?;
    if dag.n_nodes() == 2 {
        return Err(Error::Rule { spec: spec.name, rule: "it wants at least one layer".to_owned() });
    }
    // A valid graph has a path through all nodes, hence one topological order: input, layers, output.
    let dag = dag.relabel(&topological_order(dag));
    let rows = (1..dag.n_nodes() - 1).map(|node| {
        let bits = dag.predecessors(node).filter(|&from| from + 1 < node).collect();
        Row { label: usize::from(dag.op(node)) - 2, bits }
    });
    triangle::format(&rows.collect::<Vec<_>>(), target)
}
