//! [`Properties`]: what can be said about a DAG in a few numbers, without any model.

use crate::dag::{Dag, Op};
use crate::spec::DagSpec;
use crate::structure::topological_order;

/// Sizes, depths, paths, and how often operations occur and where.
///
/// Isomorphic graphs have the same numbers, and many others have them, too. From few labelled graphs they predict better than any
/// complete description: a control that an encoder has to beat. *Paths* run from nodes without predecessors to nodes without
/// successors; *inner* operations are all but input, output and start symbol.
///
/// ```
/// use pace_graph::{DagSpec, Properties};
/// let spec = DagSpec::nas101();
/// let cell = spec.parse("input conv1x1-bn-relu maxpool3x3 output : 0>1 1>2 2>3 0>3")?;
/// let properties = Properties::new(&spec);
/// let numbers = properties.of(&cell);
/// let number = |name: &str| numbers[properties.names().iter().position(|n| n == name).unwrap()];
/// assert_eq!((number("nodes"), number("edges"), number("longest path"), number("shortest path")), (4.0, 4.0, 3.0, 1.0));
/// assert_eq!((number("maxpool3x3"), number("maxpool3x3 before a sink")), (1.0, 1.0));
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The inner operations.
    ops: Vec<Op>,
    names: Vec<String>,
}

/// Of the whole graph; then come those of each operation.
const OF_GRAPHS: [&str; 9] = [
    "nodes",
    "edges",
    "longest path",
    "shortest path",
    "mean path",
    "log of the number of paths",
    "mean depth",
    "edges from a source to a sink",
    "edges to a sink",
];

/// Of each operation: how often it occurs, most often on one path, behind sources, before sinks.
const OF_OPS: [&str; 4] = ["", " on one path", " behind a source", " before a sink"];

impl Properties {
    /// For graphs of `spec`.
    pub fn new(spec: &DagSpec) -> Properties {
        let virtual_ops = [spec.input, spec.output, spec.start];
        let ops: Vec<Op> = (0..spec.n_ops() as Op).filter(|&op| !virtual_ops.contains(&Some(op))).collect();
        let of_ops = OF_OPS.iter().flat_map(|what| ops.iter().map(move |&op| format!("{}{what}", spec.op_name(op))));
        let names = OF_GRAPHS.iter().map(|&name| name.to_owned()).chain(of_ops).collect();
        Properties { ops, names }
    }

    /// What the numbers are.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many numbers.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// The numbers of a graph. O((nodes + edges) operations).
    pub fn of(&self, dag: &Dag) -> Vec<f32> {
        let walks = Walks::new(dag, &self.ops);
        let sources: Vec<bool> = (0..dag.n_nodes()).map(|node| dag.predecessors(node).next().is_none()).collect();
        let sinks: Vec<bool> = (0..dag.n_nodes()).map(|node| dag.successors(node).next().is_none()).collect();
        let ends: Vec<usize> = (0..dag.n_nodes()).filter(|&node| sinks[node]).collect();
        let n_paths: f64 = ends.iter().map(|&node| walks.n_paths[node]).sum();
        let total: f64 = ends.iter().map(|&node| walks.total[node]).sum();
        let longest = ends.iter().map(|&node| walks.longest[node]).max().unwrap_or(0);
        let shortest = ends.iter().map(|&node| walks.shortest[node]).min().unwrap_or(0);
        let count = |is: &dyn Fn(usize, usize) -> bool| dag.edges().filter(|&(from, to)| is(from, to)).count() as f64;
        let graph = [
            dag.n_nodes() as f64,
            dag.n_edges() as f64,
            longest as f64,
            shortest as f64,
            total / n_paths.max(1.0),
            n_paths.max(1.0).ln(),
            walks.longest.iter().sum::<usize>() as f64 / dag.n_nodes().max(1) as f64,
            count(&|from, to| sources[from] && sinks[to]),
            count(&|_, to| sinks[to]),
        ];
        let per_op = |of: &dyn Fn(usize, Op) -> f64| {
            self.ops.iter().enumerate().map(|(place, &op)| of(place, op)).collect::<Vec<f64>>()
        };
        let occurs = per_op(&|_, op| dag.ops().filter(|&other| other == op).count() as f64);
        let on_path = per_op(&|place, _| {
            ends.iter().map(|&node| walks.on_path[node * self.ops.len() + place]).max().unwrap_or(0) as f64
        });
        let behind = per_op(&|_, op| count(&|from, to| sources[from] && dag.op(to) == op));
        let before = per_op(&|_, op| count(&|from, to| sinks[to] && dag.op(from) == op));
        let all = graph.into_iter().chain(occurs).chain(on_path).chain(behind).chain(before);
        all.map(|number| number as f32).collect()
    }
}

