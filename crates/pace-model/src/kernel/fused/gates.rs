//! The gates of a recurrent unit: everything between its products, row by row, and the gradient.

use burn::backend::TensorMetadata;
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice, ParallelSliceMut};

use super::autodiff::{Op, Primitive, gradient, primitive, values};
use super::buffer::Buffer;
use super::simd::{LANES, Simd, get, kernel, put};

/// Numbers of `h` per task.
const TASK: usize = 1 << 13;

/// The inputs. Shapes: a and c [R, 3D], h [R, D].
#[derive(Clone, Copy, Debug)]
pub(crate) struct GatesView<T> {
    pub(crate) a: T,
    pub(crate) c: T,
    /// `None` for states of 0.
    pub(crate) h: Option<T>,
}

/// [`gru_gates`](crate::kernel::gru_gates) as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct GatesOp;

impl Op for GatesOp {
    type Inputs<T> = GatesView<T>;
    /// [h | r | z | c_n] [R, 4D] and n [R, D].
    type Kept = (Buffer, Buffer);

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> GatesView<T> {
        let mut next = || list.next().expect("an item for every field");
        GatesView { a: next(), c: next(), h: list.next() }
    }

    fn listed<T>(inputs: GatesView<T>) -> Vec<T> {
        [inputs.a, inputs.c].into_iter().chain(inputs.h).collect()
    }

    fn forward(&self, inputs: GatesView<&Primitive>, _keep: bool) -> (Primitive, (Buffer, Buffer)) {
        let (a, c, h) = (values(inputs.a), values(inputs.c), inputs.h.map(values));
        let (rows, d) = (inputs.a.shape()[0], inputs.a.shape()[1] / 3);
        let task = (TASK / d.max(1)).max(1);
        let (mut kept, mut new) = (Buffer::stale(rows * 4 * d), Buffer::stale(rows * d));
        let mut y = vec![0.0; rows * d];
        let outputs =
            kept.par_chunks_mut(task * 4 * d).zip(new.par_chunks_mut(task * d)).zip(y.par_chunks_mut(task * d));
        let inputs = a.par_chunks(task * 3 * d).zip(c.par_chunks(task * 3 * d));
        outputs.zip(inputs).enumerate().for_each(|(index, (((kept, new), y), (a, c)))| {
            for (row, (kept, c)) in kept.chunks_exact_mut(4 * d).zip(c.chunks_exact(3 * d)).enumerate() {
                match h {
                    Some(h) => kept[..d].copy_from_slice(&h[(index * task + row) * d..][..d]),
                    None => kept[..d].fill(0.0),
                }
                kept[d..].copy_from_slice(c);
            }
            gates(a, kept, new, y, d);
        });
        (primitive(y, [rows, d]), (kept, new))
    }

    fn backward(
        &self,
        inputs: GatesView<&Primitive>,
        (kept, new): &(Buffer, Buffer),
        dy: &[f32],
    ) -> GatesView<Primitive> {
        let (rows, d) = (inputs.a.shape()[0], inputs.a.shape()[1] / 3);
        let task = (TASK / d.max(1)).max(1);
        let [mut da, mut dc] = [(); 2].map(|()| vec![0.0; rows * 3 * d]);
        let mut dh = vec![0.0; if inputs.h.is_some() { rows * d } else { 0 }];
        let mut heard = Buffer::stale(rows * 4 * d);
        let grads = da.par_chunks_mut(task * 3 * d).zip(heard.par_chunks_mut(task * 4 * d));
        let inputs_of = kept.par_chunks(task * 4 * d).zip(new.par_chunks(task * d)).zip(dy.par_chunks(task * d));
        grads.zip(inputs_of).for_each(|((da, heard), ((kept, new), dy))| gates_grad(kept, new, dy, heard, da, d));
        for (heard, dc) in heard.chunks_exact(4 * d).zip(dc.chunks_exact_mut(3 * d)) {
            dc.copy_from_slice(&heard[d..]);
        }
        for (heard, dh) in heard.chunks_exact(4 * d).zip(dh.chunks_exact_mut(d)) {
            dh.copy_from_slice(&heard[..d]);
        }
        GatesView { a: gradient(da), c: gradient(dc), h: inputs.h.map(|_| gradient(dh)) }
    }
}

kernel! {
    /// Rows [s | c_r | c_z | c_n] become [s | r | z | c_n], n is kept apart, and h = (1 - z) n + z s.
    ///
    /// Shapes: a [R, 3D], rows [R, 4D], new and h [R, D].
    fn gates(a: &[f32], rows: &mut [f32], new: &mut [f32], h: &mut [f32], d: usize) = gates_body
}

