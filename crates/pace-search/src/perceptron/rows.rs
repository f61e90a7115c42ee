//! [`SparseRows`]: feature vectors that are mostly zero.

use pace_graph::Dag;
use pace_graph::dataset::Dataset;

use crate::error::Error;

/// The index of a feature, and its value.
pub type Entry = (u16, f32);

/// The nonzero features of each row, all in one vector.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseRows {
    ends: Vec<usize>,
    entries: Vec<Entry>,
}

impl SparseRows {
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Entry>) {
        self.entries.extend(row);
        self.ends.push(self.entries.len());
    }

    /// The features and targets of the labelled graphs of a dataset.
    pub(crate) fn labelled(
        dataset: &Dataset,
        features: impl Fn(&Dag) -> Result<Vec<Entry>, pace_graph::Error>,
    ) -> Result<(SparseRows, Vec<f64>), Error> {
        let (mut rows, mut targets) = (SparseRows::default(), Vec::new());
        for (graph, sample) in dataset.samples.iter().enumerate() {
            if let Some(target) = sample.target {
                rows.push(features(&sample.dag).map_err(|reason| Error::Graph { graph, reason })?);
                targets.push(target);
            }
        }
        Ok((rows, targets))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn row(&self, index: usize) -> &[Entry] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.entries[start..self.ends[index]]
    }

    /// The mean squared length of the given rows. The first layer is divided by it.
    pub(crate) fn power(&self, rows: &[usize]) -> f32 {
        let squares = |&row: &usize| self.row(row).iter().map(|(_, value)| value * value).sum::<f32>();
        rows.iter().map(squares).sum::<f32>() / rows.len() as f32
    }
}
