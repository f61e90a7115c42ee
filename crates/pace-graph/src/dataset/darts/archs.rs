//! NASLib's list of architectures (`archs_nasbench301_11221.json`): one JSON object, key to compact genotype.
//!
//! ```text
//! {"0": "(((0, 6), (1, 4), ...), (...))", "1": "...", ...}
//! ```

use std::fmt;
use std::io::BufRead;

use rayon::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{DartsRecord, Genotype, darts_dataset};
use crate::dataset::{Dataset, DatasetFormat, Progress};
use crate::error::Error;
use crate::input::{not_empty, read_failed};

/// Reader of the architecture list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DartsArchs {}

/// Keeps the entries in file order. If the file is cut off, keeps those that were whole.
struct Entries<'a>(&'a mut Vec<(String, String)>);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of genotype texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(entry) = map.next_entry()? {
            self.0.push(entry);
        }
        Ok(())
    }
}

impl DartsArchs {
    /// Reads the entries as records, in file order.
    pub fn read_records(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<DartsRecord>, Error> {
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes);
        let mut entries = Vec::new();
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let parsed = Entries(&mut entries).deserialize(&mut json).and_then(|()| json.end());
        let parse = |(index, (key, text)): (usize, &(String, String))| {
            let genotype: Genotype = text.parse().map_err(|reason: Error| reason.at(file, index + 1))?;
            Ok(DartsRecord { genotype, accuracy: None, predicted: None, key: Some(key.clone()) })
        };
        let records: Vec<Result<DartsRecord, Error>> = entries.par_iter().enumerate().map(parse).collect();
        let records = records.into_iter().collect::<Result<Vec<_>, Error>>()?;
        read.map_err(|source| read_failed(source, file, records.len()))?;
        parsed.map_err(|error| broken(&error, file, records.len()))?;
        progress(Progress { rows: records.len(), bytes: bytes.len() as u64 });
        not_empty(records, file, "")
    }
}

fn broken(error: &serde_json::Error, file: &str, rows: usize) -> Error {
    if error.is_eof() {
        return Error::Truncated { file: file.to_owned(), rows, detail: error.to_string() };
    }
    Error::syntax("a JSON object of genotype texts", &error.to_string()).at(file, rows + 1)
}

impl DatasetFormat for DartsArchs {
    fn read(&self, reader: &mut dyn BufRead, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<Dataset, Error> {
        Ok(darts_dataset(&self.read_records(reader, file, progress)?, &format!("from {file}")))
    }
}
