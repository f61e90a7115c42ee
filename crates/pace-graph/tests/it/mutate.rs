//! Single steps within the search spaces: valid, different, and there and back.

use std::collections::HashSet;
use std::sync::LazyLock;

use pace_graph::enumerate::{Darts, Enas, Mutate, Nas101Space, OrderedBn, RandomDag, Sampler, SpecSpace, UniformBn};
use pace_graph::{Dag, DagSpec, Named, Validity, canonical, infer};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

static SPACE: LazyLock<Nas101Space> = LazyLock::new(Nas101Space::enumerate);

trait Space: Sampler + Mutate {}
impl<T: Sampler + Mutate> Space for T {}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn dag(text: &str) -> Dag {
    text.parse().expect("a DAG")
}

/// What every space promises, on `n` of its graphs.
fn check(space: &dyn Space, n: usize) {
    let (spec, mut rng) = (space.spec(), rng(1));
    for _ in 0..n {
        let origin = space.sample(&mut rng);
        let neighbours = space.neighbours(&origin);
        let distinct: HashSet<&Dag> = neighbours.iter().collect();
        assert_eq!(distinct.len(), neighbours.len());
        assert!(!distinct.contains(&canonical(&origin)));
        for neighbour in &neighbours {
            spec.validate(neighbour).expect("a graph of the space");
            assert_eq!(&canonical(neighbour), neighbour);
        }
        let mut order: Vec<usize> = (0..origin.n_nodes()).collect();
        order.shuffle(&mut rng);
        assert_eq!(space.neighbours(&origin.relabel(&order)), neighbours);
        assert!(distinct.contains(&space.mutate(&origin, &mut rng)));
    }
}

/// Every step can be taken back.
fn check_symmetric(space: &dyn Space, n: usize) {
    let mut rng = rng(2);
    for _ in 0..n {
        let origin = canonical(&space.sample(&mut rng));
        for neighbour in space.neighbours(&origin) {
            assert!(space.neighbours(&neighbour).contains(&origin), "{origin} but not back from {neighbour}");
        }
    }
}

#[test]
fn steps_are_valid_distinct_and_different() {
    check(&Enas::default(), 20);
    check(&Enas { n_layers: 12 }, 3);
    check(&Darts, 20);
    check(&UniformBn::default(), 20);
    check(&OrderedBn::default(), 20);
    check(&*SPACE, 100);
    for spec in specs() {
        check(&SpecSpace::new(spec), 20);
    }
}

/// Specs of every rule that knows edits, with real ends, virtual ones and none.
fn specs() -> [DagSpec; 5] {
    let virtual_ends =
        infer("mine", &[named(&["a", "b", "b"], &[(0, 1)]), named(&["b", "a"], &[])]).expect("a spec").spec;
    assert_eq!(virtual_ends.added.count(), 2);
    let small = DagSpec { max_nodes: 6, ..virtual_ends };
    [DagSpec::nas101(), DagSpec::na(), DagSpec::bn(), small, DagSpec::new("free", ["a", "b", "c"], 5)]
}

fn named(ops: &[&str], edges: &[(usize, usize)]) -> Named {
    Named { ops: ops.iter().map(|&op| op.to_owned()).collect(), edges: edges.to_vec(), ..Named::default() }
}

#[test]
fn a_spec_alone_reaches_the_edits_of_nas101() {
    // Whatever changes one operation or one edge is one edit in the general space, too.
    let (general, mut rng) = (SpecSpace::new(DagSpec::nas101()), rng(4));
    for _ in 0..20 {
        let cell = SPACE.sample(&mut rng);
        let general: HashSet<Dag> = general.neighbours(&cell).into_iter().collect();
        let size = |dag: &Dag| (dag.n_nodes(), dag.n_edges());
        for neighbour in SPACE.neighbours(&cell) {
            let close = neighbour.n_nodes() == cell.n_nodes() && neighbour.n_edges().abs_diff(cell.n_edges()) <= 1;
            assert!(!close || general.contains(&neighbour), "{cell} to {neighbour}, {:?}", size(&neighbour));
        }
    }
}

#[test]
fn steps_lead_from_the_smallest_graph_to_the_largest_and_back() {
    for spec in specs().into_iter().filter(|spec| spec.validity != Validity::EachOpOnce && spec.name != "na") {
        let (space, mut rng) = (SpecSpace::new(spec.clone()), rng(5));
        let mut dag = space.sample(&mut rng);
        let sizes: HashSet<usize> = (0..2000)
            .map(|_| {
                dag = space.mutate(&dag, &mut rng);
                dag.n_nodes()
            })
            .collect();
        let least = 1 + spec.added.count().max(usize::from(spec.input.is_some()));
        assert!(sizes.contains(&least) && sizes.contains(&spec.max_nodes), "{}: {sizes:?}", spec.name);
    }
}

