//! Buffers that outlive a step: fresh memory costs a page fault and a zeroing per 4 kB, which on small graphs is a sixth of a
//! training step, and the next step needs the same sizes again.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// Numbers kept at most, over all sizes: 1 GB, which is what a training step on 16,000 rows of width 256 holds. What comes
/// back beyond it is freed.
const MAX_KEPT: usize = 256 << 20;

/// Buffers waiting for the next user, by size class.
#[derive(Default)]
struct Free {
    by_len: BTreeMap<usize, Vec<Vec<f32>>>,
    kept: usize,
}

impl Free {
    /// A buffer of this class, or of one half as large again: without the loan, the sizes of many steps would gather until
    /// the pool is full, and be thrown away together.
    fn take(&mut self, class: usize) -> Option<Vec<f32>> {
        let values = self.by_len.range_mut(class..=class + class / 2).find_map(|(_, buffers)| buffers.pop())?;
        self.kept -= values.len();
        Some(values)
    }
}

static FREE: Mutex<Option<Free>> = Mutex::new(None);

/// A slice of numbers on loan from the pool; it goes back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// Of the size class of `len` or larger.
    values: Vec<f32>,
    len: usize,
}

/// The length a buffer of `len` numbers really has. Packed batches differ in size from step to step: large buffers come in
/// four sizes per power of two, so that they still find each other's memory.
fn size_class(len: usize) -> usize {
    const EXACT: usize = 1 << 12;
    if len <= EXACT { len } else { len.next_multiple_of(len.next_power_of_two() / 8) }
}

impl Buffer {
    /// A buffer whose content is whatever its last user left: for those who overwrite all of it.
    pub(crate) fn stale(len: usize) -> Self {
        if len == 0 {
            return Self::default();
        }
        // A poisoned lock means a panic elsewhere; the free list itself is always whole.
        let mut free = FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
        let mut free = FREE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let free = free.get_or_insert_default();
        if free.kept + len > MAX_KEPT {
            // Sizes of an earlier shape may be filling the pool: start over with the present one.
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
