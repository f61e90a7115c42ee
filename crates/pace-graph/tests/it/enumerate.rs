//! The NAS-Bench-101 space enumerated, and samplers that keep their promises.

use std::collections::HashMap;
use std::sync::LazyLock;

use pace_graph::enumerate::{
    Darts, Enas, Nas101Space, OrderedBn, RandomAst, RandomDag, Sampler, UniformBn, UniformDags, nas101_skeletons,
};
use pace_graph::structure::DfsTree;
use pace_graph::{Dag, DagSpec, canonical};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Enumerated once for all tests.
static SPACE: LazyLock<Nas101Space> = LazyLock::new(Nas101Space::enumerate);

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Pearson's statistic of counts against equal expectations.
fn chi_square(counts: impl ExactSizeIterator<Item = usize>, n_draws: usize) -> f64 {
    let expected = n_draws as f64 / counts.len() as f64;
    counts.map(|count| (count as f64 - expected).powi(2) / expected).sum()
}

#[test]
fn nas101_has_6472_matrices_and_1293208_labelled_cells() {
    let skeletons = nas101_skeletons();
    assert_eq!(skeletons.len(), 6_472);
    assert_eq!(skeletons.iter().map(|skeleton| skeleton.n_labellings()).sum::<usize>(), 1_293_208);
    assert!(skeletons.is_sorted());
    let spec = DagSpec::nas101();
    for skeleton in skeletons.iter().step_by(50) {
        assert_eq!(skeleton.cells().count(), skeleton.n_labellings());
        for cell in skeleton.cells() {
            spec.validate(&cell).expect("a cell");
            assert_eq!(cell.n_nodes(), skeleton.n_nodes());
        }
    }
}

#[test]
fn nas101_has_423624_cells() {
    assert_eq!(SPACE.len(), 423_624);
    let per_size: Vec<usize> = (2..=7).map(|n_nodes| SPACE.indices_of_size(n_nodes).len()).collect();
    assert_eq!(per_size, [1, 6, 84, 2_441, 62_010, 359_082]);
}

#[test]
fn nas101_cells_are_valid_canonical_and_found_under_any_numbering() {
    let mut rng = rng(0);
    assert_eq!(SPACE.iter().len(), SPACE.len());
    for (index, cell) in SPACE.iter().enumerate().step_by(97) {
        SPACE.spec().validate(&cell).expect("a cell");
        assert_eq!(canonical(&cell), cell);
        let mut order: Vec<usize> = (0..cell.n_nodes()).collect();
        order.shuffle(&mut rng);
        assert_eq!(SPACE.index_of(&cell.relabel(&order)), Some(index));
    }
}

#[test]
fn nas101_knows_its_limits() {
    let dag = |text: &str| text.parse::<Dag>().expect("a DAG");
    assert_eq!(SPACE.index_of(&dag("0 4 : 0>1")), Some(0));
    for outside in [
        "0 :",                                                     // one node
        "0 4 1 : 0>1 0>2",                                         // a loose end
        "4 0 : 0>1",                                               // input and output exchanged
        "0 5 4 : 0>1 1>2",                                         // an unknown operation
        "0 0 4 : 0>1 1>2",                                         // two inputs
        "0 1 1 1 1 1 1 4 : 0>1 1>2 2>3 3>4 4>5 5>6 6>7",           // eight nodes
        "0 1 1 1 1 1 4 : 0>1 1>2 2>3 3>4 4>5 5>6 0>2 0>3 0>4 0>5", // ten edges
    ] {
        assert_eq!(SPACE.index_of(&dag(outside)), None, "{outside}");
    }
}

#[test]
fn nas101_samples_classes_uniformly() {
    // By size: 359,082 of 423,624 cells have 7 nodes, whatever their symmetry.
    let (mut rng, n_draws) = (rng(3), 20_000);
    let sevens = (0..n_draws).filter(|_| SPACE.sample(&mut rng).n_nodes() == 7).count() as f64;
    let p = 359_082.0 / 423_624.0;
    let deviation = (p * (1.0 - p) * f64::from(n_draws)).sqrt();
    assert!((sevens - p * f64::from(n_draws)).abs() < 4.0 * deviation, "{sevens}");
}

