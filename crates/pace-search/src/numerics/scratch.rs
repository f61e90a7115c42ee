//! [`Scratch`]: matrices that are reused by the next evaluation.

use std::sync::Mutex;

use faer::Mat;

/// Matrices that are not in use. An evaluation needs some hundred megabytes, in pieces that the allocator returns to the
/// system. To get them back costs a page fault per 4 kB, a quarter of the time of a fit.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Mutex<Vec<Mat<f64>>>);

impl Scratch {
    /// A matrix of this shape with arbitrary contents.
    pub(crate) fn take(&self, rows: usize, columns: usize) -> Mat<f64> {
        let mut free = self.lock();
        let found = free.iter().position(|matrix| matrix.shape() == (rows, columns));
        let found = found.map(|index| free.swap_remove(index));
        drop(free);
        found.unwrap_or_else(|| Mat::zeros(rows, columns))
    }

    /// A matrix of zeros.
    pub(crate) fn zeros(&self, rows: usize, columns: usize) -> Mat<f64> {
        let mut matrix = self.take(rows, columns);
        matrix.fill(0.0);
        matrix
    }

    /// Returns matrices for reuse.
    pub(crate) fn give(&self, matrices: impl IntoIterator<Item = Mat<f64>>) {
        self.lock().extend(matrices);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Mat<f64>>> {
        // A panic in another thread leaves the list intact: every change to it is one call.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
