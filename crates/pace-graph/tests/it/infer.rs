//! Specs of graphs that nobody has described.

use pace_graph::enumerate::{Enas, Nas101Space, RandomDag, Sampler, SpecSpace, UniformBn};
use pace_graph::{Dag, DagSpec, GraphKey, Named, Validity, infer};
use proptest::prelude::{ProptestConfig, any, proptest};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

fn named(ops: &[&str], edges: &[(usize, usize)]) -> Named {
    Named { ops: ops.iter().map(|&op| op.to_owned()).collect(), edges: edges.to_vec(), ..Named::default() }
}

/// Graphs of a space as a stranger would bring them: operations by name, nodes in any order.
fn strangers(space: &dyn Sampler, n: usize, rng: &mut ChaCha8Rng) -> Vec<Named> {
    let one = |_| {
        let dag = space.sample(rng);
        let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
        order.shuffle(rng);
        Named::of(&space.spec(), &dag.relabel(&order)).expect("a graph")
    };
    (0..n).map(one).collect()
}

#[test]
fn the_rules_of_known_spaces_are_found() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let nas101 = Nas101Space::enumerate();
    let spaces: [(&dyn Sampler, usize); 3] = [(&Enas::default(), 8), (&UniformBn::default(), 10), (&nas101, 7)];
    for (space, max_nodes) in spaces {
        let (expected, graphs) = (space.spec(), strangers(space, 500, &mut rng));
        let found = infer("mine", &graphs).expect("a spec").spec;
        let names = |spec: &DagSpec| {
            let name = |op: Option<u16>| op.map(|op| spec.op_name(op));
            (name(spec.input), name(spec.output), spec.validity, spec.max_nodes, spec.added.count())
        };
        assert_eq!(names(&found), names(&DagSpec { max_nodes, ..expected.clone() }));
        let mut ops = expected.ops;
        ops.sort();
        assert_eq!(found.ops, ops);
    }
}

#[test]
fn numbers_stay_in_the_order_of_numbers() {
    let spec =
        infer("mine", &[named(&["10", "9", "2"], &[(0, 1), (1, 2)]), named(&["9", "10"], &[])]).expect("a spec").spec;
    assert_eq!(spec.ops, ["2", "9", "10", "(input)", "(output)"]);
    assert_eq!((spec.validity, spec.added.count()), (Validity::InputToOutput, 2));
}

#[test]
fn virtual_ends_never_meet_a_name_of_the_data() {
    let spec = infer("mine", &[named(&["(input)", "x"], &[]), named(&["x"], &[])]).expect("a spec").spec;
    assert_eq!(spec.ops, ["(input)", "x", "((input))", "(output)"]);
    // Whoever writes the name of a virtual end into the data is told so.
    let error = named(&["((input))", "x"], &[(0, 1)]).dag(&spec).expect_err("no operation of the data").to_string();
    assert!(error.contains("node 0 has operation '((input))', which is not in the dictionary"), "{error}");
}

#[test]
fn single_nodes_and_a_cycle() {
    let spec = infer("mine", &[named(&["x"], &[])]).expect("a spec").spec;
    assert_eq!(named(&["x"], &[]).dag(&spec).expect("a graph").n_nodes(), 1 + spec.added.count());
    assert!(infer("mine", &[]).is_err());
    let error =
        infer("my.dot", &[named(&["x"], &[]), named(&["x", "x"], &[(0, 1), (1, 0)])]).expect_err("a cycle").to_string();
    assert!(error.starts_with("my.dot, row 2: the edges close a cycle"), "{error}");
}

#[test]
fn graphs_that_differ_only_at_their_sinks_stay_different() {
    // Read out at the last node, `a` and `b` would not be seen: the virtual output sees both.
    let (one, other) = (named(&["in", "a", "c"], &[(0, 1), (0, 2)]), named(&["in", "b", "c"], &[(0, 1), (0, 2)]));
    let spec = infer("mine", &[one.clone(), other.clone()]).expect("a spec").spec;
    assert!(spec.added.output && !spec.added.input);
    let [one, other] = [one, other].map(|graph| graph.dag(&spec).expect("a graph"));
    assert_eq!(one.sinks().count(), 1);
    assert_ne!(GraphKey::of(&one), GraphKey::of(&other));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The order of rows and of nodes plays no part, every graph is valid, and comes back as it was.
    #[test]
    fn a_spec_depends_on_nothing_but_the_graphs(seed in any::<u64>(), n in 1_usize..20) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut graphs = strangers(&RandomDag { n_nodes: 1 + n, n_ops: 4, edge_probability: 0.3 }, n, &mut rng);
        graphs.extend(strangers(&SpecSpace::new(DagSpec::nas101()), n % 3, &mut rng));
        let found = infer("mine", &graphs).expect("a spec");
        for graph in &graphs {
            let dag: Dag = graph.dag(&found.spec).expect("a valid graph");
            let back = Named::of(&found.spec, &dag).expect("a graph");
            let mut edges = graph.edges.clone();
            edges.sort_unstable();
            assert_eq!((&back.ops, &back.edges), (&graph.ops, &edges));
        }
        let text = serde_json::to_string(&found.spec).expect("JSON");
        assert_eq!(serde_json::from_str::<DagSpec>(&text).expect("a spec"), found.spec);
        graphs.shuffle(&mut rng);
        assert_eq!(infer("mine", &graphs).expect("a spec"), found);
    }
}
