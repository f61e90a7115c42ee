//! [`VaeData`]: the graphs and scores of NA or BN, split as the authors split them.

use anyhow::{Result, ensure};
use pace_graph::dataset::{Dataset, DatasetFormat};
use pace_graph::{Dag, DagSpec, split_reference};
use pace_train::record::DataKind;

use crate::args::RunArgs;
use crate::progress::{rows_bar, rows_seen};

/// A dataset of scored graphs, cut into training and test part.
#[derive(Clone, Debug)]
pub struct VaeData {
    /// What the graphs look like.
    pub spec: DagSpec,
    /// Graphs to train on.
    pub train: Vec<Dag>,
    /// Their scores.
    pub train_scores: Vec<f64>,
    /// Graphs held out.
    pub test: Vec<Dag>,
    /// Their scores.
    pub test_scores: Vec<f64>,
    /// Published data or made here.
    pub kind: DataKind,
    /// The same in plain words.
    pub note: String,
}

impl VaeData {
    /// Reads `<id>/<file>`; if it is absent and no folder was asked for, takes what `embedded` makes.
    ///
    /// # Errors
    /// A file that cannot be read, or an asked-for folder without it.
    pub fn load(
        args: &RunArgs,
        (id, file): (&str, &str),
        format: &dyn DatasetFormat,
        embedded: impl FnOnce() -> Result<Dataset>,
    ) -> Result<VaeData> {
        let dir = args.data_dir();
        if dir.find(id, file).is_none() {
            ensure!(args.data.is_none(), "{id}/{file} is not in the folder given with --data");
            return VaeData::split(embedded()?, DataKind::Embedded);
        }
        let bar = rows_bar("read the graphs");
        let dataset = dir.read(format, id, file, &mut rows_seen(&bar));
        bar.finish_and_clear();
        VaeData::split(dataset?, DataKind::Real)
    }

    fn split(dataset: Dataset, kind: DataKind) -> Result<VaeData> {
        let split = split_reference(dataset.samples.len(), 0.9);
        let dags = |rows: &[usize]| rows.iter().map(|&row| dataset.samples[row].dag.clone()).collect();
        Ok(VaeData {
            train: dags(&split.train),
            train_scores: dataset.targets(&split.train)?,
            test: dags(&split.test),
            test_scores: dataset.targets(&split.test)?,
            spec: dataset.spec.clone(),
            note: dataset.note.clone(),
            kind,
        })
    }

    /// The training part alone, cut again: nine tenths to train, the others in place of the test part, to choose settings by.
    pub fn validation(self) -> VaeData {
        let n_train = self.train.len() * 9 / 10;
        let (mut train, mut train_scores) = (self.train, self.train_scores);
        let (test, test_scores) = (train.split_off(n_train), train_scores.split_off(n_train));
        let note =
            format!("{}; of its training part {} graphs to train and {} to validate", self.note, n_train, test.len());
        VaeData { train, train_scores, test, test_scores, note, ..self }
    }

    /// The first graphs of each part.
    pub fn truncated(mut self, n_train: usize, n_test: usize) -> VaeData {
        self.train.truncate(n_train);
        self.train_scores.truncate(n_train);
        self.test.truncate(n_test);
        self.test_scores.truncate(n_test);
        self.note = format!("{}; of these {} to train and {} to test", self.note, self.train.len(), self.test.len());
        self
    }
}
