//! The compact NAS-Bench-101 table: one line per cell, test accuracy of the first run of 108 epochs.
//!
//! ```text
//! hash,n,adj_bits,ops,test_k9984_r0,params
//! 00005c142e6f48ac74fdcf73e3439874,7,1205349,02001,5000,1234567
//! ```
//!
//! `n` counts input and output; bit x + y(y-1)/2 of `adj_bits` is the edge x>y; `ops` has one digit per vertex between
//! input and output (0 conv3x3, 1 conv1x1, 2 maxpool); the accuracy is k/9984, the benchmark's own resolution.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::{FULL_EPOCHS, ModuleHash, Nas101Accuracy, Nas101Cell, Nas101Run, check_hash, nas101_dataset};
use crate::dag::{Dag, Op};
use crate::dataset::{Dataset, DatasetFormat, Progress};
use crate::error::Error;
use crate::input::lines::{LastLine, Lines};
use crate::spec::DagSpec;

const HEADER: &str = "hash,n,adj_bits,ops,test_k9984_r0,params";
/// The benchmark tests on whole batches: 9,984 of the 10,000 images.
const N_IMAGES: u32 = 9984;
/// `ops` digits to operations of [`DagSpec::nas101`].
const OPS: [Op; 3] = [2, 1, 3];

/// Reader of the compact table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nas101Table {
    /// Recompute the hash of every row and compare: a few seconds for the whole table.
    pub check_hashes: bool,
}

impl Nas101Table {
    /// Reads the rows as cells.
    pub fn read_cells(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Nas101Cell>, Error> {
        let spec = DagSpec::nas101();
        let lines = Lines { reader, file, progress, skip: 0, last_line: LastLine::Cut };
        let parse = |row, text: &str| {
            let cell = parse_cell(&spec, text)?;
            if self.check_hashes {
                check_hash(&cell, file, row)?;
            }
            Ok(cell)
        };
        lines.collect(Some(HEADER), parse)
    }
}

impl DatasetFormat for Nas101Table {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        let cells = self.read_cells(reader, file, progress)?;
        let note = format!("from {file} (one run each)");
        Ok(nas101_dataset(cells, Nas101Accuracy::Test, FULL_EPOCHS, &note))
    }
}

fn parse_cell(spec: &DagSpec, text: &str) -> Result<Nas101Cell, Error> {
    let mut fields = text.split(',');
    let mut field = || fields.next().ok_or_else(|| Error::syntax(format!("6 fields ({HEADER})"), text));
    let hash: ModuleHash = field()?.parse()?;
    let n_nodes: usize = number(field()?, "the number of vertices")?;
    if n_nodes > spec.max_nodes {
        return Err(Error::TooManyNodes { n_nodes, max_nodes: spec.max_nodes, spec: spec.name.clone() });
    }
    let bits: u32 = number(field()?, "adjacency bits")?;
    let ops = field()?;
    let dag = build(spec, n_nodes, bits, ops)?;
    let k: u32 = number(field()?, "a test accuracy k of k/9984")?;
    if k > N_IMAGES {
        return Err(Error::syntax(format!("a test accuracy k of at most {N_IMAGES}"), &k.to_string()));
    }
    let parameters = number(field()?, "the number of parameters")?;
    if fields.next().is_some() {
        return Err(Error::syntax(format!("6 fields ({HEADER})"), text));
    }
    let run = Nas101Run {
        epochs: FULL_EPOCHS,
        training_time: None,
        train_accuracy: None,
        validation_accuracy: None,
        test_accuracy: f64::from(k) / f64::from(N_IMAGES),
    };
    Ok(Nas101Cell { hash, dag, parameters, runs: vec![run] })
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::syntax(what, text))
}

fn build(spec: &DagSpec, n_nodes: usize, bits: u32, digits: &str) -> Result<Dag, Error> {
    let input_output = |n: usize| spec.input.zip(spec.output).filter(|_| n >= 2);
    let (input, output) =
        input_output(n_nodes).ok_or_else(|| Error::syntax("2 to 7 vertices", &n_nodes.to_string()))?;
    let digit = |(at, c): (usize, char)| {
        let op = c.to_digit(10).and_then(|digit| OPS.get(digit as usize).copied());
        op.ok_or_else(|| spec.unknown_op(at + 1, c.to_string()))
    };
    let interior = digits.chars().enumerate().map(digit).collect::<Result<Vec<Op>, _>>()?;
    if interior.len() + 2 != n_nodes {
        return Err(Error::syntax(format!("{} operation digits", n_nodes - 2), digits));
    }
    let pairs = (0..n_nodes).flat_map(|to| (0..to).map(move |from| (from, to)));
    let edges: Vec<_> = pairs.enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, edge)| edge).collect();
    if bits >> (n_nodes * (n_nodes - 1) / 2) != 0 {
        return Err(Error::syntax(format!("adjacency bits of {n_nodes} vertices"), &bits.to_string()));
    }
    let dag = Dag::new([input].into_iter().chain(interior).chain([output]).collect(), edges)?;
    spec.validate(&dag)?;
    Ok(dag)
}

/// Writes the table. Cells must be numbered from input to output along their edges; of the runs, the first of 108 epochs
/// is written.
pub fn write_nas101_table(cells: &[Nas101Cell], writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "{HEADER}")?;
    for (index, cell) in cells.iter().enumerate() {
        let line = format_cell(cell).map_err(|reason| reason.at("the cells to write", index + 1));
        writeln!(writer, "{}", line.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?)?;
    }
    Ok(())
}

fn format_cell(cell: &Nas101Cell) -> Result<String, Error> {
    let spec = DagSpec::nas101();
    let (dag, n_nodes) = (&cell.dag, cell.dag.n_nodes());
    spec.validate(dag)?;
    let rule = |rule: &str| Error::Rule { spec: spec.name.clone(), rule: rule.to_owned() };
    let last_is_output = Some(dag.op(n_nodes - 1)) == spec.output;
    if !dag.is_topologically_numbered() || !last_is_output {
        return Err(rule("the table wants nodes numbered along the edges; relabel the cell by a topological order"));
    }
    let bits: u32 = dag.edges().map(|(from, to)| 1 << (from + to * (to - 1) / 2)).sum();
    let digit = |node: usize| OPS.iter().position(|&op| op == dag.op(node)).expect("validated").to_string();
    let ops: String = (1..n_nodes - 1).map(digit).collect();
    let run = cell.runs_at(FULL_EPOCHS).next();
    let run = run.ok_or_else(|| rule("the table wants a run of 108 epochs; drop the cell"))?;
    let k = (run.test_accuracy * f64::from(N_IMAGES)).round();
    if (k / f64::from(N_IMAGES) - run.test_accuracy).abs() > 1e-6 || !(0.0..=f64::from(N_IMAGES)).contains(&k) {
        return Err(rule("the table wants test accuracies of k/9984; write a TFRecord or JSON lines instead"));
    }
    Ok(format!("{},{n_nodes},{bits},{ops},{k},{}", cell.hash, cell.parameters))
}
