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

/// What a step is summed over: for each parameter how many shards have a gradient, and its numbers; then the loss, and what the
/// loss runs over.
///
/// Counts are exact up to 2^24, which no batch reaches.
pub(crate) struct Flat(Vec<f32>);

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
    Flat(subtree(rank * n_own..(rank + 1) * n_own, &leaf))
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
        sum(ranks, &mut self.0);
    }

    /// The loss and the gradients of the whole batch, on `device`, which has no autodiff.
    pub fn unpack<M: Module>(&self, model: &M, device: &Device) -> (StepLoss, GradientsParams) {
        let mut back = Unflatten { rest: &self.0, device, grads: GradientsParams::new() };
        model.visit(&mut back);
        let [loss, count] = back.rest[..] else { unreachable!("flattened from the same model") };
        let total = Tensor::from_data(TensorData::new(vec![loss], [1]), device);
        (StepLoss { totals: vec![total], count: count as usize }, back.grads)
    }
}

fn flatten<M: Module>(model: &M, grads: &GradientsParams, loss: f32, count: usize) -> Vec<f32> {
    let mut flat = Flatten { grads, values: Vec::new() };
    model.visit(&mut flat);
    flat.values.extend([loss, count as f32]);
    flat.values
}

struct Flatten<'a> {
    grads: &'a GradientsParams,
    values: Vec<f32>,
}

impl ModuleVisitor for Flatten<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        match self.grads.get::<D>(param.id) {
            Some(grad) => {
                self.values.push(1.0);
                let data = grad.into_data().convert::<f32>();
                self.values.extend_from_slice(data.as_slice().expect("converted to f32"));
            }
            None => self.values.resize(self.values.len() + 1 + param.val().shape().num_elements(), 0.0),
        }
    }
}

struct Unflatten<'a> {
    rest: &'a [f32],
    device: &'a Device,
    grads: GradientsParams,
}

impl ModuleVisitor for Unflatten<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let shape = param.val().shape();
        let (own, rest) = self.rest.split_at(1 + shape.num_elements());
        self.rest = rest;
        // A parameter that no graph of the batch uses stays as it is: a gradient of 0 would still move it by its moments.
        if own[0] > 0.0 {
            let grad = Tensor::<D>::from_data(TensorData::new(own[1..].to_vec(), shape), self.device);
            self.grads.register(param.id, grad);
        }
    }
}
