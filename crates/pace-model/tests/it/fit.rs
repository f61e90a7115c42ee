//! What the tests of objectives share: graphs, a few steps of Adam, and who gets a gradient.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Gradients, Tensor};
use pace_graph::Dag;
use pace_model::objective::Loss;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random cells in the space of NAS-Bench-101, of 4 to 7 nodes: a chain from input to output and some shortcuts.
pub fn cells(count: usize, seed: u64) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cell = || {
        let n = rng.random_range(4..=7_usize);
        let mut ops: Vec<u16> = (0..n).map(|_| rng.random_range(1..4)).collect();
        (ops[0], ops[n - 1]) = (0, 4);
        let chain = (1..n).map(|to| (to - 1, to));
        let shortcuts = (2..n).map(|to| (rng.random_range(0..to - 1), to));
        let edges: Vec<(usize, usize)> = chain.chain(shortcuts.take(3)).collect();
        Dag::new(ops, edges).expect("edges go forward")
    };
    (0..count).map(|_| cell()).collect()
}

/// Numbers in row-major order.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// The largest difference of two lists of numbers.
pub fn gap(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// The mean loss of each of `steps` steps of Adam.
pub fn fit<M: Module + Clone>(mut model: M, steps: usize, lr: f64, loss: impl Fn(&M, u64) -> Loss) -> Vec<f32> {
    let mut adam = AdamConfig::new().with_epsilon(1e-8).init();
    let step = |step: usize| {
        let loss = loss(&model, step as u64);
        let mean = loss.total / loss.count as f64;
        let grads = GradientsParams::from_grads(mean.backward(), &model);
        model = adam.step(lr, model.clone(), grads);
        numbers(mean)[0]
    };
    (0..steps).map(step).collect()
}

/// All losses are numbers, and the last are well below the first.
pub fn assert_learns(losses: &[f32]) {
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let quarter = losses.len() / 4;
    let (start, end) = (mean(&losses[..quarter]), mean(&losses[losses.len() - quarter..]));
    assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
    assert!(end < 0.9 * start, "from {start} to {end}: {losses:?}");
}

/// Every parameter gets a gradient, somewhere not 0.
pub fn assert_all_graded<M: Module>(model: &M, loss: Loss) {
    let grads = loss.total.backward();
    let mut visitor = Ungraded { grads: &grads, path: Vec::new(), found: Vec::new(), count: 0 };
    model.visit(&mut visitor);
    assert!(visitor.count > 0 && visitor.found.is_empty(), "no gradient for {:?}", visitor.found);
}

struct Ungraded<'a> {
    grads: &'a Gradients,
    path: Vec<String>,
    found: Vec<String>,
    count: usize,
}

impl ModuleVisitor for Ungraded<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.count += 1;
        let grad = param.val().grad(self.grads);
        let moved = grad.is_some_and(|grad| {
            let grad = numbers(grad);
            grad.iter().all(|g| g.is_finite()) && grad.iter().any(|&g| g != 0.0)
        });
        if !moved {
            self.found.push(self.path.join("."));
        }
    }
}

/// The device of these tests, with gradients.
pub fn device() -> Device {
    crate::setting::test_device().autodiff()
}
