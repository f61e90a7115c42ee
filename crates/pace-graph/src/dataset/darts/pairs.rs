//! Architecture and accuracy pairs (`pairs_1218_naslib.csv`).
//!
//! ```text
//! arch,val_accuracy_nb301,yahpo_v1_pred_epoch98
//! "[[(0, 0), (1, 5), ...], [...]]",93.5,94.25
//! ```

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::{DartsRecord, darts_dataset, not_empty};
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
        let mut records = Vec::new();
        let lines = Lines { reader, file, progress, skip: 0, last_line: LastLine::Cut };
        let parse = |row, text: &str| match row {
            1 if text == HEADER => Ok(None),
            1 => Err(Error::syntax(format!("the header {HEADER}"), text)),
            _ => {
                let [arch, accuracy, predicted] = csv::exactly(text, HEADER)?;
                let (accuracy, predicted) = (parse_target(&accuracy)?, parse_target(&predicted)?);
                let genotype = arch.parse()?;
                Ok(Some(DartsRecord { genotype, accuracy: Some(accuracy), predicted: Some(predicted), key: None }))
            }
        };
        lines.read(parse, |_, record| {
            records.extend(record);
            Ok(())
        })?;
        not_empty(records, file, " below the header")
    }
}

impl DatasetFormat for DartsPairs {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        Ok(darts_dataset(&self.read_records(reader, file, progress)?, &format!("from {file}")))
    }
}
