//! Masks, distances and spectra: every algorithm against every other.

use pace_graph::Dag;
use pace_graph::enumerate::{RandomAst, RandomDag, Sampler};
use pace_graph::structure::{
    AncestorLists, Backtracking, DfsTree, Diagonal, Direction, Distances, Laplacian, Mask, MaskAlgorithm, MaskRule,
    Paths, backtracking_mask, dependent_set, depths, distances, floyd, in_degrees, laplacian, mask, out_degrees,
    spectrum,
};
use proptest::prelude::{Strategy, any, proptest};
use proptest::{prop_assert, prop_assert_eq};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// DAGs of 1 to 40 nodes of any density, numbered at random.
fn dags() -> impl Strategy<Value = Dag> {
    (1..=40_usize, 0.0..=1.0_f64, any::<u64>()).prop_map(|(n_nodes, density, seed)| {
        let sampler = RandomDag { n_nodes, n_ops: 3, edge_probability: density * density };
        sampler.sample(&mut ChaCha8Rng::seed_from_u64(seed))
    })
}

/// Trees of 1 to 150 nodes in DFS order: more than one and more than two words per row.
fn trees() -> impl Strategy<Value = Dag> {
    (1..=150_usize, 1..=20_usize, any::<u64>()).prop_map(|(n_nodes, max_depth, seed)| {
        RandomAst { n_nodes, n_types: 3, max_depth }.sample(&mut ChaCha8Rng::seed_from_u64(seed))
    })
}

/// The same graph numbered along a topological order, which takes another path through the closure.
fn numbered(dag: &Dag) -> Dag {
    let depth = depths(dag);
    let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
    order.sort_by_key(|&node| depth[node]);
    dag.relabel(&order)
}

fn dag(text: &str) -> Dag {
    text.parse().expect("a DAG")
}

