//! Adam in one pass: four streams in, three out, nothing between; the stock chain of a dozen operations moves the numbers of a
//! large embedding through memory ten times and allocates as often.

use burn::backend::Flex;
use burn::tensor::Tensor;
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice, ParallelSliceMut};

use super::lift::{Input, Primitive, values};
use super::simd::{fma, multiversion};
use crate::kernel::adam::AdamStep;

/// Numbers per task: smaller parameters are not worth waking another thread.
const CHUNK: usize = 1 << 15;

/// [`adam`](crate::kernel::adam) on the flex backend.
pub(crate) fn step<const D: usize>(
    step: &AdamStep,
    w: Tensor<D>,
    g: Tensor<D>,
    moments: [Tensor<D>; 2],
) -> (Tensor<D>, [Tensor<D>; 2]) {
    let (mut w, g, [mut m, mut v]) = (Input::constant(w), Input::constant(g), moments.map(Input::constant));
    let factors = Factors::new(step);
    let chunks = numbers(&mut w)
        .par_chunks_mut(CHUNK)
        .zip(values(&g).par_chunks(CHUNK))
        .zip(numbers(&mut m).par_chunks_mut(CHUNK))
        .zip(numbers(&mut v).par_chunks_mut(CHUNK));
    chunks.for_each(|(((w, g), m), v)| update(&factors, w, g, m, v));
    let tensor = Tensor::from_primitive::<Flex>;
    (tensor(w), [tensor(m), tensor(v)])
}

/// The numbers of a contiguous tensor, copied first if somebody else holds them too.
fn numbers(tensor: &mut Primitive) -> &mut [f32] {
    let len = tensor.layout().num_elements();
    let start = tensor.layout().start_offset();
    &mut tensor.storage_mut::<f32>()[start..start + len]
}

/// What every number is multiplied by.
pub(crate) struct Factors {
    beta_1: f32,
    beta_2: f32,
    keep: f32,
    rate: f32,
    epsilon: f32,
}

impl Factors {
    fn new(step: &AdamStep) -> Self {
        Self {
            beta_1: step.beta_1,
            beta_2: step.beta_2,
            keep: (1.0 - step.lr * f64::from(step.decay)) as f32,
            rate: (step.lr * f64::from(step.correction())) as f32,
            epsilon: step.epsilon * step.root(),
        }
    }
}

multiversion! {
    /// The step on slices of equal length.
    fn update(f: &Factors, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) = update_body
}

#[inline(always)]
fn update_body<const FMA: bool>(f: &Factors, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) {
    for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
        *m = fma::<FMA>(f.beta_1, *m, (1.0 - f.beta_1) * g);
        *v = fma::<FMA>(f.beta_2, *v, (1.0 - f.beta_2) * (g * g));
        *w = fma::<FMA>(f.keep, *w, -f.rate * *m / (v.sqrt() + f.epsilon));
    }
}
