//! The binary features of an NA architecture.

use pace_graph::structure::topological_order;
use pace_graph::{Dag, DagSpec, Error};

use crate::perceptron::Entry;

const N_LAYERS: usize = 6;
const N_OPS: usize = 6;

/// One-hot operation of each layer (36), then one bit per possible skip connection (15).
pub(super) const N_FEATURES: usize = N_LAYERS * N_OPS + N_LAYERS * (N_LAYERS - 1) / 2;

/// The features whose value is 1, ascending. The nodes may be in any order.
///
/// Operation `o` of layer `i` is feature `6 i + o`; the skip from vertex `j` (0 is the input) to layer `i > j` is feature
/// `36 + i (i - 1) / 2 + j`. The edges of the chain have no feature, because every architecture has them.
pub(super) fn active_features(dag: &Dag) -> Result<Vec<Entry>, Error> {
    let spec = DagSpec::na();
    spec.validate(dag)?;
    if dag.n_nodes() != N_LAYERS + 2 {
        let rule =
            format!("it wants {N_LAYERS} layers and has {}; the surrogate knows no other size", dag.n_nodes() - 2);
        return Err(Error::Rule { spec: spec.name, rule });
    }
    // A valid graph has a path through all nodes, so it has one topological order.
    let dag = dag.relabel(&topological_order(dag));
    let mut active: Vec<usize> =
        (0..N_LAYERS).map(|layer| N_OPS * layer + usize::from(dag.op(layer + 1)) - 2).collect();
    for layer in 1..N_LAYERS {
        let skips = dag.predecessors(layer + 1).filter(|&vertex| vertex < layer);
        active.extend(skips.map(|vertex| N_LAYERS * N_OPS + layer * (layer - 1) / 2 + vertex));
    }
    Ok(active.into_iter().map(|feature| (feature as u16, 1.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_a_small_chain() {
        let dag: Dag = "0 2 3 4 5 6 7 1 : 0>1 1>2 2>3 3>4 4>5 5>6 6>7 0>2 4>6 0>6".parse().unwrap();
        let active = active_features(&dag).unwrap();
        assert!(active.iter().all(|&(_, value)| value == 1.0));
        assert!(active.iter().map(|&(feature, _)| feature).eq([0, 7, 14, 21, 28, 35, 36, 46, 50]));
        let order = [7, 3, 1, 0, 2, 6, 5, 4];
        assert_eq!(active_features(&dag.relabel(&order)).unwrap(), active);
    }

    #[test]
    fn other_sizes_are_refused() {
        let small: Dag = "0 2 1 : 0>1 1>2".parse().unwrap();
        assert!(active_features(&small).unwrap_err().to_string().contains("wants 6 layers and has 1"));
    }
}
