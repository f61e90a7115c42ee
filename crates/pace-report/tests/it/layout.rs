//! Laws of layouts.

use pace_graph::enumerate::{Darts, Enas, OrderedBn, RandomAst, RandomDag, Sampler};
use pace_graph::structure::depths;
use pace_graph::{Dag, canonical};
use pace_report::layout::{Layout, Point, Spacing};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Widths that differ by operation.
fn width(dag: &Dag, node: usize) -> f64 {
    24.0 + 9.0 * f64::from(dag.op(node) % 5)
}

fn layout(dag: &Dag) -> Layout {
    Layout::of(dag, |node| width(dag, node), &Spacing::default())
}

/// Graphs of all kinds, each with a generator for what else is random about it.
fn many_dags() -> impl Iterator<Item = (Dag, ChaCha8Rng)> {
    (0..300).map(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_nodes, edge_probability) = (rng.random_range(1..40), rng.random_range(0.0..0.5));
        let dag = match seed % 6 {
            0 => Darts.sample(&mut rng),
            1 => Enas { n_layers: n_nodes }.sample(&mut rng),
            2 => OrderedBn::default().sample(&mut rng),
            3 => RandomAst { n_nodes, n_types: 4, max_depth: 9 }.sample(&mut rng),
            _ => RandomDag { n_nodes, n_ops: 6, edge_probability }.sample(&mut rng),
        };
        (dag, rng)
    })
}

#[test]
fn edges_go_down_and_nothing_overlaps() {
    many_dags().for_each(|(dag, _)| drop(check(&dag)));
}

#[test]
fn isomorphic_graphs_look_the_same() {
    for (dag, mut rng) in many_dags() {
        let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
        order.shuffle(&mut rng);
        assert_eq!(seen(&dag), seen(&dag.relabel(&order)));
        assert_eq!(seen(&dag), seen(&canonical(&dag)));
    }
}

/// Nodes with their operations, edges, crossings.
type Seen = (Vec<(i64, i64, u16)>, Vec<Vec<(i64, i64)>>, usize);

/// What can be seen of a layout: operations and lines by their places, in tenths.
fn seen(dag: &Dag) -> Seen {
    let layout = layout(dag);
    let tenths = |point: &Point| ((point.x * 10.0).round() as i64, (point.y * 10.0).round() as i64);
    let mut nodes: Vec<_> =
        layout.nodes.iter().zip(dag.ops()).map(|(at, op)| (tenths(at).0, tenths(at).1, op)).collect();
    let mut edges: Vec<Vec<_>> = layout.edges.iter().map(|edge| edge.iter().map(tenths).collect()).collect();
    nodes.sort();
    edges.sort();
    (nodes, edges, layout.n_crossings)
}

/// Checks the geometry of a layout.
fn check(dag: &Dag) -> Layout {
    let (layout, spacing) = (layout(dag), Spacing::default());
    assert_eq!(layout, self::layout(dag), "twice the same");
    for ((from, to), edge) in dag.edges().zip(&layout.edges) {
        assert!(edge.windows(2).all(|pair| pair[0].y < pair[1].y), "an edge goes down");
        let (start, end) = (layout.nodes[from], layout.nodes[to]);
        let side = spacing.node_height / 2.0;
        let is_at = |point: Point, x: f64, y: f64| (point.x - x).abs() + (point.y - y).abs() < 1e-6;
        assert!(is_at(edge[0], start.x, start.y + side), "an edge leaves below its node");
        assert!(is_at(edge[edge.len() - 1], end.x, end.y - side), "an edge arrives above its node");
    }
    let mut layers: Vec<(i64, f64, f64, f64)> = Vec::new();
    for (node, at) in layout.nodes.iter().enumerate() {
        let half = width(dag, node) / 2.0;
        assert!(at.x - half > -1e-6 && at.x + half < layout.width + 1e-6, "inside");
        assert!(
            at.y > spacing.node_height / 2.0 - 1e-6 && at.y <= layout.height - spacing.node_height / 2.0 + 1e-6,
            "inside"
        );
        layers.push(((at.y * 10.0).round() as i64, at.x, half, spacing.node_gap));
    }
    // What bends an edge takes its place in a layer, too.
    let bends = layout.edges.iter().flat_map(|edge| &edge[1..edge.len() - 1]);
    layers.extend(bends.map(|at| ((at.y * 10.0).round() as i64, at.x, 0.0, spacing.edge_gap)));
    layers.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    for pair in layers.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let gap = pair[0].3.min(pair[1].3);
        assert!(pair[1].1 - pair[0].1 >= pair[0].2 + pair[1].2 + gap - 1e-6, "{pair:?} overlap in {dag}");
    }
    layout
}