/// What is known about the paths that end at each node.
struct Walks {
    /// Edges of the longest.
    longest: Vec<usize>,
    /// Edges of the shortest.
    shortest: Vec<usize>,
    /// How many; a number of 64 bits would overflow.
    n_paths: Vec<f64>,
    /// Edges of all of them.
    total: Vec<f64>,
    /// Most nodes of each operation on one of them, operations side by side.
    on_path: Vec<u32>,
}

impl Walks {
    fn new(dag: &Dag, ops: &[Op]) -> Walks {
        let (n, n_ops) = (dag.n_nodes(), ops.len());
        let mut walks = Walks {
            longest: vec![0; n],
            shortest: vec![0; n],
            n_paths: vec![0.0; n],
            total: vec![0.0; n],
            on_path: vec![0; n * n_ops],
        };
        for node in topological_order(dag) {
            let before: Vec<usize> = dag.predecessors(node).collect();
            let longest = before.iter().map(|&from| walks.longest[from] + 1).max();
            let shortest = before.iter().map(|&from| walks.shortest[from] + 1).min();
            (walks.longest[node], walks.shortest[node]) = (longest.unwrap_or(0), shortest.unwrap_or(0));
            walks.n_paths[node] =
                if before.is_empty() { 1.0 } else { before.iter().map(|&from| walks.n_paths[from]).sum() };
            walks.total[node] = before.iter().map(|&from| walks.total[from] + walks.n_paths[from]).sum();
            for (place, &op) in ops.iter().enumerate() {
                let most = before.iter().map(|&from| walks.on_path[from * n_ops + place]).max().unwrap_or(0);
                walks.on_path[node * n_ops + place] = most + u32::from(dag.op(node) == op);
            }
        }
        walks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All paths, one by one.
    fn paths(dag: &Dag, node: usize, so_far: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        so_far.push(node);
        let mut is_sink = true;
        for next in dag.successors(node) {
            is_sink = false;
            paths(dag, next, so_far, found);
        }
        if is_sink {
            found.push(so_far.clone());
        }
        so_far.pop();
    }

    #[test]
    fn numbers_are_those_of_the_paths() {
        use crate::enumerate::{RandomDag, Sampler};
        use rand::SeedableRng;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let spec = DagSpec::new("any", ["a", "b", "c"], 12);
        let properties = Properties::new(&spec);
        for _ in 0..50 {
            let dag = RandomDag { n_nodes: 9, n_ops: 3, edge_probability: 0.3 }.sample(&mut rng);
            let numbers = properties.of(&dag);
            assert_eq!(numbers.len(), properties.width());
            let mut found = Vec::new();
            for source in (0..9).filter(|&node| dag.predecessors(node).next().is_none()) {
                paths(&dag, source, &mut Vec::new(), &mut found);
            }
            let lengths = || found.iter().map(|path| path.len() - 1);
            assert_eq!(numbers[2], lengths().max().unwrap() as f32);
            assert_eq!(numbers[3], lengths().min().unwrap() as f32);
            let mean = lengths().sum::<usize>() as f32 / found.len() as f32;
            assert!((numbers[4] - mean).abs() < 1e-4, "{} {mean}", numbers[4]);
            assert!((numbers[5] - (found.len() as f32).ln()).abs() < 1e-5);
            for op in 0..3 {
                let most = found.iter().map(|path| path.iter().filter(|&&node| dag.op(node) == op).count()).max();
                assert_eq!(numbers[9 + 3 + usize::from(op)], most.unwrap() as f32);
            }
        }
    }

    #[test]
    fn renumbering_changes_nothing() {
        let spec = DagSpec::nas101();
        let one: Dag = "0 1 2 4 : 0>1 0>2 1>3 2>3".parse().unwrap();
        let other: Dag = "0 2 1 4 : 0>1 0>2 1>3 2>3".parse().unwrap();
        let properties = Properties::new(&spec);
        assert_eq!(properties.of(&one), properties.of(&other));
        assert_eq!(properties.names().len(), 9 + 4 * 3);
    }
}
