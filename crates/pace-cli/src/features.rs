//! Graphs as numbers without training: what an encoder has to beat.

use pace_graph::{Dag, DagSpec, Properties, Vectors, mean_std, raw_features};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Wider rows cost more than they say: from there on, graphs are described by counts instead of edges.
const MAX_WIDTH: usize = 2000;

/// One-hot operations and edges of small graphs; of larger ones sizes, depths, paths and counts of operations.
pub fn plain(dags: &[Dag], spec: &DagSpec) -> Vectors {
    let n = spec.max_nodes;
    let width = n.saturating_mul(spec.n_ops()).saturating_add(n.saturating_mul(n) / 2);
    if width <= MAX_WIDTH { raw_features(dags, spec) } else { standardised(properties(dags, spec)) }
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

/// Every column with mean 0 and spread 1, so that a distance does not depend on units.
pub fn standardised(vectors: Vectors) -> Vectors {
    let (n, width) = (vectors.len(), vectors.width());
    let mut values = vectors.values().to_vec();
    for column in 0..width {
        let (mean, std) = mean_std((0..n).map(|row| f64::from(values[row * width + column])));
        let scale = if std > 1e-9 { 1.0 / std } else { 0.0 };
        for row in 0..n {
            let value = &mut values[row * width + column];
            *value = ((f64::from(*value) - mean) * scale) as f32;
        }
    }
    Vectors::new(values, width)
}
