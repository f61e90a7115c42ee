//! [`Mask`]: a square bit matrix of allowed (query, key) pairs.

use std::fmt;
use std::ops::Range;

use super::rule::MaskRule;

/// Rows kept inside the value: enough for every cell and network of the paper, and no allocation for them.
const INLINE_WORDS: usize = 16;

/// Which keys each query may attend to: row = query, column = key, one bit per pair.
///
/// The paper's matrix is the complement and the transpose of this: `M[i][j] = False` iff `allowed(j, i)`.
/// n^2 / 8 bytes, rounded up to whole 64-bit words per row; up to 16 nodes without heap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Mask {
    n_nodes: usize,
    /// Words per row.
    stride: usize,
    words: Words,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Words {
    Inline([u64; INLINE_WORDS]),
    Heap(Vec<u64>),
}

impl Mask {
    /// A mask that allows nothing.
    pub fn none(n_nodes: usize) -> Mask {
        let stride = n_nodes.div_ceil(64);
        let n_words = n_nodes * stride;
        let words =
            if n_words <= INLINE_WORDS { Words::Inline([0; INLINE_WORDS]) } else { Words::Heap(vec![0; n_words]) };
        Mask { n_nodes, stride, words }
    }

    /// A mask that allows every node itself.
    pub fn identity(n_nodes: usize) -> Mask {
        let mut mask = Mask::none(n_nodes);
        let stride = mask.stride;
        let words = mask.words_mut();
        for node in 0..n_nodes {
            words[node * stride + node / 64] = 1 << (node % 64);
        }
        mask
    }

    /// What an algorithm starts from before it adds the pairs along paths: nothing, or the diagonal.
    pub(super) fn start(n_nodes: usize, rule: MaskRule) -> Mask {
        if rule.sees_itself() { Mask::identity(n_nodes) } else { Mask::none(n_nodes) }
    }

    /// How many queries, and as many keys.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Whether `query` may attend to `key`. O(1).
    ///
    /// # Panics
    /// If either is not a node.
    pub fn allowed(&self, query: usize, key: usize) -> bool {
        assert!(key < self.n_nodes, "key {key} is outside 0..{}", self.n_nodes);
        self.row(query)[key / 64] >> (key % 64) & 1 == 1
    }

    /// Lets `query` attend to `key`. O(1).
    ///
    /// # Panics
    /// If either is not a node.
    pub fn allow(&mut self, query: usize, key: usize) {
        assert!(key < self.n_nodes, "key {key} is outside 0..{}", self.n_nodes);
        self.row_mut(query)[key / 64] |= 1 << (key % 64);
    }

    /// Lets `query` attend to a range of keys. O(n / 64).
    ///
    /// # Panics
    /// If the query or the end of the range is outside.
    pub fn allow_range(&mut self, query: usize, keys: Range<usize>) {
        assert!(keys.end <= self.n_nodes, "keys {keys:?} are outside 0..{}", self.n_nodes);
        if keys.is_empty() {
            return;
        }
        let (first, last) = (keys.start / 64, (keys.end - 1) / 64);
        let (head, tail) = (u64::MAX << (keys.start % 64), u64::MAX >> (63 - (keys.end - 1) % 64));
        let row = self.row_mut(query);
        if first == last {
            row[first] |= head & tail;
        } else {
            row[first] |= head;
            row[first + 1..last].fill(u64::MAX);
            row[last] |= tail;
        }
    }

    /// Forbids every node itself.
    pub(super) fn clear_diagonal(&mut self) {
        let (n_nodes, stride) = (self.n_nodes, self.stride);
        let words = self.words_mut();
        for node in 0..n_nodes {
            words[node * stride + node / 64] &= !(1 << (node % 64));
        }
    }

    /// The bits of one query, 64 keys per word, lowest bit first; bits beyond the last node are 0.
    pub fn row(&self, query: usize) -> &[u64] {
        assert!(query < self.n_nodes, "query {query} is outside 0..{}", self.n_nodes);
        &self.words()[query * self.stride..(query + 1) * self.stride]
    }

    /// The keys that `query` may attend to, ascending.
    pub fn keys(&self, query: usize) -> impl Iterator<Item = usize> + '_ {
        self.row(query).iter().enumerate().flat_map(|(index, &word)| {
            let rest = |&word: &u64| Some(word & (word - 1)).filter(|&word| word != 0);
            let words = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
            words.map(move |word| index * 64 + word.trailing_zeros() as usize)
        })
    }

    /// How many pairs are allowed.
    pub fn n_allowed(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The mask with queries and keys exchanged: ancestors become descendants. O(n^2 / 64 + allowed pairs).
    pub fn transposed(&self) -> Mask {
        let mut turned = Mask::none(self.n_nodes);
        for query in 0..self.n_nodes {
            self.keys(query).for_each(|key| turned.allow(key, query));
        }
        turned
    }

    /// The dense form `[query * n + key]`, true = allowed.
    pub fn to_bools(&self) -> Vec<bool> {
        let mut dense = vec![false; self.n_nodes * self.n_nodes];
        for query in 0..self.n_nodes {
            self.keys(query).for_each(|key| dense[query * self.n_nodes + key] = true);
        }
        dense
    }

    /// Words per row.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// The bits of one query, to be written.
    pub(super) fn row_mut(&mut self, query: usize) -> &mut [u64] {
        assert!(query < self.n_nodes, "query {query} is outside 0..{}", self.n_nodes);
        let row = query * self.stride..(query + 1) * self.stride;
        &mut self.words_mut()[row]
    }

    fn words(&self) -> &[u64] {
        match &self.words {
            // The tail beyond the last row stays 0.
            Words::Inline(words) => words,
            Words::Heap(words) => words,
        }
    }

    /// All rows one after another.
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.words {
            Words::Inline(words) => words,
            Words::Heap(words) => words,
        }
    }
}

impl fmt::Debug for Mask {
    /// One line per query, `#` = allowed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for query in 0..self.n_nodes {
            let row: String = (0..self.n_nodes).map(|key| if self.allowed(query, key) { '#' } else { '.' }).collect();
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}
