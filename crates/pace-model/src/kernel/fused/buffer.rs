//! [`Buffer`]: memory that outlives a step. Fresh memory costs a page fault and a zeroing per 4 kB, a sixth of a training step on
//! small graphs, and the next step needs the same sizes again.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use parking_lot::Mutex;

/// The most numbers the pool keeps, over all sizes: 1 GB, which is what a training step on 16,000 rows of width 256 holds. It frees
/// what comes back beyond that.
const MAX_KEPT: usize = 256 << 20;

/// Buffers waiting for the next user, by size class.
#[derive(Default)]
struct Free {
    by_len: BTreeMap<usize, Vec<Vec<f32>>>,
    kept: usize,
}

impl Free {
    /// A buffer of this class, or of one up to half as large again. If only the same class would do, the sizes of many steps
    /// would fill the pool.
    fn take(&mut self, class: usize) -> Option<Vec<f32>> {
        let values = self.by_len.range_mut(class..=class + class / 2).find_map(|(_, buffers)| buffers.pop())?;
        self.kept -= values.len();
        Some(values)
    }
}

/// Not the standard library's lock: that comes compiled, and ThreadSanitizer does not see who waited for whom inside it.
static FREE: Mutex<Option<Free>> = Mutex::new(None);

/// A slice of numbers on loan from the pool; it goes back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// Of the size class of `len` or larger.
    values: Vec<f32>,
    len: usize,
}

/// The length that a buffer of `len` numbers really has. Packed batches differ in size from step to step, so large buffers come in
/// four sizes per power of two: then one step can use the memory of another.
fn size_class(len: usize) -> usize {
    const EXACT: usize = 1 << 12;
    if len <= EXACT { len } else { len.next_multiple_of(len.next_power_of_two() / 8) }
}

impl Buffer {
    /// A buffer with the content that its last user left, for callers that overwrite all of it.
    pub(crate) fn stale(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        let mut free = FREE.lock();
        let free = free.get_or_insert_default();
        let class = size_class(len);
        Self { values: free.take(class).unwrap_or_else(|| vec![0.0; class]), len }
    }

    /// A buffer of zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        let mut buffer = Self::stale(len);
        buffer.fill(0.0);
        buffer
    }

    /// A copy.
    pub(crate) fn copy_of(values: &[f32]) -> Self {
        let mut buffer = Self::stale(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let len = self.values.len();
        if len == 0 {
            return;
        }
        let mut free = FREE.lock();
        let free = free.get_or_insert_default();
        if free.kept + len > MAX_KEPT {
            // Sizes of an earlier shape may fill the pool: start over.
            *free = Free::default();
        }
        if len <= MAX_KEPT {
            free.kept += len;
            free.by_len.entry(len).or_default().push(std::mem::take(&mut self.values));
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.values[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.values[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn zeros_are_zeros_after_use() {
        // A length no other test uses.
        let len = 12_347;
        Buffer::zeros(len).fill(1.0);
        assert!(Buffer::zeros(len).iter().all(|value| *value == 0.0));
        assert_eq!(Buffer::copy_of(&[1.0, 2.0])[..], [1.0, 2.0]);
    }
}
