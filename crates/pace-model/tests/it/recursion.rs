//! Recursions along edges node by node in double precision, from the formulas and the weights of a module: what the fast ones
//! are held against.

use std::collections::HashMap;

use burn::module::Module;
use pace_graph::{Dag, canonical};
use pace_model::layers::Hearing;
use pace_model::store::to_safetensors;
use pace_model::{Layout, Order};
use safetensors::SafeTensors;

/// The parameters of a module by name, row-major.
pub struct Weights(HashMap<String, (Vec<usize>, Vec<f64>)>);

impl Weights {
    pub fn of(module: &impl Module) -> Weights {
        let bytes = to_safetensors(module);
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let read = |(name, view): (&str, safetensors::tensor::TensorView<'_>)| {
            let (words, _) = view.data().as_chunks::<4>();
            let numbers = words.iter().map(|&word| f64::from(f32::from_le_bytes(word))).collect();
            (name.to_owned(), (view.shape().to_vec(), numbers))
        };
        Weights(tensors.iter().map(read).collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn get(&self, name: &str) -> (&[usize], &[f64]) {
        let (shape, numbers) = self.0.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", self.0.keys()));
        (shape, numbers)
    }

    /// Row `row` of a matrix.
    pub fn row(&self, name: &str, row: usize) -> Vec<f64> {
        let (shape, numbers) = self.get(name);
        assert!(row < shape[0], "{name}");
        numbers[row * shape[1]..][..shape[1]].to_vec()
    }

    pub fn vector(&self, name: &str) -> Vec<f64> {
        self.get(name).1.to_vec()
    }

    /// x times a matrix.
    pub fn times(&self, x: &[f64], name: &str) -> Vec<f64> {
        let (shape, numbers) = self.get(name);
        assert_eq!(shape[0], x.len(), "{name}");
        (0..shape[1]).map(|j| x.iter().enumerate().map(|(i, x)| x * numbers[i * shape[1] + j]).sum()).collect()
    }

    /// A linear map with its bias, if it has one.
    pub fn linear(&self, x: &[f64], name: &str) -> Vec<f64> {
        let y = self.times(x, &format!("{name}.weight"));
        let bias = format!("{name}.bias");
        if self.has(&bias) { add(&y, &self.vector(&bias)) } else { y }
    }

    /// One step of a GRU.
    fn gru(&self, cell: &str, x: &[f64], h: &[f64]) -> Vec<f64> {
        let d = h.len();
        let a = add(&self.times(x, &format!("{cell}.input")), &self.vector(&format!("{cell}.input_bias")));
        let c = add(&self.times(h, &format!("{cell}.hidden")), &self.vector(&format!("{cell}.hidden_bias")));
        let unit = |j: usize| {
            let (r, z) = (sigmoid(a[j] + c[j]), sigmoid(a[d + j] + c[d + j]));
            let n = (a[2 * d + j] + r * c[2 * d + j]).tanh();
            (1.0 - z) * n + z * h[j]
        };
        (0..d).map(unit).collect()
    }
}

pub fn add(one: &[f64], other: &[f64]) -> Vec<f64> {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| one + other).collect()
}

pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

pub fn relu(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.max(0.0)).collect()
}

fn one_hot(index: usize, n: usize) -> Vec<f64> {
    (0..n).map(|place| if place == index { 1.0 } else { 0.0 }).collect()
}

/// A recursion by the name of its module.
pub struct Slow<'a> {
    pub weights: &'a Weights,
    pub name: &'a str,
    pub hearing: Hearing,
    pub n_layers: usize,
}

/// A node as others hear it: its states by layer, operation and position.
pub struct Heard<'a> {
    pub states: &'a [Vec<f64>],
    pub op: usize,
    pub position: usize,
}

