//! [`Nas101Space`]: all 423,624 cells of NAS-Bench-101, enumerated and numbered.

use rand::{Rng, RngExt};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::Sampler;
use super::cell_key::CellKey;
use super::skeleton::{Skeleton, nas101_skeletons};
use crate::canon::canonical_order;
use crate::dag::Dag;
use crate::spec::DagSpec;

/// The isomorphism classes of NAS-Bench-101 cells, one word each (3.4 MB), in ascending order.
///
/// 6,472 matrices ([`nas101_skeletons`]) with every labelling over 3 operations are 1,293,208 labelled cells; their
/// canonical forms are 423,624: 1, 6, 84, 2,441, 62,010 and 359,082 of 2 to 7 nodes. That is the benchmark (Ying et al.
/// 2019), whose own iterated hash gives the same partition. Indices are stable for one
/// [`CANON_ID`](crate::CANON_ID).
///
/// ```no_run
/// let space = pace_graph::enumerate::Nas101Space::enumerate(); // about a second
/// assert_eq!(space.len(), 423_624);
/// assert_eq!(space.index_of(&space.cell(42)), Some(42));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nas101Space {
    keys: Vec<CellKey>,
}

impl Nas101Space {
    /// Canonicalises every labelled cell, on all cores, and keeps one of each class.
    pub fn enumerate() -> Nas101Space {
        let mut keys: Vec<CellKey> = nas101_skeletons().par_iter().flat_map_iter(canonical_keys).collect();
        keys.par_sort_unstable();
        keys.dedup();
        keys.shrink_to_fit();
        Nas101Space { keys }
    }

    /// How many cells.
    #[expect(clippy::len_without_is_empty, reason = "the space is never empty")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The cell with this index, in canonical form.
    ///
    /// # Panics
    /// If `index` is not below [`Nas101Space::len`].
    pub fn cell(&self, index: usize) -> Dag {
        self.keys[index].cell()
    }

    /// The index of the class of `dag`, under any numbering; `None` if it is not in the space.
    pub fn index_of(&self, dag: &Dag) -> Option<usize> {
        let key = CellKey::new(dag, &canonical_order(dag))?;
        self.keys.binary_search(&key).ok()
    }

    /// The indices of the cells with `n_nodes` nodes; sizes follow one another.
    pub fn indices_of_size(&self, n_nodes: usize) -> std::ops::Range<usize> {
        let start = self.keys.partition_point(|key| key.n_nodes() < n_nodes);
        start..self.keys.partition_point(|key| key.n_nodes() <= n_nodes)
    }

    /// Every cell in ascending order, in canonical form.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Dag> + '_ {
        self.keys.iter().map(|key| key.cell())
    }
}

fn canonical_keys(skeleton: &Skeleton) -> impl Iterator<Item = CellKey> + use<> {
    skeleton.cells().map(|cell| CellKey::new(&cell, &canonical_order(&cell)).expect("a skeleton gives cells"))
}

impl Sampler for Nas101Space {
    fn spec(&self) -> DagSpec {
        DagSpec::nas101()
    }

    /// Uniform over the 423,624 classes (not over labelled matrices, which would favour cells without symmetry).
    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        self.cell(rng.random_range(0..self.len()))
    }
}
