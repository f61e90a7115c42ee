//! One genotype per line, in either text form, followed by a tab and its accuracy if that is known.
//!
//! ```text
//! Genotype(normal=[('sep_conv_3x3', 0), ...], normal_concat=[2, 3, 4, 5], ...)<TAB>94.1
//! [[(0, 3), (1, 3), ...], [...]]
//! ```

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::{DartsRecord, darts_dataset};
use crate::dataset::{Dataset, DatasetFormat, Progress};
use crate::error::Error;
use crate::input::lines::{LastLine, Lines};
use crate::input::parse_target;

/// Reader of genotype lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DartsGenotypes {}

impl DartsGenotypes {
    /// Reads the lines as records.
    pub fn read_records(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<DartsRecord>, Error> {
        let lines = Lines { reader, file, progress, skip: 0, last_line: LastLine::Cut };
        let parse = |_, text: &str| {
            let (genotype, accuracy) = match text.split_once('\t') {
                Some((genotype, accuracy)) => (genotype, Some(parse_target(accuracy)?)),
                None => (text, None),
            };
            Ok(DartsRecord { genotype: genotype.parse()?, accuracy, predicted: None, key: None })
        };
        lines.collect(None, parse)
    }
}

impl DatasetFormat for DartsGenotypes {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        Ok(darts_dataset(&self.read_records(reader, file, progress)?, &format!("from {file}")))
    }
}