impl Slow<'_> {
    fn layer(&self, layer: usize) -> String {
        format!("{}.layers.{layer}", self.name)
    }

    pub fn d(&self) -> usize {
        self.weights.vector(&format!("{}.cell.hidden_bias", self.layer(0))).len() / 3
    }

    /// What a map of [h ; id] gives, with all columns of gate, map or score.
    fn told(&self, layer: &str, state: &[f64], position: usize) -> Vec<f64> {
        let told = self.weights.times(state, &format!("{layer}.told"));
        let ids = format!("{layer}.told_ids");
        if self.weights.has(&ids) { add(&told, &self.weights.row(&ids, position)) } else { told }
    }

    /// sigmoid(gate + b) * map.
    fn gated(&self, layer: &str, both: &[f64]) -> Vec<f64> {
        let bias = self.weights.vector(&format!("{layer}.told_bias"));
        let (gate, map) = both.split_at(bias.len());
        add(gate, &bias).iter().zip(map).map(|(gate, map)| sigmoid(*gate) * map).collect()
    }

    /// The message to a node in one layer. `query` stands for the part of a score that the hearer has.
    fn message(&self, layer: usize, heard: &[Heard<'_>], query: f64) -> Vec<f64> {
        let name = self.layer(layer);
        let zero = vec![0.0; self.d()];
        match self.hearing {
            Hearing::GatedStates => heard
                .iter()
                .fold(zero, |sum, u| add(&sum, &self.gated(&name, &self.told(&name, &u.states[layer], u.position)))),
            Hearing::GatedOps => heard
                .iter()
                .fold(zero, |sum, u| add(&sum, &self.gated(&name, &self.weights.row(&format!("{name}.told"), u.op)))),
            Hearing::AttendedStates => {
                let score = |u: &Heard<'_>| (self.told(&name, &u.states[layer], u.position)[0] + query).exp();
                let total: f64 = heard.iter().map(score).sum();
                heard.iter().fold(zero, |sum, u| {
                    let weighted: Vec<f64> = u.states[layer].iter().map(|h| score(u) / total * h).collect();
                    add(&sum, &weighted)
                })
            }
        }
    }

    /// The states of a node in all layers; `root` is what it hears instead of nothing.
    pub fn state(&self, op: usize, heard: &[Heard<'_>], root: Option<&[f64]>) -> Vec<Vec<f64>> {
        let inputs = format!("{}.cell.input", self.layer(0));
        self.state_over(one_hot(op, self.weights.get(&inputs).0[0]), heard, root)
    }

    /// The same for a node that is a vector.
    pub fn state_over(&self, x: Vec<f64>, heard: &[Heard<'_>], root: Option<&[f64]>) -> Vec<Vec<f64>> {
        // A query of any size cancels.
        let query = 0.3 * x[0] - 1.0;
        let (mut below, mut states) = (x, Vec::new());
        for layer in 0..self.n_layers {
            let hidden = match root {
                Some(root) if heard.is_empty() => root.to_vec(),
                _ => self.message(layer, heard, query),
            };
            below = self.weights.gru(&format!("{}.cell", self.layer(layer)), &below, &hidden);
            states.push(below.clone());
        }
        states
    }

    /// The states of all nodes of a topologically numbered graph, along the edges or against them.
    pub fn states(&self, dag: &Dag, reversed: bool) -> Vec<Vec<Vec<f64>>> {
        let n = dag.n_nodes();
        let mut states: Vec<Vec<Vec<f64>>> = vec![Vec::new(); n];
        let order: Vec<usize> = if reversed { (0..n).rev().collect() } else { (0..n).collect() };
        for node in order {
            let sources: Vec<usize> =
                if reversed { dag.successors(node).collect() } else { dag.predecessors(node).collect() };
            let heard: Vec<Heard<'_>> = sources
                .iter()
                .map(|&u| Heard { states: &states[u], op: usize::from(dag.op(u)), position: u })
                .collect();
            states[node] = self.state(usize::from(dag.op(node)), &heard, None);
        }
        states
    }
}

/// A graph as a layout numbers it.
pub fn laid_out(dag: &Dag, layout: &Layout) -> Dag {
    let dag = if layout.has_start() { layout.spec.add_start_symbol(dag) } else { dag.clone() };
    if layout.order == Order::Canonical { canonical(&dag) } else { dag }
}

/// Vectors of nodes (by position) and of the graph, by the module `states` of an encoder.
pub fn slow_encoding(
    weights: &Weights,
    hearing: Hearing,
    n_layers: usize,
    inner: bool,
    dag: &Dag,
    layout: &Layout,
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let dag = laid_out(dag, layout);
    let ways: Vec<Vec<Vec<Vec<f64>>>> = [("states.forward", false), ("states.backward", true)]
        .into_iter()
        .filter(|(name, _)| weights.has(&format!("{name}.layers.0.cell.hidden")))
        .map(|(name, reversed)| Slow { weights, name, hearing, n_layers }.states(&dag, reversed))
        .collect();
    let join = |states: Vec<f64>| match weights.has("states.join.weight") {
        true => weights.linear(&states, "states.join"),
        false => states,
    };
    let side_by_side = |at: &dyn Fn(usize) -> usize| -> Vec<f64> {
        ways.iter().enumerate().flat_map(|(way, states)| states[at(way)].concat()).collect()
    };
    let nodes: Vec<Vec<f64>> = (0..dag.n_nodes()).map(|node| join(side_by_side(&|_| node))).collect();
    let (start, input, output) = (layout.has_start(), layout.spec.input.is_some(), layout.spec.output.is_some());
    let graph = if inner {
        let first = usize::from(start) + usize::from(input);
        let nodes = first..dag.n_nodes() - usize::from(output);
        let zero = vec![0.0; side_by_side(&|_| 0).len()];
        nodes.fold(zero, |sum, node| add(&sum, &side_by_side(&|_| node)))
    } else {
        let first = usize::from(start && input);
        side_by_side(&|way| if way == 0 { dag.n_nodes() - 1 } else { first })
    };
    (nodes, join(graph))
}

/// Largest difference between fast and slow vectors.
pub fn off(fast: &[f32], slow: &[f64]) -> f64 {
    assert_eq!(fast.len(), slow.len());
    fast.iter().zip(slow).map(|(fast, slow)| (f64::from(*fast) - slow).abs()).fold(0.0, f64::max)
}
