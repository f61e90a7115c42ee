//! [`PairLists`]: who attends to whom, as a list of keys per row.

mod indices;
mod lists;

pub(crate) use lists::Lists;
#[cfg(feature = "flex")]
pub(crate) use lists::Reader;

use std::sync::{Arc, OnceLock};

use burn::tensor::Device;

use self::indices::Indices;

/// The keys that each of T rows attends to, as T compressed lists (CSR).
///
/// The fused kernels read the lists as they are. The index tensors of the plain twin are built when it first asks for them, because
/// a packed batch is made for every step. Clones share everything.
#[derive(Clone, Debug)]
pub struct PairLists {
    lists: Arc<Lists>,
    device: Device,
    indices: Arc<OnceLock<Indices>>,
}

impl PairLists {
    /// Lists over rows `0..offsets.len() - 1`; `keys[offsets[q]..offsets[q + 1]]` are those of row q. A row without keys gets zeros.
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
        self.lists.keys.n_items()
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