/// The crossings if the nodes and the pieces of long edges stand in each layer in the order of their numbers.
fn naive_crossings(dag: &Dag) -> usize {
    let dag = canonical(dag);
    let depths = depths(&dag);
    let mut places: Vec<Vec<(usize, usize)>> = vec![Vec::new(); dag.n_nodes()];
    let mut pieces = Vec::new();
    (0..dag.n_nodes()).for_each(|node| places[depths[node]].push((node, node)));
    for (from, to) in dag.edges() {
        let mut last = (from, from);
        for layer in places.iter_mut().take(depths[to]).skip(depths[from] + 1) {
            layer.push((dag.n_nodes() + from, to));
            pieces.push((last, (dag.n_nodes() + from, to)));
            last = (dag.n_nodes() + from, to);
        }
        pieces.push((last, (to, to)));
    }
    let mut count = 0;
    for (index, one) in pieces.iter().enumerate() {
        for other in &pieces[..index] {
            count += usize::from(cross(&places, *one, *other));
        }
    }
    count
}

type Vertex = (usize, usize);

/// Whether two pieces lie between the same layers and cross.
fn cross(places: &[Vec<Vertex>], one: (Vertex, Vertex), other: (Vertex, Vertex)) -> bool {
    places.windows(2).any(|pair| {
        let at = |layer: &[Vertex], vertex: Vertex| layer.iter().position(|&found| found == vertex);
        let ends = [at(&pair[0], one.0), at(&pair[1], one.1), at(&pair[0], other.0), at(&pair[1], other.1)];
        match ends {
            [Some(a), Some(b), Some(c), Some(d)] => (a < c && b > d) || (a > c && b < d),
            _ => false,
        }
    })
}

#[test]
fn fewer_edges_cross_than_in_a_naive_layout() {
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let (mut ours, mut naive) = (0, 0);
    for _ in 0..40 {
        let dag = RandomDag { n_nodes: 14, n_ops: 3, edge_probability: 0.2 }.sample(rng);
        ours += layout(&dag).n_crossings;
        naive += naive_crossings(&dag);
    }
    assert!(2 * ours < naive, "{ours} crossings, {naive} in a naive layout");
}

#[test]
fn trees_have_no_crossings() {
    for seed in 0..20 {
        let tree = RandomAst { n_nodes: 200, n_types: 5, max_depth: 12 }.sample(&mut ChaCha8Rng::seed_from_u64(seed));
        assert_eq!(check(&tree).n_crossings, 0, "seed {seed}");
    }
}

#[test]
fn chains_are_straight() {
    let chain: Dag = "0 1 2 3 4 : 0>1 1>2 2>3 3>4 0>4".parse().unwrap();
    let layout = check(&chain);
    let long: Vec<f64> = layout.edges[1][1..4].iter().map(|point| point.x).collect();
    assert!(long.windows(2).all(|pair| pair[0] == pair[1]), "{long:?}");
}

#[test]
fn large_graphs_are_laid_out() {
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    check(&RandomDag { n_nodes: 2_000, n_ops: 9, edge_probability: 0.001 }.sample(rng));
    check(&RandomAst { n_nodes: 2_000, n_types: 9, max_depth: 14 }.sample(rng));
    // Too many virtual nodes: the longest edges go straight.
    let dense = RandomDag { n_nodes: 400, n_ops: 2, edge_probability: 0.3 }.sample(rng);
    let layout = layout(&dense);
    assert!(layout.edges.iter().any(|edge| edge.len() == 2 && edge[1].y - edge[0].y > 100.0));
    assert!(layout.nodes.iter().all(|node| node.x.is_finite()));
}
