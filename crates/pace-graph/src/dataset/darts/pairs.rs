//! Architecture and accuracy pairs (`pairs_1218_naslib.csv`).
//!
//! ```text
//! arch,val_accuracy_nb301,yahpo_v1_pred_epoch98
//! "[[(0, 0), (1, 5), ...], [...]]",93.5,94.25
//! ```

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::{DartsRecord, darts_dataset};
use crate::dataset::{Dataset, DatasetFormat, Progress};
use crate::error::Error;
use crate::input::csv;
use crate::input::lines::{LastLine, Lines};
use crate::input::parse_target;

const HEADER: &str = "arch,val_accuracy_nb301,yahpo_v1_pred_epoch98";

/// Reader of the pairs file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DartsPairs {}

impl DartsPairs {
    /// Reads the rows as records.
    pub fn read_records(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<DartsRecord>, Error> {
        let lines = Lines { reader, file, progress, skip: 0, last_line: LastLine::Cut };
        let parse = |_, text: &str| {
            let [arch, accuracy, predicted] = csv::exactly(text, HEADER)?;
            let (accuracy, predicted) = (parse_target(&accuracy)?, parse_target(&predicted)?);
            Ok(DartsRecord { genotype: arch.parse()?, accuracy: Some(accuracy), predicted: Some(predicted), key: None })
        };
        lines.collect(Some(HEADER), parse)
    }
}

impl DatasetFormat for DartsPairs {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        Ok(darts_dataset(&self.read_records(reader, file, progress)?, &format!("from {file}")))
    }
}