/// A mask drawn as text, `#` = allowed, one word per query.
fn drawn(mask: &Mask) -> String {
    format!("{mask:?}").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lists_to_mask(lists: &AncestorLists, direction: Direction) -> Mask {
    let mut mask = Mask::none(lists.n_nodes());
    for (node, above) in lists.pairs() {
        let (query, key) = if direction == Direction::Ancestors { (node, above) } else { (above, node) };
        mask.allow(query, key);
    }
    mask
}

/// Floyd leaves the diagonal infinite; breadth-first search starts there with 0.
fn equal_off_diagonal(a: &Distances, b: &Distances) -> bool {
    let n = a.n_nodes();
    (0..n).all(|i| (0..n).filter(|&j| i != j).all(|j| a.get(i, j) == b.get(i, j)))
}

#[test]
fn masks_of_a_diamond() {
    let dag = dag("0 2 3 1 : 0>1 0>2 1>3 2>3");
    assert_eq!(drawn(&mask(&dag, MaskRule::PACE)), "#... ##.. #.#. ####");
    assert_eq!(drawn(&mask(&dag, MaskRule::PAPER)), ".... #... #... ###.");
    assert_eq!(drawn(&mask(&dag, MaskRule::REFERENCE_MLM)), ".### ...# ...# ....");
    assert_eq!(drawn(&mask(&dag, MaskRule::AST)), "#### .#.# ..## ...#");
    assert_eq!(dependent_set(&dag, 0), [1, 2, 3]);
    assert_eq!(mask(&dag, MaskRule::PACE).to_bools().iter().filter(|&&allowed| allowed).count(), 9);
}

#[test]
fn backtracking_as_printed_loses_the_root_and_nothing_else() {
    let tree = DfsTree::new(&dag("0 1 2 2 1 : 0>1 1>2 1>3 0>4")).expect("a tree in DFS order");
    let printed = |rule| drawn(&backtracking_mask(&tree, rule, Backtracking::AsPrinted));
    let repaired = |rule| drawn(&backtracking_mask(&tree, rule, Backtracking::Repaired));
    assert_eq!(printed(MaskRule::PACE), "..... .#... .##.. .#.#. ....#");
    assert_eq!(repaired(MaskRule::PACE), "#.... ##... ###.. ##.#. #...#");
    // The diagonal of the printed algorithm does not depend on the rule.
    assert_eq!(printed(MaskRule::PAPER), printed(MaskRule::PACE));
    assert_eq!(repaired(MaskRule::PAPER), "..... #.... ##... ##... #....");
    assert_eq!(printed(MaskRule::AST), "..... .###. ..#.. ...#. ....#");
}

#[test]
fn other_orders_than_dfs_are_refused() {
    for (text, reason) in [
        ("0 1 2 : 1>0 1>2", "node 0 has a parent"),
        ("0 1 2 : 0>1", "node 2 has no parent"),
        ("0 1 2 : 0>1 0>2 1>2", "node 2 has more than one parent"),
        ("0 1 1 2 : 0>1 0>2 1>3", "parent 1 of node 3"),
        ("0 1 1 2 : 0>3 3>2 2>1", "parent 2 of node 1"),
    ] {
        let error = DfsTree::new(&dag(text)).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
        assert!(MaskAlgorithm::Backtracking.mask(&dag(text), MaskRule::PACE).is_err(), "{text}");
    }
}

#[test]
fn mask_algorithms_agree_across_words() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for n_nodes in [16, 17, 63, 64, 65, 128, 129, 200] {
        for edge_probability in [0.5, 2.0, 8.0].map(|degree| degree / n_nodes as f64) {
            let dag = RandomDag { n_nodes, n_ops: 2, edge_probability }.sample(&mut rng);
            for dag in [&dag, &numbered(&dag)] {
                for rule in MaskRule::ALL {
                    let expected = mask(dag, rule);
                    for algorithm in [MaskAlgorithm::Floyd, MaskAlgorithm::Dfs] {
                        assert_eq!(algorithm.mask(dag, rule).expect("for any DAG"), expected, "{n_nodes} {rule:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn ranges_cross_words() {
    let mut mask = Mask::none(200);
    for (start, end) in [(0, 0), (3, 5), (0, 64), (63, 65), (10, 200), (64, 128), (199, 200)] {
        mask.allow_range(7, start..end);
        assert!((start..end).all(|key| mask.allowed(7, key)));
    }
    mask = Mask::none(200);
    mask.allow_range(9, 60..131);
    assert_eq!(mask.keys(9).collect::<Vec<_>>(), (60..131).collect::<Vec<_>>());
    assert_eq!(mask.n_allowed(), 71);
}

#[test]
fn spectrum_of_known_graphs() {
    // A path on three nodes: 0, 1, 3 and 0, 1, 2.
    let path = dag("0 0 0 : 0>1 1>2");
    for (kind, known) in [(Laplacian::Combinatorial, [0.0, 1.0, 3.0]), (Laplacian::Normalised, [0.0, 1.0, 2.0])] {
        let spectrum = spectrum(&path, kind);
        for (found, known) in spectrum.eigenvalues().iter().zip(known) {
            assert!((found - known).abs() < 1e-12, "{kind:?}: {found} {known}");
        }
    }
    // Isolated nodes: all zero under both.
    for kind in [Laplacian::Combinatorial, Laplacian::Normalised] {
        assert_eq!(spectrum(&dag("0 0 :"), kind).eigenvalues(), [0.0, 0.0]);
    }
}

proptest! {
    #[test]
    fn mask_algorithms_agree_on_dags(dag in dags()) {
        for dag in [&dag, &numbered(&dag)] {
            for rule in MaskRule::ALL {
                let expected = mask(dag, rule);
                for algorithm in [MaskAlgorithm::Closure, MaskAlgorithm::Floyd, MaskAlgorithm::Dfs] {
                    prop_assert_eq!(&algorithm.mask(dag, rule).expect("for any DAG"), &expected);
                }
                let lists = AncestorLists::of_dag(dag, rule.diagonal);
                prop_assert_eq!(&lists_to_mask(&lists, rule.direction), &expected);
                prop_assert_eq!(lists.n_pairs(), expected.n_allowed());
            }
            prop_assert_eq!(mask(dag, MaskRule::PACE).transposed(), mask(dag, MaskRule::AST));
            prop_assert_eq!(mask(dag, MaskRule::PAPER).transposed(), mask(dag, MaskRule::DFS_TEXT));
        }
    }

    #[test]
    fn masks_move_with_the_numbering(dag in dags(), seed in any::<u64>()) {
        use rand::seq::SliceRandom;
        let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let (before, after) = (mask(&dag, MaskRule::PACE), mask(&dag.relabel(&order), MaskRule::PACE));
        for (i, &query) in order.iter().enumerate() {
            for (j, &key) in order.iter().enumerate() {
                prop_assert_eq!(after.allowed(i, j), before.allowed(query, key));
            }
        }
    }

    #[test]
    fn mask_algorithms_agree_on_trees(dag in trees()) {
        let tree = DfsTree::new(&dag).expect("trees in DFS order");
        for rule in MaskRule::ALL {
            let expected = mask(&dag, rule);
            for algorithm in MaskAlgorithm::ALL {
                prop_assert_eq!(&algorithm.mask(&dag, rule).expect("for trees"), &expected);
            }
            let lists = AncestorLists::of_tree(&tree, rule.diagonal);
            prop_assert_eq!(&lists, &AncestorLists::of_dag(&dag, rule.diagonal));
            prop_assert_eq!(&lists_to_mask(&lists, rule.direction), &expected);
            prop_assert_eq!(&lists.transposed().transposed(), &lists);
            let mut turned: Vec<_> = lists.pairs().map(|(node, above)| (above, node)).collect();
            turned.sort_unstable();
            prop_assert!(lists.transposed().pairs().eq(turned));
        }
        let strict = mask(&dag, MaskRule::PAPER);
        let depth = depths(&dag);
        for (node, &depth) in depth.iter().enumerate() {
            prop_assert_eq!(tree.depth(node), depth);
            prop_assert_eq!(tree.parent(node), dag.predecessors(node).next());
            for above in 0..dag.n_nodes() {
                prop_assert_eq!(tree.is_ancestor(above, node), strict.allowed(node, above));
            }
        }
    }

    #[test]
    fn distances_agree_with_floyd_and_reachability(dag in dags(), cutoff in 0..6_u32) {
        let directed = distances(&dag, Paths::Directed, None);
        let undirected = distances(&dag, Paths::Undirected, None);
        prop_assert!(equal_off_diagonal(&floyd(&dag), &directed));
        prop_assert!((0..dag.n_nodes()).all(|node| floyd(&dag).get(node, node).is_none()));
        let reachable = mask(&dag, MaskRule::AST);
        for paths in [Paths::Directed, Paths::Undirected] {
            let (all, near) = (distances(&dag, paths, None), distances(&dag, paths, Some(cutoff)));
            for i in 0..dag.n_nodes() {
                for j in 0..dag.n_nodes() {
                    prop_assert_eq!(near.get(i, j), all.get(i, j).filter(|&hops| hops <= cutoff));
                }
            }
        }
        for i in 0..dag.n_nodes() {
            for j in 0..dag.n_nodes() {
                prop_assert_eq!(directed.get(i, j).is_some(), reachable.allowed(i, j));
                prop_assert_eq!(undirected.get(i, j), undirected.get(j, i));
                if let Some(hops) = directed.get(i, j) {
                    prop_assert!(undirected.get(i, j).is_some_and(|short| short <= hops));
                }
                prop_assert_eq!(directed.get(i, j) == Some(1), dag.has_edge(i, j));
            }
        }
    }

    #[test]
    fn degrees_count_neighbours(dag in dags()) {
        let (incoming, outgoing) = (in_degrees(&dag), out_degrees(&dag));
        for node in 0..dag.n_nodes() {
            prop_assert_eq!(incoming[node], dag.predecessors(node).count());
            prop_assert_eq!(outgoing[node], dag.successors(node).count());
        }
    }

    #[test]
    fn spectrum_is_a_spectrum(dag in dags()) {
        let n = dag.n_nodes();
        let apart = distances(&dag, Paths::Undirected, None);
        let n_components = (0..n).filter(|&i| (0..i).all(|j| apart.get(i, j).is_none())).count();
        for kind in [Laplacian::Combinatorial, Laplacian::Normalised] {
            let (matrix, spectrum) = (laplacian(&dag, kind), spectrum(&dag, kind));
            let values = spectrum.eigenvalues();
            let trace: f64 = (0..n).map(|i| matrix[(i, i)]).sum();
            prop_assert!((values.iter().sum::<f64>() - trace).abs() < 1e-9 * (1.0 + trace));
            prop_assert!(values.is_sorted());
            prop_assert_eq!(values.iter().filter(|&&value| value < 1e-9).count(), n_components);
            for (index, value) in values.iter().enumerate() {
                let vector = spectrum.eigenvector(index);
                for i in 0..n {
                    let product: f64 = (0..n).map(|j| matrix[(i, j)] * vector[j]).sum();
                    prop_assert!((product - value * vector[i]).abs() < 1e-9 * (1.0 + n as f64));
                }
                let norm: f64 = vector.iter().map(|entry| entry * entry).sum();
                prop_assert!((norm - 1.0).abs() < 1e-9);
                let (low, high) = vector.iter().fold((0.0_f64, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
                prop_assert!(high >= -low - 1e-9);
            }
        }
    }
}

#[test]
fn large_trees_stay_sparse() {
    let sampler = RandomAst { n_nodes: 30_000, n_types: 50, max_depth: 12 };
    let dag = sampler.sample(&mut ChaCha8Rng::seed_from_u64(1));
    let tree = DfsTree::new(&dag).expect("a tree in DFS order");
    let lists = AncestorLists::of_tree(&tree, Diagonal::Masked);
    assert_eq!(lists.n_pairs(), (0..30_000).map(|node| tree.depth(node)).sum::<usize>());
    assert!(lists.n_pairs() > 4 * 30_000, "{} pairs", lists.n_pairs());
    assert!(lists.n_bytes() < 1_000_000, "{} bytes", lists.n_bytes());
}
