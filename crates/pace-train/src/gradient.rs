//! Loss and gradients of one step, on one device or split over several.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Device, Tensor};
use pace_graph::{GOLDEN, split_mix};
use pace_model::objective::Objective;

use crate::source::Source;

/// The loss of a step, not yet read: reading waits for the device.
pub(crate) struct StepLoss {
    /// The sum of each shard, [1].
    pub totals: Vec<Tensor<1>>,
    /// What the sums run over.
    pub count: usize,
}

/// The gradient of the loss summed over `rows`.
///
/// With several devices the rows are split into as many shards of (almost) equal size. Each shard runs on a fork of the
/// model in its own thread. Burn's accumulator adds the gradients in the order of the devices, so the outcome does not
/// depend on which thread finishes first. A device may be named more than once: data-parallel threads on one CPU.
pub(crate) fn gradients<M, S>(
    model: &M,
    source: &S,
    rows: &[usize],
    seed: u64,
    devices: &[Device],
) -> (StepLoss, GradientsParams)
where
    S: Source,
    M: Objective<S::Batch> + Sync,
{
    let shards: Vec<&[usize]> = rows.chunks(rows.len().div_ceil(devices.len())).collect();
    if let [rows] = shards[..] {
        let (total, count, grads) = shard_gradients(model, source, rows, seed, &devices[0]);
        return (StepLoss { totals: vec![total], count }, grads);
    }
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = shards
            .iter()
            .zip(devices)
            .enumerate()
            .map(|(shard, (rows, device))| {
                let fork = model.clone().fork(device);
                // Equal seeds would give the shards equal noise.
                let seed = mix(seed, shard as u64);
                scope.spawn(move || shard_gradients(&fork, source, rows, seed, device))
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect()
    });
    let mut sum = GradientsAccumulator::new();
    let mut loss = StepLoss { totals: Vec::new(), count: 0 };
    for (total, count, grads) in outcomes {
        loss.totals.push(total);
        loss.count += count;
        sum.accumulate(model, grads.to_device(&devices[0].clone().inner(), model));
    }
    (loss, sum.grads())
}

fn shard_gradients<M, S>(
    model: &M,
    source: &S,
    rows: &[usize],
    seed: u64,
    device: &Device,
) -> (Tensor<1>, usize, GradientsParams)
where
    S: Source,
    M: Objective<S::Batch>,
{
    let loss = model.loss(&source.train_batch(rows, seed, device));
    let grads = GradientsParams::from_grads(loss.total.backward(), model);
    (loss.total.inner(), loss.count, grads)
}

/// A number that depends on both, for streams of seeds.
pub(crate) fn mix(seed: u64, index: u64) -> u64 {
    split_mix(seed ^ index.wrapping_add(1).wrapping_mul(GOLDEN))
}

/// Multiplies all gradients by `factor`. If their norm over all parameters together is then larger than `clip`, scales them
/// down to it (PyTorch's `clip_grad_norm_`; Burn's own clipping looks at one parameter at a time).
pub(crate) fn scale<M: Module>(model: &M, grads: GradientsParams, factor: f64, clip: Option<f64>) -> GradientsParams {
    let Some(clip) = clip else { return scale_by(model, grads, factor) };
    let mut norm = SquaredNorm { grads: &grads, sum: 0.0 };
    model.visit(&mut norm);
    let norm = norm.sum.sqrt() * factor;
    // The small number is PyTorch's, against division by zero.
    scale_by(model, grads, factor * (clip / (norm + 1e-6)).min(1.0))
}

fn scale_by<M: Module>(model: &M, grads: GradientsParams, factor: f64) -> GradientsParams {
    if factor == 1.0 {
        return grads;
    }
    let mut scaled = Scaled { from: grads, to: GradientsParams::new(), factor };
    model.visit(&mut scaled);
    scaled.to
}

struct SquaredNorm<'a> {
    grads: &'a GradientsParams,
    sum: f64,
}

impl ModuleVisitor for SquaredNorm<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(grad) = self.grads.get::<D>(param.id) {
            self.sum += f64::from(grad.square().sum().into_scalar::<f32>());
        }
    }
}

struct Scaled {
    from: GradientsParams,
    to: GradientsParams,
    factor: f64,
}

impl ModuleVisitor for Scaled {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(grad) = self.from.remove::<D>(param.id) {
            self.to.register(param.id, grad.mul_scalar(self.factor));
        }
    }
}
