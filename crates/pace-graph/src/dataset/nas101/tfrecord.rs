//! The official NAS-Bench-101 file (`nasbench_only108.tfrecord`, `nasbench_full.tfrecord`).
//!
//! Each record is a JSON list of five, one training run:
//!
//! ```text
//! ["00005c14...", 108, "0100...(n*n bits, row = source)", "input,conv3x3-bn-relu,...,output", "<base64 protobuf>"]
//! ```
//!
//! The protobuf is `ModelMetrics`: evaluations at start, halfway and end, and the number of parameters.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{FULL_EPOCHS, ModuleHash, Nas101Accuracy, Nas101Cell, Nas101Run, check_hash, nas101_dataset};
use crate::dag::{Dag, Op};
use crate::dataset::{Dataset, DatasetFormat, Progress};
use crate::error::Error;
use crate::input::tfrecord::{read_record, write_record};
use crate::input::{finite, not_empty};
use crate::spec::DagSpec;

/// Records are parsed in parallel in blocks of this many.
const BLOCK_RECORDS: usize = 4096;
/// ... or of this many bytes.
const BLOCK_BYTES: usize = 4 << 20;

/// `ModelMetrics` of the benchmark's `model_metrics.proto`.
#[derive(Clone, PartialEq, Message)]
struct ModelMetrics {
    #[prost(message, repeated, tag = "1")]
    evaluations: Vec<Evaluation>,
    #[prost(int32, tag = "2")]
    trainable_parameters: i32,
    #[prost(double, tag = "3")]
    total_time: f64,
}

/// `EvaluationData` of the benchmark's `model_metrics.proto`.
#[derive(Clone, PartialEq, Message)]
struct Evaluation {
    #[prost(double, tag = "1")]
    current_epoch: f64,
    #[prost(double, tag = "2")]
    training_time: f64,
    #[prost(double, tag = "3")]
    train_accuracy: f64,
    #[prost(double, tag = "4")]
    validation_accuracy: f64,
    #[prost(double, tag = "5")]
    test_accuracy: f64,
    #[prost(string, tag = "6")]
    checkpoint_path: String,
}

/// Reader of the official file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nas101TfRecord {
    /// Recompute the hash of every cell and compare.
    pub check_hashes: bool,
    /// What the [`Dataset`] is to predict; the cells keep everything.
    pub accuracy: Nas101Accuracy,
    /// After how many epochs.
    pub epochs: u32,
}

impl Default for Nas101TfRecord {
    fn default() -> Nas101TfRecord {
        Nas101TfRecord { check_hashes: false, accuracy: Nas101Accuracy::Test, epochs: FULL_EPOCHS }
    }
}

impl Nas101TfRecord {
    /// Reads the records, grouped into cells in the order in which their hashes first appear.
    pub fn read_cells(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Nas101Cell>, Error> {
        let spec = DagSpec::nas101();
        let mut cells: Vec<Nas101Cell> = Vec::new();
        let mut index_of: HashMap<ModuleHash, usize> = HashMap::new();
        let mut done = Progress::default();
        loop {
            let (mut records, mut n_bytes, mut failure) = (Vec::new(), 0, None);
            while records.len() < BLOCK_RECORDS && n_bytes < BLOCK_BYTES {
                match read_record(reader, file, done.rows + records.len() + 1) {
                    Ok(Some(record)) => {
                        n_bytes += record.len() + 16;
                        records.push(record);
                    }
                    Ok(None) => break,
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                }
            }
            let parse = |(index, record): (usize, &Vec<u8>)| {
                let row = done.rows + index + 1;
                let cell = parse_cell(&spec, record).map_err(|reason| reason.at(file, row))?;
                if self.check_hashes {
                    check_hash(&cell, file, row)?;
                }
                Ok(cell)
            };
            let parsed: Vec<Result<Nas101Cell, Error>> = records.par_iter().enumerate().map(parse).collect();
            for cell in parsed {
                let cell = cell?;
                match index_of.get(&cell.hash) {
                    Some(&index) => cells[index].runs.extend(cell.runs),
                    None => {
                        index_of.insert(cell.hash, cells.len());
                        cells.push(cell);
                    }
                }
            }
            if let Some(error) = failure {
                return Err(error);
            }
            if records.is_empty() {
                break;
            }
            done = Progress { rows: done.rows + records.len(), bytes: done.bytes + n_bytes as u64 };
            progress(done);
        }
        not_empty(cells, file, "")
    }
}

impl DatasetFormat for Nas101TfRecord {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        let cells = self.read_cells(reader, file, progress)?;
        Ok(nas101_dataset(cells, self.accuracy, self.epochs, &format!("from {file}")))
    }
}

