//! [`raw_features`]: graphs as numbers, without any encoder.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::canon::canonical;
use crate::dag::Dag;
use crate::spec::DagSpec;
use crate::vectors::Vectors;

/// One-hot operations and the adjacency matrix above its diagonal, both of the canonical form; zeros where a graph has no node.
///
/// The control that every encoder has to beat: complete, and the same for isomorphic graphs. A row is N operations + N^2 / 2 wide for
/// the largest graphs of N nodes, so this is for small ones.
pub fn raw_features(dags: &[Dag], spec: &DagSpec) -> Vectors {
    let (n, n_ops) = (spec.max_nodes, spec.n_ops());
    let width = n * n_ops + n * (n - 1) / 2;
    let row = |dag: &Dag| {
        let dag = canonical(dag);
        let mut row = vec![0.0; width];
        dag.ops().enumerate().for_each(|(node, op)| row[node * n_ops + usize::from(op)] = 1.0);
        dag.edges().for_each(|(from, to)| row[n * n_ops + to * (to - 1) / 2 + from] = 1.0);
        row
    };
    Vectors::from_rows(dags.par_iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::raw_features;
    use crate::spec::DagSpec;

    #[test]
    fn isomorphic_cells_have_the_same_features_and_others_do_not() {
        let spec = DagSpec::nas101();
        let cell = |text: &str| text.parse().unwrap();
        let cells = [
            cell("0 1 2 4 : 0>1 0>2 1>3 2>3"),
            cell("0 2 1 4 : 0>1 0>2 1>3 2>3"),
            cell("0 1 2 4 : 0>1 1>2 2>3"),
            cell("0 1 1 4 : 0>1 0>2 1>3 2>3"),
        ];
        let features = raw_features(&cells, &spec);
        assert_eq!((features.len(), features.width()), (4, 7 * 5 + 21));
        assert_eq!(features.row(0), features.row(1));
        assert!(features.row(0) != features.row(2) && features.row(0) != features.row(3));
        assert_eq!(features.row(0).iter().sum::<f32>(), 8.0);
    }
}
