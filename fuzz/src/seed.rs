//! Valid things to start from: graphs of every space, cells, genotypes.

use pace_graph::dataset::{DartsCell, Genotype, Nas101Cell, Nas101Run, nas101_hash};
use pace_graph::enumerate::{Darts, Enas, OrderedBn, RandomAst, RandomDag, Sampler};
use pace_graph::{Dag, DagSpec};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// `n` graphs of a space.
pub fn graphs(sampler: &dyn Sampler, n: usize) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    (0..n).map(|_| sampler.sample(&mut rng)).collect()
}

/// Graphs of every space, small and large.
pub fn all_graphs() -> Vec<Dag> {
    let random = |n_nodes, n_ops, edge_probability| RandomDag { n_nodes, n_ops, edge_probability };
    let samplers: [&dyn Sampler; 8] = [
        &Enas::default(),
        &OrderedBn::default(),
        &Darts,
        &RandomAst { n_nodes: 20, n_types: 4, max_depth: 6 },
        &random(1, 1, 0.0),
        &random(5, 3, 0.5),
        &random(12, 1, 0.3),
        &random(70, 2, 0.03),
    ];
    samplers
        .into_iter()
        .flat_map(|sampler| graphs(sampler, 2))
        .chain(cells().into_iter().map(|cell| cell.dag))
        .collect()
}

/// NAS-Bench-101 cells with two runs each.
pub fn cells() -> Vec<Nas101Cell> {
    let texts = [
        "0 4 : 0>1",
        "0 2 4 : 0>1 1>2 0>2",
        "0 1 3 2 4 : 0>1 0>2 1>3 2>3 3>4",
        "0 2 2 1 3 1 4 : 0>1 0>2 1>3 2>3 3>4 4>5 5>6",
    ];
    let run = |epochs| Nas101Run {
        epochs,
        training_time: Some(1.5),
        train_accuracy: Some(1.0),
        validation_accuracy: Some(0.75),
        test_accuracy: 0.5,
    };
    let cell = |text: &str| {
        let dag = DagSpec::nas101().parse(text).expect("a cell");
        Nas101Cell { hash: nas101_hash(&dag).expect("a cell"), dag, parameters: 1234, runs: vec![run(108), run(36)] }
    };
    texts.into_iter().map(cell).collect()
}

/// Genotypes of the DARTS space, the cell of a graph in both places.
pub fn genotypes() -> Vec<Genotype> {
    let cell = |dag: &Dag| DartsCell::from_dag(dag).expect("a cell of the space");
    graphs(&Darts, 3).iter().map(|dag| Genotype { normal: cell(dag), reduce: cell(dag) }).collect()
}