#[test]
fn large_graphs_have_neighbours() {
    let mut rng = rng(6);
    let dag = RandomDag { n_nodes: 600, n_ops: 4, edge_probability: 0.004 }.sample(&mut rng);
    let space = SpecSpace::new(DagSpec::new("large", ["a", "b", "c", "d"], 700));
    let neighbours = space.neighbours(&dag);
    assert!((1000..=4096).contains(&neighbours.len()), "{}", neighbours.len());
    assert!(space.spec().is_valid(&space.mutate(&dag, &mut rng)));
}

#[test]
fn steps_can_be_taken_back() {
    check_symmetric(&Enas::default(), 3);
    check_symmetric(&Darts, 3);
    check_symmetric(&UniformBn::default(), 3);
}

#[test]
fn enas_has_5_operations_per_layer_and_every_skip() {
    let mut rng = rng(3);
    let enas = Enas::default();
    assert_eq!(enas.neighbours(&enas.sample(&mut rng)).len(), 6 * 5 + 15);
}

#[test]
fn networks_gain_lose_or_turn_one_arc() {
    // No arcs: each of 8 x 7 may be added. The paper's Asia network without A->T is one arc away from the one with it.
    let empty = "0 2 3 4 5 6 7 8 9 1 : 0>1 0>2 0>3 0>4 0>5 0>6 0>7 0>8 1>9 2>9 3>9 4>9 5>9 6>9 7>9 8>9";
    let neighbours = UniformBn::default().neighbours(&dag(empty));
    assert_eq!(neighbours.len(), 56);
    for one in neighbours.iter().step_by(9) {
        // From one arc: take it away, turn it around, or add one of the 54 between other pairs.
        assert_eq!(UniformBn::default().neighbours(one).len(), 1 + 1 + 54);
    }
}

#[test]
fn darts_operations_keep_reading_different_states() {
    let mut rng = rng(5);
    for neighbour in (0..5).flat_map(|_| Darts.neighbours(&Darts.sample(&mut rng))) {
        for sum in (0..neighbour.n_nodes()).filter(|&node| neighbour.op(node) == 9) {
            let read: Vec<usize> = neighbour.predecessors(sum).flat_map(|op| neighbour.predecessors(op)).collect();
            assert!(read.len() == 2 && read[0] != read[1], "{neighbour}");
        }
    }
}

#[test]
fn nas101_steps_go_back_unless_they_lose_too_much() {
    let mut rng = rng(7);
    for _ in 0..40 {
        let origin = SPACE.sample(&mut rng);
        for neighbour in SPACE.neighbours(&origin) {
            let lost = (
                origin.n_nodes().saturating_sub(neighbour.n_nodes()),
                origin.n_edges() - neighbour.n_edges().min(origin.n_edges()),
            );
            // Nothing, or a node between two others.
            let is_reversible = lost.0 == 0 || lost == (1, 2);
            let is_back = SPACE.neighbours(&neighbour).contains(&origin);
            assert!(is_back || !is_reversible, "{origin} but not back from {neighbour}");
        }
    }
}

#[test]
fn nas101_small_cells_shrink_and_grow() {
    let labels = |dag: &Dag| SPACE.neighbours(dag).iter().map(Dag::to_string).collect::<Vec<_>>();
    // From the bare edge: one inner node of three kinds, with the edge still there.
    let mut found = labels(&dag("0 4 : 0>1"));
    found.sort();
    assert_eq!(found, ["0 1 4 : 0>1 0>2 1>2", "0 2 4 : 0>1 0>2 1>2", "0 3 4 : 0>1 0>2 1>2"]);
    // A triangle: loses the node with one of its edges, or the skip, or changes the operation, or grows.
    let found = labels(&dag("0 2 4 : 0>1 0>2 1>2"));
    for wanted in ["0 4 : 0>1", "0 2 4 : 0>1 1>2", "0 1 4 : 0>1 0>2 1>2", "0 1 2 4 : 0>1 0>2 0>3 1>3 2>3"] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is not in {found:?}");
    }
    // Taking away the only edge of a chain leaves no cell.
    assert!(!labels(&dag("0 2 4 : 0>1 1>2")).contains(&"0 4 : 0>1".to_owned()));
}

#[test]
#[should_panic(expected = "is no NAS-Bench-101 cell")]
fn graphs_of_other_spaces_are_refused() {
    SPACE.neighbours(&dag("0 7 4 : 0>1 1>2"));
}
