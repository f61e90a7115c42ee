//! Structure on request against slow definitions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{Int, Tensor};
use pace_graph::enumerate::{OrderedBn, RandomDag};
use pace_graph::structure::{Laplacian, Paths};
use pace_graph::{Dag, DagSpec, canonical};
use pace_model::layers::Flow;
use pace_model::{DagBatch, DagTable, Layout, Padding, Structure};

use crate::setting::{distance, renumber, rng, sample, test_device, values};

const CAP: u32 = 3;
const K: usize = 4;

fn spec() -> DagSpec {
    DagSpec::new("any", ["a", "b", "c"], 9)
}

/// Graphs of 1 to 8 nodes, some without edges.
fn graphs() -> Vec<Dag> {
    let of_size = |n_nodes: usize| sample(&RandomDag { n_nodes, n_ops: 3, edge_probability: 0.4 }, 4, n_nodes as u64);
    (1..=8).flat_map(of_size).collect()
}

fn batch(dags: &[Dag], structure: Structure) -> DagBatch {
    let layout = Layout { structure, padding: Padding::Full, ..Layout::plain(&spec()) };
    DagTable::new(dags, &layout).whole(&test_device())
}

fn integers<const D: usize>(tensor: Tensor<D, Int>) -> Vec<usize> {
    tensor.into_data().iter::<i64>().map(|value| value as usize).collect()
}

/// The shortest path by trying all lengths: the nodes reached after exactly so many steps.
fn hops(dag: &Dag, from: usize, to: usize, undirected: bool) -> Option<u32> {
    let mut reached = vec![from];
    for hops in 0..=CAP {
        if reached.contains(&to) {
            return Some(hops);
        }
        let step = |&node: &usize| {
            let back: Vec<usize> = if undirected { dag.predecessors(node).collect() } else { Vec::new() };
            dag.successors(node).chain(back).collect::<Vec<_>>()
        };
        reached = reached.iter().flat_map(step).collect();
    }
    None
}

fn longest_path_to(dag: &Dag, node: usize) -> usize {
    dag.predecessors(node).map(|from| longest_path_to(dag, from) + 1).max().unwrap_or(0)
}

#[test]
fn degrees_and_distances_follow_their_definitions() {
    let dags = graphs();
    for (paths, undirected) in [(Paths::Directed, false), (Paths::Undirected, true)] {
        let batch = batch(&dags, Structure::NONE.degrees(2).distances(paths, CAP));
        let ([_, n], [incoming, outgoing]) = (batch.dims(), batch.degrees().map(integers));
        let distances = integers(batch.distances());
        for (graph, dag) in dags.iter().map(canonical).enumerate() {
            for (one, other) in (0..n).flat_map(|one| (0..n).map(move |other| (one, other))) {
                let inside = one < dag.n_nodes() && other < dag.n_nodes();
                let expected = if inside { hops(&dag, other, one, undirected) } else { None };
                let found = distances[(graph * n + one) * n + other] as u32;
                assert_eq!(found, expected.unwrap_or(CAP + 1), "{dag}: {other} to {one}");
            }
            for node in 0..n {
                let inside = node < dag.n_nodes();
                let count = |nodes: Option<usize>| nodes.unwrap_or(0).min(2);
                assert_eq!(incoming[graph * n + node], count(inside.then(|| dag.predecessors(node).count())));
                assert_eq!(outgoing[graph * n + node], count(inside.then(|| dag.successors(node).count())));
            }
        }
    }
}

