//! The canonical order: invariant, topological and complete, on large trees too.

use pace_graph::{Dag, Method, Op, canonical, canonicalise};
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::graphs::{dag, forest, isomorphic, renumbered, reversed, symmetric_dag};

fn check_invariance(dag: &Dag, order: &[usize]) {
    let other = dag.relabel(order);
    let (one, two) = (canonicalise(dag), canonicalise(&other));
    let form = dag.relabel(&one.order);
    assert_eq!(form, other.relabel(&two.order), "renumbering changes the canonical form of {dag}");
    assert!(form.is_topologically_numbered(), "the canonical form of {dag} is not topological");
    assert_eq!(one.method, two.method);
    assert!((one.automorphisms.log10() - two.automorphisms.log10()).abs() < 1e-9);
    assert_eq!(canonical(&form), form, "canonical forms are fixed points");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn small_graphs_are_invariant((dag, order) in renumbered(dag(10, 3))) {
        check_invariance(&dag, &order);
    }

    #[test]
    fn symmetric_graphs_are_invariant((dag, order) in renumbered(symmetric_dag(4, 5))) {
        check_invariance(&dag, &order);
    }

    #[test]
    fn equal_forms_mean_isomorphic(one in dag(5, 2), other in dag(5, 2)) {
        prop_assert_eq!(canonical(&one) == canonical(&other), isomorphic(&one, &other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn forests_are_invariant_both_ways((dag, order) in renumbered(forest(90, 2))) {
        check_invariance(&dag, &order);
        check_invariance(&reversed(&dag), &order);
        prop_assert_eq!(canonicalise(&dag).method, Method::Tree);
    }

    #[test]
    fn large_graphs_are_invariant((dag, order) in renumbered(dag(120, 2))) {
        check_invariance(&dag, &order);
    }

    #[test]
    fn large_symmetric_graphs_are_invariant((dag, order) in renumbered(symmetric_dag(30, 6))) {
        check_invariance(&dag, &order);
    }
}

/// Every one of many renumberings of one graph, not only one each of many graphs.
#[test]
fn many_permutations_of_hard_graphs_agree() {
    // A hexagon's vertices over its edges: regular, so refinement alone learns nothing.
    let hexagons = |copies: usize| {
        let edges = (0..copies).flat_map(|copy| {
            (0..6).flat_map(move |i| {
                let (vertex, edge) = (12 * copy + i, 12 * copy + 6 + i);
                [(vertex, edge), (12 * copy + (i + 1) % 6, edge)]
            })
        });
        let ops: Vec<Op> = (0..12 * copies).map(|node| u16::from(node % 12 >= 6)).collect();
        Dag::new(ops, edges).expect("vertices below edges")
    };
    for (dag, method, group) in [(hexagons(2), Method::Nauty, 12.0 * 12.0 * 2.0), (hexagons(10), Method::Traces, 0.0)] {
        let found = canonicalise(&dag);
        assert_eq!(found.method, method);
        if group > 0.0 {
            assert_eq!(found.automorphisms.to_f64(), group);
        } else {
            // (|D6|)^10 * 10!
            let log10 = 10.0 * 12f64.log10() + (1..=10).map(|k| f64::from(k).log10()).sum::<f64>();
            assert!((found.automorphisms.log10() - log10).abs() < 1e-6);
        }
        let form = canonical(&dag);
        let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
        for round in 0..200 {
            let n = order.len();
            // Two generators of the symmetric group, composed differently each round.
            order.rotate_left(1 + round % 7);
            order.swap(round % n, (round * round + 3) % n);
            assert_eq!(canonical(&dag.relabel(&order)), form);
        }
    }
}

#[test]
fn each_method_is_reached() {
    let method = |text: &str| canonicalise(&text.parse().expect("a DAG")).method;
    assert_eq!(method("0 1 2 : 0>1 1>2"), Method::Tree);
    assert_eq!(method("0 1 2 : 0>1 1>2 0>2"), Method::Distinct);
    assert_eq!(method("0 2 2 2 1 : 0>1 0>2 1>3 2>4 3>4"), Method::Refinement);
    assert_eq!(method("0 2 2 1 : 0>1 0>2 1>3 2>3"), Method::Nauty);
}

#[test]
fn group_sizes_are_the_known_ones() {
    let size = |text: &str| canonicalise(&text.parse().expect("a DAG")).automorphisms.to_f64();
    assert_eq!(size("0 2 2 1 : 0>1 0>2 1>3 2>3"), 2.0);
    assert_eq!(size("0 2 3 1 : 0>1 0>2 1>3 2>3"), 1.0);
    assert_eq!(size("0 1 1 1 1 : 0>1 0>2 0>3 0>4"), 24.0);
    assert_eq!(size("0 2 2 2 2 2 1 : 0>1 0>2 0>3 0>4 0>5 1>6 2>6 3>6 4>6 5>6"), 120.0);
    // Two equal subtrees of two equal leaves each: 2 * 2 * 2.
    assert_eq!(size("0 1 1 2 2 2 2 : 0>1 0>2 1>3 1>4 2>5 2>6"), 8.0);
}

#[test]
fn trees_of_30_000_nodes_of_every_shape_are_ordered() {
    // Node v hangs below v / 2 + a wobble: deep enough for levels, wide enough for large child lists.
    let n = 30_000usize;
    let edges = (1..n).map(|node| ((node * 7919 % node.div_ceil(3)).min(node - 1), node));
    let tree = Dag::new((0..n).map(|node| (node % 5) as Op).collect(), edges).expect("parents first");
    let found = canonicalise(&tree);
    assert_eq!(found.method, Method::Tree);

    // Neither the deepest nor the widest trees may overflow the stack, however they are numbered. `cargo xtask bench graph`
    // measures how long trees take.
    let from_root = [
        Dag::new(vec![0; n], (1..n).map(|node| (node - 1, node))).expect("a path"),
        Dag::new(vec![0; n], (1..n).map(|node| (0, node))).expect("a star"),
        Dag::new(vec![0; n], (1..n).map(|node| (node - 1 - usize::from(node > 1 && node % 2 == 0), node)))
            .expect("a path with a leaf on every node"),
        Dag::new(vec![0; n], []).expect("roots alone"),
    ];
    let backwards: Vec<usize> = (0..n).rev().collect();
    for dag in from_root.iter().flat_map(|dag| [dag.clone(), reversed(dag), dag.relabel(&backwards)]) {
        let found = canonicalise(&dag);
        assert_eq!(found.method, Method::Tree);
        assert!(dag.relabel(&found.order).is_topologically_numbered());
    }
    assert_eq!(canonicalise(&from_root[0]).order, (0..n).collect::<Vec<_>>());
    let log10_factorial = |n: usize| (1..=n).map(|k| (k as f64).log10()).sum::<f64>();
    assert!((canonicalise(&from_root[1]).automorphisms.log10() - log10_factorial(n - 1)).abs() < 1e-6);
}

#[test]
fn calls_from_many_threads_agree_with_one() {
    let graphs: Vec<Dag> = (0..400usize)
        .map(|seed| {
            let n = 6 + seed % 70;
            let edges = (0..n).flat_map(|to| (0..to).map(move |from| (from, to)));
            let kept = edges.filter(|(from, to)| (from * 31 + to * 17 + seed) % 5 == 0);
            Dag::new((0..n).map(|node| (node % 2) as Op).collect(), kept).expect("forward edges")
        })
        .collect();
    let serial: Vec<_> = graphs.iter().map(canonicalise).collect();
    let parallel: Vec<_> = graphs.into_par_iter().map(|dag| canonicalise(&dag)).collect();
    assert_eq!(serial, parallel);
}
