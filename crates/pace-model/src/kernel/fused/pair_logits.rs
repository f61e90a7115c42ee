//! The classifier of pairs of rows, pair by pair. Stock operations gather the pairs into tensors many times as large as their rows.

use std::ops::Range;

use burn::backend::TensorMetadata;
use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator, ParallelSlice,
    ParallelSliceMut,
};

use super::autodiff::{Op, Primitive, gradient, primitive, values};
use super::buffer::Buffer;
use super::named::{Named, named};
use super::rows;
use super::simd::{LANES, Simd, get, kernel, put};
use crate::kernel::pair_logits::RowPairs;

/// Pairs per task. Fixed, so that sums have a fixed order.
const TASK: usize = 64;

named! {
    /// The inputs. Shapes: target [T, F], source [S, F], out [F, 1], out_bias `[1]`.
    PairView { target, source, out, out_bias }
}

/// [`pair_logits`](crate::kernel::pair_logits) as Burn sees it; output [P, 1].
#[derive(Clone, Debug)]
pub(crate) struct PairLogitsOp {
    pub(crate) pairs: RowPairs,
}

impl Op for PairLogitsOp {
    type Inputs<T> = PairView<T>;
    type Kept = ();

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> PairView<T> {
        PairView::take(list)
    }

    fn listed<T>(inputs: PairView<T>) -> Vec<T> {
        inputs.list()
    }

    fn forward(&self, inputs: PairView<&Primitive>, _keep: bool) -> (Primitive, ()) {
        let inputs = inputs.map(values);
        let mut logits = vec![inputs.out_bias[0]; self.pairs.len()];
        let pairs = self.pairs.targets.par_chunks(TASK).zip(self.pairs.sources.par_chunks(TASK));
        logits.par_chunks_mut(TASK).zip(pairs).for_each(|(logits, (targets, sources))| {
            add_scores(inputs, targets, sources, logits);
        });
        (primitive(logits, [self.pairs.len(), 1]), ())
    }

    fn backward(&self, inputs: PairView<&Primitive>, _kept: &(), dy: &[f32]) -> PairView<Primitive> {
        let f = inputs.out.shape()[0];
        let inputs = inputs.map(values);
        let (targets, sources) = (&self.pairs.targets, &self.pairs.sources);
        // Tasks end with a target, whose pairs stand together.
        let mut target = vec![0.0; inputs.target.len()];
        let mut rest = &mut target[..];
        let (mut tasks, mut first_row) = (Vec::new(), 0);
        for pairs in by_target(targets) {
            let end = if pairs.end == targets.len() { inputs.target.len() / f } else { targets[pairs.end] as usize };
            let (own, others) = std::mem::take(&mut rest).split_at_mut((end - first_row) * f);
            tasks.push((pairs, first_row, own));
            (rest, first_row) = (others, end);
        }
        let part = |(pairs, first_row, own): (Range<usize>, usize, &mut [f32])| {
            let mut out = Buffer::zeros(f);
            let numbers = (&targets[pairs.clone()], &sources[pairs.clone()], &dy[pairs]);
            target_grads(inputs, numbers, first_row, own, &mut out);
            out
        };
        let parts: Vec<Buffer> = tasks.into_par_iter().map(part).collect();
        let mut out = vec![0.0; f];
        parts.iter().for_each(|part| rows::add(&mut out, part));

        let mut lists = vec![Vec::new(); inputs.source.len() / f];
        sources.iter().enumerate().for_each(|(pair, &source)| lists[source as usize].push(pair as u32));
        let mut source = vec![0.0; inputs.source.len()];
        let rows = source.par_chunks_mut(f).zip(inputs.source.par_chunks(f)).zip(lists.par_iter());
        rows.for_each(|((dsource, source), list)| source_grad(inputs, source, list, targets, dy, dsource));
        let out_bias = vec![dy.iter().sum()];
        PairView { target, source, out, out_bias }.map(gradient)
    }
}

