//! The lists in host memory, where they can be cut, and their transpose.

#[cfg(feature = "flex")]
use std::sync::OnceLock;

use pace_graph::Csr;

/// The lists in host memory.
#[derive(Debug)]
pub(crate) struct Lists {
    /// The keys of each row; a key in its list is a pair.
    pub(super) keys: Csr<u32>,
    /// Rows at which the lists can be cut, ascending from 0 to T. No list reaches across a seam, so the rows between two seams can
    /// be computed by themselves. In a batch of trees the seams are the roots.
    seams: Vec<u32>,
    /// Made when backward first asks for it.
    #[cfg(feature = "flex")]
    readers: OnceLock<Readers>,
}

/// The rows that read each row: the transpose of the lists.
#[cfg(feature = "flex")]
#[derive(Debug)]
pub(crate) struct Readers(Csr<Reader>);

/// A pair in the list of its key.
#[cfg(feature = "flex")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) query: u32,
    /// Its index among all pairs.
    pub(crate) pair: u32,
}

#[cfg(feature = "flex")]
impl Readers {
    /// A counting sort of the pairs by key. O(pairs).
    fn new(lists: &Lists) -> Readers {
        let keys = &lists.keys;
        let mut offsets = vec![0; keys.n_rows() + 1];
        keys.items().iter().for_each(|&key| offsets[key as usize + 1] += 1);
        (1..offsets.len()).for_each(|row| offsets[row] += offsets[row - 1]);
        let (mut next, mut readers) = (offsets.clone(), vec![Reader::default(); keys.n_items()]);
        for (query, row) in keys.rows().enumerate() {
            for (&key, pair) in row.iter().zip(keys.offsets()[query]..) {
                let at = &mut next[key as usize];
                readers[*at as usize] = Reader { query: query as u32, pair };
                *at += 1;
            }
        }
        Readers(Csr::from_parts(offsets, readers))
    }

    /// The pairs of a key, queries ascending.
    #[inline(always)]
    pub(crate) fn of(&self, key: usize) -> &[Reader] {
        self.0.row(key)
    }
}

impl Lists {
    /// Where the keys of each row begin and end, and the keys.
    #[cfg(feature = "flex")]
    pub(crate) fn parts(&self) -> (&[u32], &[u32]) {
        (self.keys.offsets(), self.keys.items())
    }

    pub(super) fn new(offsets: Vec<u32>, keys: Vec<u32>) -> Lists {
        let keys = Csr::from_parts(offsets, keys);
        let n_rows = keys.n_rows() as u32;
        assert!(keys.items().iter().all(|&key| key < n_rows), "a key beyond the {n_rows} rows");
        let mut lists = Lists {
            keys,
            seams: Vec::new(),
            #[cfg(feature = "flex")]
            readers: OnceLock::new(),
        };
        lists.seams = lists.find_seams();
        lists
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.keys.n_rows()
    }

    /// The keys of a row.
    #[inline(always)]
    pub(crate) fn keys(&self, row: usize) -> &[u32] {
        self.keys.row(row)
    }

    /// The first pair of a row.
    #[inline(always)]
    pub(crate) fn pair(&self, row: usize) -> usize {
        self.keys.offsets()[row] as usize
    }

    /// See the field.
    #[cfg(feature = "flex")]
    pub(crate) fn seams(&self) -> &[u32] {
        &self.seams
    }

    /// See the field.
    #[cfg(feature = "flex")]
    pub(crate) fn readers(&self) -> &Readers {
        self.readers.get_or_init(|| Readers::new(self))
    }

    /// Row t is a seam if all keys of the rows before it are less than t, and all keys of the others at least t. O(pairs).
    fn find_seams(&self) -> Vec<u32> {
        let n = self.n_rows();
        // lowest[t]: the lowest key of the rows from t on.
        let mut lowest = vec![u32::MAX; n + 1];
        for row in (0..n).rev() {
            lowest[row] = self.keys(row).iter().fold(lowest[row + 1], |low, &key| low.min(key));
        }
        let mut highest = None;
        let mut seams = vec![0];
        for (row, &lowest) in (1_u32..).zip(&lowest[1..]) {
            highest = highest.max(self.keys(row as usize - 1).iter().copied().max());
            if highest.is_none_or(|key| key < row) && lowest >= row {
                seams.push(row);
            }
        }
        seams
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn seams_lie_where_no_list_crosses() {
        // A tree of 3, a row without keys, a row that is its own key, two rows that see each other.
        let lists = Lists::new(vec![0, 3, 4, 5, 5, 6, 7, 8], vec![0, 1, 2, 1, 2, 4, 6, 5]);
        assert_eq!(lists.seams, [0, 3, 4, 5, 7]);
        assert_eq!(Lists::new(vec![0, 1, 2], vec![1, 0]).seams, [0, 2]);
        assert_eq!(Lists::new(vec![0], vec![]).seams, [0]);
    }

    #[cfg(feature = "flex")]
    #[test]
    fn readers_are_the_lists_transposed() {
        let lists = Lists::new(vec![0, 3, 4, 5, 5, 6], vec![2, 0, 1, 1, 2, 4]);
        let readers =
            |key| lists.readers().of(key).iter().map(|reader| (reader.query, reader.pair)).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(readers), [vec![(0, 1)], vec![(0, 2), (1, 3)], vec![(0, 0), (2, 4)]]);
        assert_eq!([3, 4].map(readers), [vec![], vec![(4, 5)]]);
    }

    #[test]
    #[should_panic(expected = "a key beyond the 1 rows")]
    fn keys_are_rows() {
        Lists::new(vec![0, 1], vec![1]);
    }
}