/// L v = lambda v with v of length 1, ascending, and zeros beyond the nodes.
#[test]
fn eigenvectors_are_those_of_the_laplacian() {
    let dags = graphs();
    let batch = batch(&dags, Structure::NONE.spectrum(Laplacian::Combinatorial, K));
    let ([_, n], spectrum) = (batch.dims(), batch.spectrum());
    let (eigenvalues, eigenvectors) = (values(spectrum.eigenvalues), values(spectrum.eigenvectors));
    for (graph, dag) in dags.iter().map(canonical).enumerate() {
        let entry = |node: usize, k: usize| eigenvectors[(graph * n + node) * K + k];
        for (k, &value) in eigenvalues[graph * K..(graph + 1) * K].iter().enumerate() {
            if k >= dag.n_nodes() {
                assert!(value == 0.0 && (0..n).all(|node| entry(node, k) == 0.0), "{dag}: {k}");
                continue;
            }
            assert!(k == 0 || value >= eigenvalues[graph * K + k - 1]);
            let length: f32 = (0..n).map(|node| entry(node, k).powi(2)).sum();
            assert!((length - 1.0).abs() < 1e-5);
            for node in 0..dag.n_nodes() {
                let neighbours: Vec<usize> = dag.predecessors(node).chain(dag.successors(node)).collect();
                let mapped = neighbours.len() as f32 * entry(node, k)
                    - neighbours.iter().map(|&other| entry(other, k)).sum::<f32>();
                assert!((mapped - value * entry(node, k)).abs() < 1e-5, "{dag}: vector {k} at {node}");
            }
            assert!((dag.n_nodes()..n).all(|node| entry(node, k) == 0.0), "padding");
        }
    }
}

#[test]
fn levels_are_longest_paths_and_partition_the_nodes() {
    let dags = graphs();
    let batch = batch(&dags, Structure::NONE.levels());
    let [_, n] = batch.dims();
    for (reversed, levels) in [(false, batch.levels()), (true, batch.levels_reversed())] {
        let mut seen = 0;
        for (number, level) in levels.iter().enumerate() {
            let rows = integers(level.rows());
            assert_eq!(rows.len(), level.n_nodes());
            seen += rows.len();
            for row in rows {
                let dag = canonical(&dags[row / n]);
                let deepest = (0..dag.n_nodes()).map(|node| longest_path_to(&dag, node)).max().unwrap();
                let depth = longest_path_to(&dag, row % n);
                assert_eq!(number, if reversed { deepest - depth } else { depth });
            }
        }
        assert_eq!(seen, batch.lengths.iter().sum::<usize>());
    }
}

/// Isomorphic graphs have the same structure in canonical order, node by node.
#[test]
fn structure_is_the_same_for_renumbered_graphs() {
    let structure = Structure::NONE.degrees(8).distances(Paths::Undirected, 8).spectrum(Laplacian::Normalised, 3);
    let dags = sample(&OrderedBn::default(), 20, 3);
    let mut rng = rng(5);
    let others: Vec<Dag> = dags.iter().map(|dag| renumber(dag, &mut rng)).collect();
    let layout = Layout { structure, ..Layout::plain(&DagSpec::bn()) };
    let [one, other] = [&dags, &others].map(|dags| DagTable::new(dags, &layout).whole(&test_device()));
    assert_eq!(one.degrees().map(integers), other.degrees().map(integers));
    assert_eq!(integers(one.distances()), integers(other.distances()));
    let [one, other] = [one, other].map(|batch| values(batch.spectrum().eigenvectors));
    assert!(distance(&one, &other) < 1e-5);
}

#[test]
fn a_batch_names_the_field_that_was_not_requested() {
    let batch = batch(&graphs()[..2], Structure::NONE);
    let asked: [(&str, &dyn Fn()); 5] = [
        ("structure.degrees", &|| drop(batch.degrees())),
        ("structure.distances", &|| drop(batch.distances())),
        ("structure.spectrum", &|| drop(batch.spectrum())),
        ("structure.levels", &|| drop(batch.levels().iter())),
        ("structure.edge_lists", &|| assert!(!batch.edge_list(Flow::Both).segments().is_empty())),
    ];
    for (field, ask) in asked {
        let panic = catch_unwind(AssertUnwindSafe(ask)).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains(field), "{message}");
    }
}
