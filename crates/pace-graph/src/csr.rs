//! [`Csr`]: many short lists in two pieces of memory.

use std::ops::Range;

/// Rows of different lengths, one after another (compressed sparse rows).
///
/// Row `r` is `items[offsets[r]..offsets[r + 1]]`: 4 bytes per row besides its items, and no allocation per row.
///
/// ```
/// use pace_graph::Csr;
/// let mut rows = Csr::default();
/// rows.push_row([3, 1]);
/// rows.push_row([]);
/// rows.push_copy(0, [7]);
/// assert_eq!(rows.rows().collect::<Vec<_>>(), [&[3, 1][..], &[], &[3, 1, 7]]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Csr<T> {
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Csr<T> {
    fn default() -> Csr<T> {
        Csr { offsets: vec![0], items: Vec::new() }
    }
}

impl<T> Csr<T> {
    /// No rows yet, and room for some.
    pub fn with_capacity(n_rows: usize, n_items: usize) -> Csr<T> {
        let mut offsets = Vec::with_capacity(n_rows + 1);
        offsets.push(0);
        Csr { offsets, items: Vec::with_capacity(n_items) }
    }

    /// Takes offsets and items as they are.
    ///
    /// # Panics
    /// If the offsets do not ascend from 0 to the number of items.
    pub fn from_parts(offsets: Vec<u32>, items: Vec<T>) -> Csr<T> {
        assert!(offsets.first() == Some(&0), "offsets start at 0");
        assert_eq!(offsets.last().map(|&end| end as usize), Some(items.len()), "offsets end at the number of items");
        assert!(offsets.is_sorted(), "offsets ascend");
        Csr { offsets, items }
    }

    /// Adds a row and returns it.
    ///
    /// # Panics
    /// Beyond 2^32 items.
    #[inline]
    pub fn push_row(&mut self, row: impl IntoIterator<Item = T>) -> &mut [T] {
        let start = self.items.len();
        self.items.extend(row);
        self.close_row();
        &mut self.items[start..]
    }

    fn close_row(&mut self) {
        self.offsets.push(u32::try_from(self.items.len()).expect("fewer than 2^32 items"));
    }

    /// How many rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many items in all rows.
    #[inline]
    pub fn n_items(&self) -> usize {
        self.items.len()
    }

    /// One row.
    #[inline]
    pub fn row(&self, row: usize) -> &[T] {
        &self.items[self.range(row)]
    }

    /// Where the items of one row are among all.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> + DoubleEndedIterator {
        (0..self.n_rows()).map(|row| self.row(row))
    }

    /// The items of all rows, one after another.
    #[inline]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Where each row starts; the last number is where the last row ends.
    #[inline]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Offsets and items.
    pub fn into_parts(self) -> (Vec<u32>, Vec<T>) {
        (self.offsets, self.items)
    }

    /// Bytes held on the heap.
    pub fn n_bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>() + self.items.capacity() * size_of::<T>()
    }
}

impl<T: Copy> Csr<T> {
    /// Adds a row that starts with a copy of an earlier one.
    ///
    /// # Panics
    /// If there is no such row, or beyond 2^32 items.
    pub fn push_copy(&mut self, row: usize, rest: impl IntoIterator<Item = T>) {
        self.items.extend_from_within(self.range(row));
        self.items.extend(rest);
        self.close_row();
    }
}

impl<T: Copy + Default> Csr<T> {
    /// Sorts pairs of row and item by row, items in the order in which they come. O(rows + pairs): a counting sort.
    ///
    /// # Panics
    /// If a pair has no row below `n_rows`, or beyond 2^32 pairs.
    pub fn from_pairs(n_rows: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> Csr<T> {
        let mut offsets = vec![0_u32; n_rows + 1];
        pairs.clone().for_each(|(row, _)| offsets[row + 1] += 1);
        (0..n_rows).for_each(|row| offsets[row + 1] += offsets[row]);
        let (mut next, mut items) = (offsets.clone(), vec![T::default(); offsets[n_rows] as usize]);
        for (row, item) in pairs {
            items[next[row] as usize] = item;
            next[row] += 1;
        }
        Csr { offsets, items }
    }
}

#[cfg(test)]
mod tests {
    use super::Csr;

    #[test]
    fn pairs_are_sorted_by_row_and_keep_their_order() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (0, 'd'), (2, 'e')];
        let rows = Csr::from_pairs(4, pairs.into_iter());
        assert_eq!(rows.rows().collect::<Vec<_>>(), [&['b', 'd'][..], &[], &['a', 'c', 'e'], &[]]);
        let (offsets, items) = rows.clone().into_parts();
        assert_eq!(Csr::from_parts(offsets, items), rows);
    }

    #[test]
    #[should_panic(expected = "offsets end at the number of items")]
    fn offsets_cover_the_items() {
        Csr::from_parts(vec![0, 1], vec![5, 6]);
    }
}
