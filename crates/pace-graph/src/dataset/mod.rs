//! Datasets: files in, a [`Dataset`] value out.
//!
//! A format is a file of this folder and a [`DatasetFormat`]; the ones we know are listed in [`Format`]. Formats whose
//! rows hold more than a graph and a target have a record type of their own ([`Nas101Cell`], [`DartsRecord`], [`Ast`])
//! and turn it into samples. Readers take any [`BufRead`] and the file name to use in messages; only [`DataDir`] opens
//! files.
//!
//! ```
//! use pace_graph::dataset::{DatasetFormat, Na};
//! let text = "[[1], [4, 0], [5, 0, 1]], 0.7302\n";
//! let na = Na { burn_in: 0 }.read(&mut text.as_bytes(), "my.txt", &mut |_| {})?;
//! assert_eq!(na.samples[0].dag.to_string(), "0 3 6 7 1 : 0>1 1>2 1>3 2>3 3>4");
//! assert_eq!(na.samples[0].target, Some(0.7302));
//! # Ok::<(), pace_graph::Error>(())
//! ```
//!
//! To add a format: one file with a type that implements [`DatasetFormat`], one line in [`Format`] if our own commands
//! should pick it by name, and a round trip in `tests/it`.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use crate::dag::Dag;
use crate::error::Error;
use crate::input::not_empty;
use crate::spec::DagSpec;

mod bn;
mod code2;
mod darts;
mod jsonl;
mod na;
mod nas101;
mod source;

pub use crate::input::Progress;
pub use bn::{Bn, bn_line};
pub use code2::{Ast, Code2, read_mapping, read_split};
pub use darts::{DartsArchs, DartsCell, DartsEdge, DartsGenotypes, DartsPairs, DartsRecord, Genotype, darts_dataset};
pub use jsonl::{JsonLines, write_json_lines};
pub use na::{Na, na_line};
pub use nas101::{
    ModuleHash, Nas101Accuracy, Nas101Cell, Nas101Run, Nas101Table, Nas101TfRecord, nas101_dataset, nas101_hash,
    write_nas101_table, write_nas101_tfrecord,
};
pub use source::{DataDir, decompressed};

/// One graph of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The graph, in the node order of its file.
    pub dag: Dag,
    /// What is to be predicted, raw as in the file; always finite.
    pub target: Option<f64>,
    /// The name of this graph in its source (hash, genotype, index), if it has one.
    pub id: Option<String>,
}

impl Sample {
    /// A graph with a target and no name.
    pub fn new(dag: Dag, target: f64) -> Sample {
        Sample { dag, target: Some(target), id: None }
    }
}

/// A whole dataset in memory. Every graph satisfies the spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Short name for reports, e.g. `na`.
    pub name: String,
    /// What the graphs look like.
    pub spec: DagSpec,
    /// The graphs, in file order.
    pub samples: Vec<Sample>,
    /// In plain words: where this came from, and what was left out.
    pub note: String,
}

impl Dataset {
    /// A dataset of at least one sample read from `file`; `hint` says what an empty one may mean.
    fn from_file(spec: DagSpec, samples: Vec<Sample>, file: &str, hint: &str, note: &str) -> Result<Dataset, Error> {
        let samples = not_empty(samples, file, hint)?;
        let note = format!("{} graphs from {file}{note}", samples.len());
        Ok(Dataset { name: spec.name.clone(), spec, samples, note })
    }

    /// The targets of the given rows.
    ///
    /// # Errors
    /// If one has none: left out, it would shift the others against their graphs.
    pub fn targets(&self, rows: &[usize]) -> Result<Vec<f64>, Error> {
        let target = |&row: &usize| {
            let missing = || Error::BadTarget { value: "missing".to_owned() };
            self.samples[row].target.ok_or_else(|| missing().at(&self.name, row + 1))
        };
        rows.iter().map(target).collect()
    }
}

/// How a file becomes a [`Dataset`].
pub trait DatasetFormat {
    /// Reads everything. `file` is the name that messages use; `progress` is told after every block of rows.
    ///
    /// Bad input is an [`Error`] that names file, row, reason and remedy; never a panic, and never more memory than the
    /// input has bytes times a constant.
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error>;
}

/// The formats of one file that our own commands know. (OGBG-CODE2 is a folder: see [`Code2`].)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// ENAS macro architectures, `final_structures6.txt`.
    Na(Na),
    /// Bayesian networks over Asia, `asia_200k.txt`.
    Bn(Bn),
    /// The compact NAS-Bench-101 table, `nasbench101.csv`.
    Nas101Table(Nas101Table),
    /// The official NAS-Bench-101 file, `nasbench_only108.tfrecord`.
    Nas101TfRecord(Nas101TfRecord),
    /// One DARTS genotype per line.
    DartsGenotypes(DartsGenotypes),
    /// NASLib's architecture list, `archs_nasbench301_11221.json`.
    DartsArchs(DartsArchs),
    /// Architecture and accuracy pairs, `pairs_1218_naslib.csv`.
    DartsPairs(DartsPairs),
    /// Anybody's DAGs as JSON lines.
    JsonLines(JsonLines),
}

impl Format {
    fn chosen(&self) -> &dyn DatasetFormat {
        match self {
            Format::Na(format) => format,
            Format::Bn(format) => format,
            Format::Nas101Table(format) => format,
            Format::Nas101TfRecord(format) => format,
            Format::DartsGenotypes(format) => format,
            Format::DartsArchs(format) => format,
            Format::DartsPairs(format) => format,
            Format::JsonLines(format) => format,
        }
    }
}

impl DatasetFormat for Format {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        self.chosen().read(reader, file, progress)
    }
}
