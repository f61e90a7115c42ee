//! NAS-Bench-101: 423,624 cells, each trained up to three times per epoch budget.
//!
//! Two files hold it: the official TFRecord ([`Nas101TfRecord`]) and a compact table ([`Nas101Table`]). Both give
//! [`Nas101Cell`]s; [`nas101_dataset`] picks what to predict.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Dataset, Sample};
use crate::dag::Dag;
use crate::error::Error;
use crate::spec::DagSpec;

mod hash;
mod table;
mod tfrecord;

pub use hash::nas101_hash;
pub use table::{Nas101Table, write_nas101_table};
pub use tfrecord::{Nas101TfRecord, write_nas101_tfrecord};

/// The paper's training budget.
pub(crate) const FULL_EPOCHS: u32 = 108;

/// The benchmark's own name of a cell: an MD5 of the graph that does not depend on the numbering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleHash(pub [u8; 16]);

impl fmt::Display for ModuleHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ModuleHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ModuleHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<ModuleHash, Error> {
        let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 32);
        let digits = digits.ok_or_else(|| Error::syntax("a module hash of 32 hexadecimal digits", text))?;
        Ok(ModuleHash(std::array::from_fn(|byte| digits[2 * byte] << 4 | digits[2 * byte + 1])))
    }
}

/// The end of one training run. Fractions are in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nas101Run {
    /// Epoch budget: 4, 12, 36 or 108.
    pub epochs: u32,
    /// Seconds on one TPU v2, if the file has them.
    pub training_time: Option<f64>,
    /// Accuracy on the training images, if the file has it.
    pub train_accuracy: Option<f64>,
    /// Accuracy on the 10,000 validation images, if the file has it.
    pub validation_accuracy: Option<f64>,
    /// Accuracy on the 10,000 test images.
    pub test_accuracy: f64,
}

/// One cell and all its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Nas101Cell {
    /// The benchmark's name of the cell.
    pub hash: ModuleHash,
    /// The cell, over the dictionary of [`DagSpec::nas101`].
    pub dag: Dag,
    /// Trainable parameters of the whole network.
    pub parameters: u32,
    /// Its runs, in file order.
    pub runs: Vec<Nas101Run>,
}

/// Which accuracy to predict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nas101Accuracy {
    /// Mean test accuracy: regret is measured in it.
    #[default]
    Test,
    /// Mean validation accuracy: what a search may look at. Only the official file has it.
    Validation,
}

impl Nas101Cell {
    /// The runs of one epoch budget.
    pub fn runs_at(&self, epochs: u32) -> impl Iterator<Item = &Nas101Run> {
        self.runs.iter().filter(move |run| run.epochs == epochs)
    }

    /// The mean accuracy over the runs of one epoch budget; `None` if no run has it.
    pub fn accuracy(&self, which: Nas101Accuracy, epochs: u32) -> Option<f64> {
        mean(self.runs_at(epochs).filter_map(|run| match which {
            Nas101Accuracy::Test => Some(run.test_accuracy),
            Nas101Accuracy::Validation => run.validation_accuracy,
        }))
    }

    /// The mean training time over the runs of one epoch budget, in seconds.
    pub fn training_time(&self, epochs: u32) -> Option<f64> {
        mean(self.runs_at(epochs).filter_map(|run| run.training_time))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum) = (0_u32, 0.0);
    for value in values {
        n += 1;
        sum += value;
    }
    (n > 0).then(|| sum / f64::from(n))
}

/// Turns cells into samples: the hash becomes the id, the mean accuracy after `epochs` (paper: 108) the target.
pub fn nas101_dataset(cells: Vec<Nas101Cell>, accuracy: Nas101Accuracy, epochs: u32, note: &str) -> Dataset {
    let samples: Vec<Sample> = cells
        .into_iter()
        .map(|cell| Sample { target: cell.accuracy(accuracy, epochs), id: Some(cell.hash.to_string()), dag: cell.dag })
        .collect();
    let n_missing = samples.iter().filter(|sample| sample.target.is_none()).count();
    let missing = if n_missing == 0 { String::new() } else { format!(", {n_missing} of them without target") };
    let note = format!("{} cells {note}, mean {accuracy:?} accuracy after {epochs} epochs{missing}", samples.len());
    Dataset { name: "nas101".to_owned(), spec: DagSpec::nas101(), samples, note }
}

/// Compares the stored hash with the hash of the graph.
fn check_hash(cell: &Nas101Cell, file: &str, row: usize) -> Result<(), Error> {
    let found = nas101_hash(&cell.dag).map_err(|reason| reason.at(file, row))?;
    if found == cell.hash {
        return Ok(());
    }
    Err(Error::Checksum { file: file.to_owned(), row, expected: cell.hash.to_string(), found: found.to_string() })
}