/// Ranges of about [`TASK`] pairs, each with all pairs of its targets.
fn by_target(targets: &[u32]) -> Vec<Range<usize>> {
    let (mut ranges, mut first) = (Vec::new(), 0);
    while first < targets.len() {
        let least = (first + TASK).min(targets.len());
        let last = targets[least - 1];
        let end = least + targets[least..].iter().take_while(|&&target| target == last).count();
        ranges.push(first..end);
        first = end;
    }
    ranges
}

kernel! {
    /// Adds out . ReLU(target + source) to the logit of each pair.
    fn add_scores(inputs: PairView<&[f32]>, targets: &[u32], sources: &[u32], logits: &mut [f32]) = add_scores_body
}

#[inline(always)]
fn add_scores_body<S: Simd>(s: S, inputs: PairView<&[f32]>, targets: &[u32], sources: &[u32], logits: &mut [f32]) {
    let f = inputs.out.len();
    for ((&target, &source), logit) in targets.iter().zip(sources).zip(logits) {
        let (target, source) = (&inputs.target[target as usize * f..][..f], &inputs.source[source as usize * f..][..f]);
        let mut total = s.zero();
        for k in 0..f.div_ceil(LANES) {
            let hidden = relu(s, s.add(get(s, target, k), get(s, source, k)));
            total = s.fma(hidden, get(s, inputs.out, k), total);
        }
        *logit += s.total(total);
    }
}

kernel! {
    /// The gradients of some targets' rows, from `first_row` on, and of out. The pairs are targets, sources and slopes.
    fn target_grads(
        inputs: PairView<&[f32]>,
        pairs: (&[u32], &[u32], &[f32]),
        first_row: usize,
        dtargets: &mut [f32],
        dout: &mut [f32],
    ) = target_grads_body
}

#[inline(always)]
fn target_grads_body<S: Simd>(
    s: S,
    inputs: PairView<&[f32]>,
    (targets, sources, slopes): (&[u32], &[u32], &[f32]),
    first_row: usize,
    dtargets: &mut [f32],
    dout: &mut [f32],
) {
    let f = inputs.out.len();
    for ((&row, &source), &slope) in targets.iter().zip(sources).zip(slopes) {
        let (target, source) = (&inputs.target[row as usize * f..][..f], &inputs.source[source as usize * f..][..f]);
        let dtarget = &mut dtargets[(row as usize - first_row) * f..][..f];
        let slope = s.splat(slope);
        for k in 0..f.div_ceil(LANES) {
            let sum = s.add(get(s, target, k), get(s, source, k));
            put(s, s.fma(slope, relu(s, sum), get(s, dout, k)), dout, k);
            let back = s.select(s.gt(sum, s.zero()), s.mul(slope, get(s, inputs.out, k)), s.zero());
            put(s, s.add(get(s, dtarget, k), back), dtarget, k);
        }
    }
}

kernel! {
    /// The gradient of a source's row, by the pairs it is in.
    fn source_grad(
        inputs: PairView<&[f32]>,
        source: &[f32],
        pairs: &[u32],
        targets: &[u32],
        slopes: &[f32],
        dsource: &mut [f32],
    ) = source_grad_body
}

#[inline(always)]
fn source_grad_body<S: Simd>(
    s: S,
    inputs: PairView<&[f32]>,
    source: &[f32],
    pairs: &[u32],
    targets: &[u32],
    slopes: &[f32],
    dsource: &mut [f32],
) {
    let f = inputs.out.len();
    for &pair in pairs {
        let target = &inputs.target[targets[pair as usize] as usize * f..][..f];
        let slope = s.splat(slopes[pair as usize]);
        for k in 0..f.div_ceil(LANES) {
            let sum = s.add(get(s, target, k), get(s, source, k));
            let back = s.select(s.gt(sum, s.zero()), s.mul(slope, get(s, inputs.out, k)), s.zero());
            put(s, s.add(get(s, dsource, k), back), dsource, k);
        }
    }
}

/// A NaN stays one, so that a training that diverged is noticed.
#[inline(always)]
fn relu<S: Simd>(s: S, x: S::V) -> S::V {
    s.select(s.gt(s.zero(), x), s.zero(), x)
}