fn parse_cell(spec: &DagSpec, record: &[u8]) -> Result<Nas101Cell, Error> {
    let wrong = |_| Error::syntax("a JSON list [hash, epochs, adjacency, operations, metrics]", &shown(record));
    let (hash, epochs, adjacency, operations, metrics): (String, u32, String, String, String) =
        serde_json::from_slice(record).map_err(wrong)?;
    let words: Vec<&str> = operations.split(',').collect();
    if words.len() > spec.max_nodes {
        return Err(Error::TooManyNodes { n_nodes: words.len(), max_nodes: spec.max_nodes, spec: spec.name.clone() });
    }
    let op = |(node, word): (usize, &&str)| spec.op(word).ok_or_else(|| spec.unknown_op(node, (*word).to_owned()));
    let ops = words.iter().enumerate().map(op).collect::<Result<Vec<Op>, _>>()?;
    let dag = Dag::new(ops, edges(&adjacency, words.len())?)?;
    spec.validate(&dag)?;
    let bytes = STANDARD.decode(metrics.trim()).map_err(|_| Error::syntax("metrics in base64", &metrics))?;
    let metrics = ModelMetrics::decode(bytes.as_slice());
    let metrics = metrics.map_err(|error| Error::syntax("metrics as a ModelMetrics protobuf", &error.to_string()))?;
    // Start, halfway, end.
    let last = metrics.evaluations.get(2).ok_or_else(|| {
        Error::syntax("three evaluations in the metrics", &format!("{} of them", metrics.evaluations.len()))
    })?;
    let run = Nas101Run {
        epochs,
        training_time: Some(finite(last.training_time)?),
        train_accuracy: Some(finite(last.train_accuracy)?),
        validation_accuracy: Some(finite(last.validation_accuracy)?),
        test_accuracy: finite(last.test_accuracy)?,
    };
    let parameters = u32::try_from(metrics.trainable_parameters)
        .map_err(|_| Error::syntax("a number of parameters from 0", &metrics.trainable_parameters.to_string()))?;
    Ok(Nas101Cell { hash: hash.parse()?, dag, parameters, runs: vec![run] })
}

fn shown(record: &[u8]) -> String {
    String::from_utf8_lossy(&record[..record.len().min(200)]).into_owned()
}

fn edges(adjacency: &str, n_nodes: usize) -> Result<Vec<(usize, usize)>, Error> {
    let wrong = || Error::syntax(format!("{n_nodes} x {n_nodes} adjacency bits for {n_nodes} operations"), adjacency);
    if adjacency.len() != n_nodes * n_nodes || adjacency.bytes().any(|bit| bit != b'0' && bit != b'1') {
        return Err(wrong());
    }
    let set = adjacency.bytes().enumerate().filter(|&(_, bit)| bit == b'1');
    Ok(set.map(|(at, _)| (at / n_nodes, at % n_nodes)).collect())
}

/// Writes cells in the official layout, one record per run. Every run needs times and all accuracies.
///
/// The evaluations at start and halfway are not kept by [`Nas101Run`], so they are written as zeros.
pub fn write_nas101_tfrecord(cells: &[Nas101Cell], writer: &mut dyn Write) -> io::Result<()> {
    for (index, cell) in cells.iter().enumerate() {
        for run in &cell.runs {
            let payload = payload(cell, run).map_err(|reason| reason.at("the cells to write", index + 1));
            write_record(writer, &payload.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?)?;
        }
    }
    Ok(())
}

fn payload(cell: &Nas101Cell, run: &Nas101Run) -> Result<Vec<u8>, Error> {
    let spec = DagSpec::nas101();
    spec.validate(&cell.dag)?;
    let rule = |rule: &str| Error::Rule { spec: spec.name.clone(), rule: rule.to_owned() };
    let whole = run.training_time.zip(run.train_accuracy).zip(run.validation_accuracy);
    let ((training_time, train_accuracy), validation_accuracy) = whole
        .ok_or_else(|| rule("the official layout wants training time and all accuracies; write JSON lines instead"))?;
    let last = Evaluation {
        current_epoch: f64::from(run.epochs),
        training_time,
        train_accuracy,
        validation_accuracy,
        test_accuracy: run.test_accuracy,
        checkpoint_path: String::new(),
    };
    let trainable_parameters =
        i32::try_from(cell.parameters).map_err(|_| rule("the number of parameters does not fit 31 bits"))?;
    let evaluations = vec![Evaluation::default(), Evaluation::default(), last];
    let metrics = ModelMetrics { evaluations, trainable_parameters, total_time: training_time };
    let n_nodes = cell.dag.n_nodes();
    let mut adjacency = vec![b'0'; n_nodes * n_nodes];
    cell.dag.edges().for_each(|(from, to)| adjacency[from * n_nodes + to] = b'1');
    let operations: Vec<String> = cell.dag.ops().map(|op| spec.op_name(op)).collect();
    let (adjacency, metrics) = (String::from_utf8_lossy(&adjacency), STANDARD.encode(metrics.encode_to_vec()));
    let row = (cell.hash.to_string(), run.epochs, adjacency, operations.join(","), metrics);
    serde_json::to_vec(&row).map_err(|error| Error::syntax("a record that JSON can hold", &error.to_string()))
}
