//! What the model tests share: the device, sampled graphs and renumberings of them, values and gradients as numbers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor};
use pace_graph::Dag;
use pace_graph::enumerate::{Nas101Space, Sampler};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The device under test: `PACE_TEST_DEVICE`, or the best CPU device of this build.
pub fn test_device() -> Device {
    let name = std::env::var("PACE_TEST_DEVICE").unwrap_or_default();
    pace_model::device::device(&name).unwrap_or_else(|error| panic!("PACE_TEST_DEVICE: {error}"))
}

/// All NAS-Bench-101 cells, counted out once for all tests.
pub static NAS101: LazyLock<Nas101Space> = LazyLock::new(Nas101Space::enumerate);

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// `count` graphs of a space.
pub fn sample(space: &dyn Sampler, count: usize, seed: u64) -> Vec<Dag> {
    let mut rng = rng(seed);
    (0..count).map(|_| space.sample(&mut rng)).collect()
}

/// The same graph under a random numbering.
pub fn renumber(dag: &Dag, rng: &mut ChaCha8Rng) -> Dag {
    let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
    order.shuffle(rng);
    dag.relabel(&order)
}

/// The same graph under a random topological numbering.
pub fn renumber_topologically(dag: &Dag, rng: &mut ChaCha8Rng) -> Dag {
    let mut order = Vec::with_capacity(dag.n_nodes());
    while order.len() < dag.n_nodes() {
        let ready = |&node: &usize| !order.contains(&node) && dag.predecessors(node).all(|from| order.contains(&from));
        let ready: Vec<usize> = (0..dag.n_nodes()).filter(ready).collect();
        order.push(ready[rng.random_range(0..ready.len())]);
    }
    dag.relabel(&order)
}

/// Numbers in row-major order.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().convert::<f32>().try_to_vec().expect("converted to f32")
}

/// The largest distance between two lists of numbers.
pub fn distance(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    // A plain maximum would pass over NaN.
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, |most, d| if d > most || d.is_nan() { d } else { most })
}

/// Shape and gradient of every parameter by path; `None` if no gradient arrived.
pub fn gradients(module: &impl Module, grads: &Gradients) -> BTreeMap<String, (Vec<usize>, Option<Vec<f32>>)> {
    let mut visitor = Visitor { grads, path: Vec::new(), found: BTreeMap::new() };
    module.visit(&mut visitor);
    visitor.found
}

struct Visitor<'a> {
    grads: &'a Gradients,
    path: Vec<String>,
    found: BTreeMap<String, (Vec<usize>, Option<Vec<f32>>)>,
}

impl ModuleVisitor for Visitor<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.grads).map(values);
        self.found.insert(self.path.join("."), (param.dims().to_vec(), gradient));
    }
}
