//! The gradient of a step as one flat list of numbers, summed over a fixed number of shards.
//!
//! A batch is cut into S shards. Their gradients are added by a fixed binary tree, of which each of R ranks computes a whole
//! subtree of S / R leaves. So the sum has the same bits for every R that divides S.

use std::ops::Range;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use pace_model::objective::Objective;

use crate::collective::{Collective, add, sum};
use crate::gradient::{StepLoss, gradients, mix};
use crate::source::Source;

/// What a step is summed over: the gradients in the order of the module, then how many shards have one for each parameter, the
/// loss, and what the loss runs over.
///
/// Counts are exact up to 2^24, which no batch reaches.
pub(crate) struct Flat {
    numbers: Vec<f32>,
    /// How many of them are gradients.
    n_gradients: usize,
}

/// The sum over the shards of `rows` that this rank has.
pub(crate) fn own_sum<M, S>(
    model: &M,
    source: &S,
    rows: &[usize],
    seed: u64,
    n_shards: usize,
    (rank, n_ranks): (usize, usize),
    devices: &[Device],
) -> Flat
where
    S: Source,
    M: Objective<S::Batch> + Sync,
{
    let n_gradients = Module::num_params(model);
    let leaf = |shard: usize| {
        let rows = &rows[shard * rows.len() / n_shards..(shard + 1) * rows.len() / n_shards];
        match rows {
            [] => flatten(model, &GradientsParams::new(), 0.0, 0),
            // Equal seeds would give the shards equal noise.
            _ => {
                let (loss, grads) = gradients(model, source, rows, mix(seed, shard as u64), devices);
                let total = loss.totals.into_iter().map(|total| total.into_scalar::<f32>()).sum();
                flatten(model, &grads, total, loss.count)
            }
        }
    };
    let n_own = n_shards / n_ranks;
    Flat { numbers: subtree(rank * n_own..(rank + 1) * n_own, &leaf), n_gradients }
}

/// The two halves of the shards, added.
fn subtree(shards: Range<usize>, leaf: &impl Fn(usize) -> Vec<f32>) -> Vec<f32> {
    if shards.len() == 1 {
        return leaf(shards.start);
    }
    let middle = shards.start + shards.len() / 2;
    let mut left = subtree(shards.start..middle, leaf);
    add(&mut left, &subtree(middle..shards.end, leaf));
    left
}

impl Flat {
    /// Adds those of all ranks.
    pub fn sum(&mut self, ranks: &dyn Collective) {
        sum(ranks, &mut self.numbers);
    }

    /// What the loss runs over.
    pub fn count(&self) -> usize {
        self.numbers.last().map_or(0, |&count| count as usize)
    }

    /// Multiplies the gradients by `factor`, and scales them down to the norm `clip`, as [`gradient::scale`](crate::gradient::scale)
    /// does, in one pass over the list.
    pub fn scale(&mut self, factor: f64, clip: Option<f64>) {
        let gradients = &mut self.numbers[..self.n_gradients];
        let factor = clip.map_or(factor, |clip| {
            let norm = squared_norm(gradients).sqrt() * factor;
            // The small number is PyTorch's, against division by zero.
            factor * (clip / (norm + 1e-6)).min(1.0)
        });
        gradients.iter_mut().for_each(|gradient| *gradient *= factor as f32);
    }

    /// The loss and the gradients of the whole batch, on `device`, which has no autodiff.
    pub fn unpack<M: Module>(&self, model: &M, device: &Device) -> (StepLoss, GradientsParams) {
        let (gradients, rest) = self.numbers.split_at(self.n_gradients);
        let mut back = Unflatten { gradients, rest, device, grads: GradientsParams::new() };
        model.visit(&mut back);
        let [loss, count] = back.rest[..] else { unreachable!("flattened from the same model") };
        let total = Tensor::from_data(TensorData::new(vec![loss], [1]), device);
        (StepLoss { totals: vec![total], count: count as usize }, back.grads)
    }
}

/// The sum of squares, in eight lanes, whose order does not depend on the machine.
fn squared_norm(values: &[f32]) -> f64 {
    let mut lanes = [0.0_f64; 8];
    for eight in values.chunks(lanes.len()) {
        lanes.iter_mut().zip(eight).for_each(|(lane, &value)| *lane += f64::from(value) * f64::from(value));
    }
    lanes.iter().sum()
}

fn flatten<M: Module>(model: &M, grads: &GradientsParams, loss: f32, count: usize) -> Vec<f32> {
    let mut flat = Flatten { grads, values: Vec::with_capacity(model.num_params()), has: Vec::new() };
    model.visit(&mut flat);
    let Flatten { mut values, has, .. } = flat;
    values.extend(has);
    values.extend([loss, count as f32]);
    values
}

struct Flatten<'a> {
    grads: &'a GradientsParams,
    values: Vec<f32>,
    has: Vec<f32>,
}

impl ModuleVisitor for Flatten<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let grad = self.grads.get::<D>(param.id);
        self.has.push(f32::from(u8::from(grad.is_some())));
        match grad {
            Some(grad) => {
                let data = grad.into_data().convert::<f32>();
                self.values.extend_from_slice(data.as_slice().expect("converted to f32"));
            }
            None => self.values.resize(self.values.len() + param.val().shape().num_elements(), 0.0),
        }
    }
}

struct Unflatten<'a> {
    gradients: &'a [f32],
    rest: &'a [f32],
    device: &'a Device,
    grads: GradientsParams,
}

impl ModuleVisitor for Unflatten<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let shape = param.val().shape();
        let (own, later) = self.gradients.split_at(shape.num_elements());
        let (&has, rest) = self.rest.split_first().expect("a number per parameter");
        (self.gradients, self.rest) = (later, rest);
        // A parameter that no graph of the batch uses stays as it is: a gradient of 0 would still move it by its moments.
        if has > 0.0 {
            let grad = Tensor::<D>::from_data(TensorData::new(own.to_vec(), shape), self.device);
            self.grads.register(param.id, grad);
        }
    }
}
