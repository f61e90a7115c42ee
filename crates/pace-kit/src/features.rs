//! Graphs as numbers without training: what an encoder has to beat.

use pace_graph::{Dag, DagSpec, Properties, Vectors, raw_features};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Wider rows cost more than they say: from there on, graphs are described by counts instead of edges.
const MAX_WIDTH: usize = 2000;

/// One-hot operations and edges of small graphs; of larger ones sizes, depths, paths and counts of operations.
pub fn plain(dags: &[Dag], spec: &DagSpec) -> Vectors {
    let n = spec.max_nodes;
    let width = n.saturating_mul(spec.n_ops()).saturating_add(n.saturating_mul(n) / 2);
    if width <= MAX_WIDTH { raw_features(dags, spec) } else { properties(dags, spec).standardised() }
}

/// What [`plain`] is called.
pub fn plain_name(spec: &DagSpec) -> &'static str {
    let n = spec.max_nodes;
    let width = n.saturating_mul(spec.n_ops()).saturating_add(n.saturating_mul(n) / 2);
    if width <= MAX_WIDTH { "operations and edges, one-hot" } else { "sizes, depths, paths and counts" }
}

/// Sizes, depths, paths and counts of operations.
pub fn properties(dags: &[Dag], spec: &DagSpec) -> Vectors {
    let properties = Properties::new(spec);
    Vectors::from_rows(dags.par_iter().map(|dag| properties.of(dag)).collect::<Vec<_>>(), properties.width())
}