#[test]
fn every_sample_is_valid_and_the_seed_decides() {
    let samplers: [&dyn Sampler; 9] = [
        &Enas::default(),
        &Enas { n_layers: 12 },
        &Enas { n_layers: 1 },
        &OrderedBn::default(),
        &OrderedBn { arc_probability: 0.0 },
        &UniformBn::default(),
        &Darts,
        &RandomDag { n_nodes: 30, n_ops: 4, edge_probability: 0.2 },
        &RandomAst { n_nodes: 80, n_types: 4, max_depth: 9 },
    ];
    for sampler in samplers {
        let (spec, mut first, mut second) = (sampler.spec(), rng(7), rng(7));
        for _ in 0..300 {
            let dag = sampler.sample(&mut first);
            spec.validate(&dag).expect("samples are valid");
            assert_eq!(dag, sampler.sample(&mut second));
        }
    }
    SPACE.spec().validate(&SPACE.sample(&mut rng(1))).expect("samples are valid");
}

#[test]
fn enas_is_uniform_over_two_layers() {
    // 6 x 6 operations and one skip: 72 graphs. The 99.99th percentile of chi-square with 71 degrees is 125.
    let (mut rng, n_draws) = (rng(5), 72_000);
    let mut counts: HashMap<Dag, usize> = HashMap::new();
    (0..n_draws).for_each(|_| *counts.entry(Enas { n_layers: 2 }.sample(&mut rng)).or_default() += 1);
    assert_eq!(counts.len(), 72);
    assert!(chi_square(counts.into_values(), n_draws) < 125.0);
}

#[test]
fn ordered_networks_have_two_sevenths_of_the_arcs() {
    let mut rng = rng(11);
    let inner = |dag: &Dag| dag.edges().filter(|&(from, to)| from != 0 && to != 9).count();
    let n_arcs: usize = (0..2_000).map(|_| inner(&OrderedBn::default().sample(&mut rng))).sum();
    // 56,000 arcs with probability 2/7: 16,000 with a standard deviation of 107.
    assert!(n_arcs.abs_diff(16_000) < 430, "{n_arcs}");
}

#[test]
fn labelled_dags_are_counted() {
    let known = [1, 3, 25, 543, 29_281, 3_781_503, 1_138_779_265, 783_702_329_343, 1_213_442_454_842_881];
    for (n_nodes, count) in (1..).zip(known) {
        assert_eq!(UniformDags::new(n_nodes).count(), count);
    }
    // OEIS A003024, the last that 128 bits hold.
    assert_eq!(UniformDags::new(14).count(), 1_439_428_141_044_398_334_941_790_719_839_535_103);
}

#[test]
fn labelled_dags_are_sampled_uniformly() {
    // 99.99th percentiles of chi-square: 24 degrees 59; 542 degrees 674.
    for (n_nodes, n_dags, limit) in [(3, 25, 59.0), (4, 543, 674.0)] {
        let (dags, mut rng, n_draws) = (UniformDags::new(n_nodes), rng(2), n_dags * 400);
        let mut counts: HashMap<Vec<(usize, usize)>, usize> = HashMap::new();
        for _ in 0..n_draws {
            let mut arcs = dags.sample_arcs(&mut rng);
            arcs.sort_unstable();
            *counts.entry(arcs).or_default() += 1;
        }
        assert_eq!(counts.len(), n_dags);
        let statistic = chi_square(counts.into_values(), n_draws);
        assert!(statistic < limit, "{n_nodes} nodes: {statistic}");
    }
}

#[test]
fn darts_inputs_are_distinct_and_uniform() {
    let (mut rng, n_draws) = (rng(13), 30_000);
    let mut pairs: HashMap<Vec<usize>, usize> = HashMap::new();
    for _ in 0..n_draws {
        let cell = Darts.sample(&mut rng);
        let mut states: Vec<usize> = [8, 9].iter().flat_map(|&op| cell.predecessors(op).collect::<Vec<_>>()).collect();
        states.sort_unstable();
        *pairs.entry(states).or_default() += 1;
    }
    // Two of the four states 0, 1, 4, 7; the 99.99th percentile of chi-square with 5 degrees is 26.
    assert_eq!(pairs.len(), 6);
    assert!(pairs.keys().all(|pair| pair[0] != pair[1]));
    assert!(chi_square(pairs.into_values(), n_draws) < 26.0);
}

#[test]
fn random_trees_are_in_dfs_order_and_as_deep_as_allowed() {
    let mut rng = rng(17);
    for _ in 0..200 {
        let max_depth = rng.random_range(1..15);
        let dag = RandomAst { n_nodes: 200, n_types: 2, max_depth }.sample(&mut rng);
        let tree = DfsTree::new(&dag).expect("DFS order");
        assert!((0..200).all(|node| tree.depth(node) <= max_depth));
    }
    assert_eq!(RandomAst { n_nodes: 1, n_types: 2, max_depth: 0 }.sample(&mut rng).n_nodes(), 1);
}
