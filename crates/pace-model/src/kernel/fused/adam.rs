//! Adam in one pass: it reads four streams and writes three. The stock chain of a dozen operations moves the numbers of a large
//! embedding through memory ten times and allocates as often.

use burn::backend::Flex;
use burn::tensor::Tensor;
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice, ParallelSliceMut};

use crate::kernel::adam::AdamStep;
use crate::kernel::fused::autodiff::{Input, Primitive, values};
use crate::kernel::fused::simd::{LANES, Simd, kernel};

/// Numbers per task: waking another thread does not pay for fewer.
const CHUNK: usize = 1 << 15;

/// [`AdamStep::take`] on the flex backend.
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

/// The numbers of a contiguous tensor; copied first if another tensor holds them too.
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

kernel! {
    /// The step on slices of equal length.
    fn update(f: &Factors, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) = update_body
}

#[inline(always)]
fn update_body<S: Simd>(s: S, f: &Factors, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32]) {
    let [beta_1, rest_1] = [f.beta_1, 1.0 - f.beta_1].map(|x| s.splat(x));
    let [beta_2, rest_2] = [f.beta_2, 1.0 - f.beta_2].map(|x| s.splat(x));
    let [keep, rate, epsilon] = [f.keep, -f.rate, f.epsilon].map(|x| s.splat(x));
    macro_rules! step {
        ($w:expr, $g:expr, $m:expr, $v:expr) => {{
            let g = $g;
            let m = s.fma(beta_1, $m, s.mul(rest_1, g));
            let v = s.fma(beta_2, $v, s.mul(rest_2, s.mul(g, g)));
            [s.fma(keep, $w, s.div(s.mul(rate, m), s.add(s.sqrt(v), epsilon))), m, v]
        }};
    }
    let (ws, w_rest) = w.as_chunks_mut::<LANES>();
    let (gs, g_rest) = g.as_chunks::<LANES>();
    let (ms, m_rest) = m.as_chunks_mut::<LANES>();
    let (vs, v_rest) = v.as_chunks_mut::<LANES>();
    for (((w, g), m), v) in ws.iter_mut().zip(gs).zip(ms).zip(vs) {
        let next = step!(s.load(w), s.load(g), s.load(m), s.load(v));
        s.store(next[0], w);
        s.store(next[1], m);
        s.store(next[2], v);
    }
    if !w_rest.is_empty() {
        let next = step!(s.load_part(w_rest), s.load_part(g_rest), s.load_part(m_rest), s.load_part(v_rest));
        s.store_part(next[0], w_rest);
        s.store_part(next[1], m_rest);
        s.store_part(next[2], v_rest);
    }
}