#[inline(always)]
fn gates_body<S: Simd>(s: S, a: &[f32], rows: &mut [f32], new: &mut [f32], h: &mut [f32], d: usize) {
    let lines = a.chunks_exact(3 * d).zip(rows.chunks_exact_mut(4 * d));
    for ((a, row), (new, h)) in lines.zip(new.chunks_exact_mut(d).zip(h.chunks_exact_mut(d))) {
        gate(s, a, row, new, h);
    }
}

/// One row of [`gates`].
#[inline(always)]
pub(crate) fn gate<S: Simd>(s: S, a: &[f32], row: &mut [f32], new: &mut [f32], h: &mut [f32]) {
    let d = h.len();
    let (a_r, a) = a.split_at(d);
    let (a_z, a_n) = a.split_at(d);
    let (state, row) = row.split_at_mut(d);
    let (r, row) = row.split_at_mut(d);
    let (z, c_n) = row.split_at_mut(d);
    for k in 0..d.div_ceil(LANES) {
        let reset = sigmoid(s, s.add(get(s, a_r, k), get(s, r, k)));
        let keep = sigmoid(s, s.add(get(s, a_z, k), get(s, z, k)));
        let n = tanh(s, s.fma(reset, get(s, c_n, k), get(s, a_n, k)));
        put(s, reset, r, k);
        put(s, keep, z, k);
        put(s, n, new, k);
        put(s, s.fma(keep, s.sub(get(s, state, k), n), n), h, k);
    }
}

kernel! {
    /// The gradient of [`gates`], from what it left in `rows`: of [s | c_r | c_z | c_n] and of a.
    ///
    /// Shapes: rows and drows [R, 4D], new and dh [R, D], da [R, 3D].
    fn gates_grad(
        rows: &[f32],
        new: &[f32],
        dh: &[f32],
        drows: &mut [f32],
        da: &mut [f32],
        d: usize,
    ) = gates_grad_body
}

#[inline(always)]
fn gates_grad_body<S: Simd>(s: S, rows: &[f32], new: &[f32], dh: &[f32], drows: &mut [f32], da: &mut [f32], d: usize) {
    let one = s.splat(1.0);
    let lines = rows.chunks_exact(4 * d).zip(new.chunks_exact(d)).zip(dh.chunks_exact(d));
    let grads = drows.chunks_exact_mut(4 * d).zip(da.chunks_exact_mut(3 * d));
    for (((row, new), dh), (drow, da)) in lines.zip(grads) {
        let (state, row) = row.split_at(d);
        let (r, row) = row.split_at(d);
        let (z, c_n) = row.split_at(d);
        let (dstate, drow) = drow.split_at_mut(d);
        let (dc_r, drow) = drow.split_at_mut(d);
        let (dc_z, dc_n) = drow.split_at_mut(d);
        let (da_r, da) = da.split_at_mut(d);
        let (da_z, da_n) = da.split_at_mut(d);
        for k in 0..d.div_ceil(LANES) {
            let (dh, r, z, n) = (get(s, dh, k), get(s, r, k), get(s, z, k), get(s, new, k));
            let kept = s.mul(dh, z);
            put(s, kept, dstate, k);
            let dn = s.mul(s.sub(dh, kept), s.sub(one, s.mul(n, n)));
            put(s, dn, da_n, k);
            put(s, s.mul(dn, r), dc_n, k);
            let dz = s.mul(s.mul(kept, s.sub(one, z)), s.sub(get(s, state, k), n));
            put(s, dz, da_z, k);
            put(s, dz, dc_z, k);
            let dr = s.mul(s.mul(s.mul(dn, get(s, c_n, k)), r), s.sub(one, r));
            put(s, dr, da_r, k);
            put(s, dr, dc_r, k);
        }
    }
}

/// 1 / (1 + e^-x). A NaN stays one, so that a training that diverged is noticed; so does infinity become one.
#[inline(always)]
pub(crate) fn sigmoid<S: Simd>(s: S, x: S::V) -> S::V {
    let (zero, one) = (s.zero(), s.splat(1.0));
    let decay = s.exp(s.sub(zero, s.abs(x)));
    let upper = s.div(one, s.add(one, decay));
    s.fma(x, zero, s.select(s.gt(zero, x), s.mul(decay, upper), upper))
}

/// The hyperbolic tangent, (1 - e^-2|x|) / (1 + e^-2|x|) with the sign of x; NaN as in [`sigmoid`].
#[inline(always)]
pub(crate) fn tanh<S: Simd>(s: S, x: S::V) -> S::V {
    let (zero, one) = (s.zero(), s.splat(1.0));
    let decay = s.exp(s.mul(s.splat(-2.0), s.abs(x)));
    let size = s.div(s.sub(one, decay), s.add(one, decay));
    s.fma(x, zero, s.select(s.gt(zero, x), s.sub(zero, size), size))
}
