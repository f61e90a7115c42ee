//! [`SparseRows`]: feature vectors that are mostly zero.

/// A feature and its value; the others are zero.
pub(in crate::oracle) type Entry = (u16, f32);

/// Rows one after the other in one vector.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct SparseRows {
    ends: Vec<usize>,
    entries: Vec<Entry>,
}

impl SparseRows {
    pub(in crate::oracle) fn push(&mut self, row: impl IntoIterator<Item = Entry>) {
        self.entries.extend(row);
        self.ends.push(self.entries.len());
    }

    pub(in crate::oracle) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(in crate::oracle) fn row(&self, index: usize) -> &[Entry] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.entries[start..self.ends[index]]
    }

    /// The mean squared length of the given rows: what the first layer has to be divided by.
    pub(in crate::oracle) fn power(&self, rows: &[usize]) -> f32 {
        let squares = |&row: &usize| self.row(row).iter().map(|(_, value)| value * value).sum::<f32>();
        rows.iter().map(squares).sum::<f32>() / rows.len() as f32
    }
}
