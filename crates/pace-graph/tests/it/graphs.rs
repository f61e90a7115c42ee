//! Random graphs for the properties, and renumberings of them.

use pace_graph::{Dag, Op};
use proptest::prelude::{Just, Strategy, any, prop};

/// A DAG of up to `max_nodes` nodes over `n_ops` operations, topologically numbered, with about every third edge.
pub fn dag(max_nodes: usize, n_ops: Op) -> impl Strategy<Value = Dag> {
    (1..=max_nodes).prop_flat_map(move |n| {
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
        let bits = prop::collection::vec(prop::bool::weighted(0.3), pairs.len());
        (prop::collection::vec(0..n_ops, n), bits, Just(pairs)).prop_map(|(ops, bits, pairs)| {
            let edges = pairs.into_iter().zip(bits).filter_map(|(edge, keep)| keep.then_some(edge));
            Dag::new(ops, edges).expect("forward edges")
        })
    })
}

/// A DAG made of a few copies of one small DAG between a shared input and output: full of symmetry.
pub fn symmetric_dag(max_copies: usize, max_nodes: usize) -> impl Strategy<Value = Dag> {
    (dag(max_nodes, 2), 2..=max_copies).prop_map(|(part, copies)| {
        let ops: Vec<Op> = (0..copies).flat_map(|_| part.ops().collect::<Vec<_>>()).collect();
        let n = part.n_nodes();
        let edges = (0..copies)
            .flat_map(|copy| part.edges().map(move |(from, to)| (from + copy * n, to + copy * n)).collect::<Vec<_>>());
        let copies = Dag::new(ops, edges).expect("disjoint copies");
        copies.with_virtual_output(3).with_virtual_input(4)
    })
}

/// A forest of up to `max_nodes` nodes: each node hangs below an earlier one or is a root.
pub fn forest(max_nodes: usize, n_ops: Op) -> impl Strategy<Value = Dag> {
    (1..=max_nodes).prop_flat_map(move |n| {
        (prop::collection::vec(0..n_ops, n), prop::collection::vec(any::<prop::sample::Index>(), n)).prop_map(
            |(ops, parents)| {
                let edges = parents.iter().enumerate().filter_map(|(node, parent)| {
                    // One slot more than there are earlier nodes: that one makes a root.
                    let parent = parent.index(node + 1);
                    (parent < node).then_some((parent, node))
                });
                Dag::new(ops, edges.collect::<Vec<_>>()).expect("parents come first")
            },
        )
    })
}

/// A graph together with a random permutation of its nodes.
pub fn renumbered(graphs: impl Strategy<Value = Dag>) -> impl Strategy<Value = (Dag, Vec<usize>)> {
    graphs.prop_flat_map(|dag| {
        let order: Vec<usize> = (0..dag.n_nodes()).collect();
        (Just(dag), Just(order).prop_shuffle())
    })
}

/// petgraph's answer (VF2) to whether two graphs are isomorphic: the independent check.
pub fn isomorphic(one: &Dag, other: &Dag) -> bool {
    petgraph::algo::is_isomorphic_matching(one.graph(), other.graph(), |a, b| a == b, |_, _| true)
}

/// The graph with all edges turned around.
pub fn reversed(dag: &Dag) -> Dag {
    Dag::new(dag.ops().collect(), dag.edges().map(|(from, to)| (to, from))).expect("still acyclic")
}
