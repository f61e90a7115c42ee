//! [`PairLists`]: who attends to whom, as a list of keys per row.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor};

use crate::batch::ints;

/// The keys that each of T rows attends to, as T compressed lists (CSR).
///
/// A packed batch is made for every step, and the fused kernels read the lists as they are: the index tensors of the plain
/// twin are built when it first asks for them. Clones share everything.
#[derive(Clone, Debug)]
pub struct PairLists {
    lists: Arc<Lists>,
    device: Device,
    indices: Arc<OnceLock<Indices>>,
}

impl PairLists {
    /// Lists over rows `0..offsets.len() - 1`; a row may have none, and gets zeros.
    ///
    /// # Panics
    /// If the offsets do not cover the keys, or a key is no row.
    pub fn new(offsets: Vec<u32>, keys: Vec<u32>, device: &Device) -> PairLists {
        let lists = Arc::new(Lists::new(offsets, keys));
        PairLists { lists, device: device.clone(), indices: Arc::default() }
    }

    /// How many rows, T.
    pub fn n_rows(&self) -> usize {
        self.lists.n_rows()
    }

    /// How many (query, key) pairs.
    pub fn n_pairs(&self) -> usize {
        self.lists.keys.len()
    }

    /// The keys of a row.
    pub fn keys(&self, row: usize) -> &[u32] {
        self.lists.keys(row)
    }

    /// The lists in host memory.
    #[cfg(feature = "flex")]
    pub(crate) fn host(&self) -> &Arc<Lists> {
        &self.lists
    }

    /// The lists as index tensors.
    pub(crate) fn indices(&self) -> &Indices {
        self.indices.get_or_init(|| Indices::new(&self.lists, &self.device))
    }
}

/// The lists in host memory.
#[derive(Debug)]
pub(crate) struct Lists {
    /// `offsets[q]..offsets[q + 1]` are the pairs of row `q`.
    offsets: Vec<u32>,
    /// Key of each pair.
    keys: Vec<u32>,
    /// Rows where the lists can be cut, ascending from 0 to T: no list reaches across one, so that what lies between two
    /// of them can be computed by itself. In a batch of trees these are the roots.
    seams: Vec<u32>,
    /// The lists from the other side, made when backward first asks.
    #[cfg(feature = "flex")]
    readers: OnceLock<Readers>,
}

/// Who reads each row: the lists from the side of the keys.
#[cfg(feature = "flex")]
#[derive(Debug)]
pub(crate) struct Readers {
    offsets: Vec<u32>,
    readers: Vec<Reader>,
}

/// A pair as its key sees it.
#[cfg(feature = "flex")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) query: u32,
    /// Its number among all pairs.
    pub(crate) pair: u32,
}

#[cfg(feature = "flex")]
impl Readers {
    /// A counting sort of the pairs by key. O(pairs).
    fn new(lists: &Lists) -> Readers {
        let mut offsets = vec![0; lists.offsets.len()];
        lists.keys.iter().for_each(|&key| offsets[key as usize + 1] += 1);
        (1..offsets.len()).for_each(|row| offsets[row] += offsets[row - 1]);
        let (mut next, mut readers) = (offsets.clone(), vec![Reader::default(); lists.keys.len()]);
        for query in 0..lists.n_rows() {
            for (&key, pair) in lists.keys(query).iter().zip(lists.offsets[query]..) {
                let place = &mut next[key as usize];
                readers[*place as usize] = Reader { query: query as u32, pair };
                *place += 1;
            }
        }
        Readers { offsets, readers }
    }

    /// The pairs of a key, queries ascending.
    #[inline(always)]
    pub(crate) fn of(&self, key: usize) -> &[Reader] {
        &self.readers[self.offsets[key] as usize..self.offsets[key + 1] as usize]
    }
}

impl Lists {
    /// Where the keys of each row begin and end, and the keys.
    #[cfg(feature = "flex")]
    pub(crate) fn parts(&self) -> (&[u32], &[u32]) {
        (&self.offsets, &self.keys)
    }

    fn new(offsets: Vec<u32>, keys: Vec<u32>) -> Lists {
        assert!(offsets.first() == Some(&0), "offsets start at 0");
        assert_eq!(offsets.last().map(|&end| end as usize), Some(keys.len()), "offsets end at the number of keys");
        let n_rows = offsets.len() as u32 - 1;
        assert!(keys.iter().all(|&key| key < n_rows), "a key beyond the {n_rows} rows");
        let mut lists = Lists {
            offsets,
            keys,
            seams: Vec::new(),
            #[cfg(feature = "flex")]
            readers: OnceLock::new(),
        };
        lists.seams = lists.find_seams();
        lists
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The keys of a row.
    #[inline(always)]
    pub(crate) fn keys(&self, row: usize) -> &[u32] {
        &self.keys[self.pair(row)..self.pair(row + 1)]
    }

    /// The first pair of a row.
    #[inline(always)]
    pub(crate) fn pair(&self, row: usize) -> usize {
        self.offsets[row] as usize
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

    /// Row t is a seam if all rows and keys before it stay under t and all lists from it on at or above. O(pairs).
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

/// The lists as index tensors, each of one entry per pair.
#[derive(Debug)]
pub(crate) struct Indices {
    n_rows: usize,
    /// Row of each pair's query.
    pub(crate) query: Tensor<1, Int>,
    /// Row of each pair's key.
    pub(crate) key: Tensor<1, Int>,
    /// The first pair of the same query.
    first: Tensor<1, Int>,
    /// For k = 0, 1, ..: the pair 2^k further on in the same list, or its last.
    jumps: Vec<Tensor<1, Int>>,
}

impl Indices {
    fn new(lists: &Lists, device: &Device) -> Indices {
        let pairs = lists.keys.len();
        let (mut query, mut first) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        let (mut last, mut longest) = (Vec::with_capacity(pairs), 0);
        for (row, bounds) in lists.offsets.windows(2).enumerate() {
            let length = (bounds[1] - bounds[0]) as usize;
            longest = longest.max(length);
            query.extend(std::iter::repeat_n(row as i32, length));
            first.extend(std::iter::repeat_n(bounds[0] as i32, length));
            last.extend(std::iter::repeat_n(bounds[1] as i32 - 1, length));
        }
        let mut jumps = Vec::new();
        let mut step = 1;
        while step < longest {
            let jump = last.iter().enumerate().map(|(pair, &last)| last.min((pair + step) as i32)).collect();
            jumps.push(ints(jump, [pairs], device));
            step *= 2;
        }
        Indices {
            n_rows: lists.n_rows(),
            query: ints(query, [pairs], device),
            key: ints(lists.keys.iter().map(|&key| key as i32).collect(), [pairs], device),
            first: ints(first, [pairs], device),
            jumps,
        }
    }

    /// For every pair the largest value among the pairs of its query, by doubling: log2(longest list) gathers and no
    /// operation that a backend might lack. Shapes: [pairs, H] -> [pairs, H].
    pub(crate) fn segment_max(&self, values: Tensor<2>) -> Tensor<2> {
        let widen = |top: Tensor<2>, jump: &Tensor<1, Int>| top.clone().max_pair(top.select(0, jump.clone()));
        self.jumps.iter().fold(values, widen).select(0, self.first.clone())
    }

    /// The sum over the pairs of each query. Shapes: [pairs, W] -> [T, W].
    pub(crate) fn segment_sum(&self, values: Tensor<2>) -> Tensor<2> {
        let [_, width] = values.dims();
        let zeros = Tensor::zeros([self.n_rows, width], &values.device());
        zeros.select_assign(0, self.query.clone(), values, IndexingUpdateOp::Add)
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
