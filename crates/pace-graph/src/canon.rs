//! draft
use crate::dag::Dag;
/// draft: will be the canonical and topological order
pub fn canonical_order(dag: &Dag) -> Vec<usize> {
    crate::structure::topological_order(dag)
}
/// draft
pub fn canonical(dag: &Dag) -> Dag {
    dag.relabel(&canonical_order(dag))
}
