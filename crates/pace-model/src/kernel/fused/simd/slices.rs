//! Loops over rows of any length: whole vectors, then the rest, filled up with zeros.
//!
//! Two of them are macros, because a closure may become a function of its own, compiled without the instructions of the level. The
//! body of a macro is part of the kernel.

use super::{LANES, Simd};

/// Vector `index` of a row.
#[inline(always)]
pub(crate) fn get<S: Simd>(s: S, row: &[f32], index: usize) -> S::V {
    let rest = &row[index * LANES..];
    match rest.first_chunk::<LANES>() {
        Some(whole) => s.load(whole),
        None => s.load_part(rest),
    }
}

/// Writes vector `index` of a row.
#[inline(always)]
pub(crate) fn put<S: Simd>(s: S, v: S::V, row: &mut [f32], index: usize) {
    let rest = &mut row[index * LANES..];
    match rest.first_chunk_mut::<LANES>() {
        Some(whole) => s.store(v, whole),
        None => s.store_part(v, rest),
    }
}

/// `map!(s, y, [a, b], |at, y, [a, b]| ..)`: y = f(index of the first lane, y, inputs), vector by vector.
///
/// Inputs have at least the length of y.
macro_rules! map {
    ($s:ident, $y:expr, [$($from:expr),*], |$at:pat_param, $v:pat_param, [$($x:ident),*]| $body:expr) => {{
        let y: &mut [f32] = $y;
        $(let $x = $crate::kernel::fused::simd::chunks(&$from[..y.len()]);)*
        let (whole, rest) = y.as_chunks_mut::<{ $crate::kernel::fused::simd::LANES }>();
        $(let $x = (&$x.0[..whole.len()], $x.1);)*
        let vectors = whole.len();
        for (index, y) in whole.iter_mut().enumerate() {
            $(let $x = $s.load(&$x.0[index]);)*
            let $at = index * $crate::kernel::fused::simd::LANES;
            let $v = $s.load(y);
            let v = $body;
            $s.store(v, y);
        }
        if !rest.is_empty() {
            $(let $x = $s.load_part($x.1);)*
            let $at = vectors * $crate::kernel::fused::simd::LANES;
            let $v = $s.load_part(rest);
            let v = $body;
            $s.store_part(v, rest);
        }
    }};
}
pub(crate) use map;

/// `sum!(s, [a, b], |[a, b]| ..)`: the sum of f(inputs) over rows of equal length, lane by lane, then the lanes pairwise.
macro_rules! sum {
    ($s:ident, [$first:expr $(, $from:expr)*], |[$y:ident $(, $x:ident)*]| $body:expr) => {{
        let first: &[f32] = $first;
        $(let $x = $crate::kernel::fused::simd::chunks(&$from[..first.len()]);)*
        let (whole, rest) = $crate::kernel::fused::simd::chunks(first);
        $(let $x = (&$x.0[..whole.len()], $x.1);)*
        let mut total = $s.zero();
        for (index, y) in whole.iter().enumerate() {
            let _ = index;
            $(let $x = $s.load(&$x.0[index]);)*
            let $y = $s.load(y);
            total = $s.add(total, $body);
        }
        if !rest.is_empty() {
            $(let $x = $s.load_part($x.1);)*
            let $y = $s.load_part(rest);
            // The lanes after the rest do not count.
            total = $s.add(total, $s.select($s.lanes(0, rest.len()), $body, $s.zero()));
        }
        $s.total(total)
    }};
}
pub(crate) use sum;

/// Whole vectors and what is left.
#[inline(always)]
pub(crate) fn chunks(row: &[f32]) -> (&[[f32; LANES]], &[f32]) {
    row.as_chunks::<LANES>()
}

/// The dot product of two rows, lane by lane: the caller adds up the lanes.
#[inline(always)]
pub(crate) fn dot<S: Simd>(s: S, a: &[f32], b: &[f32]) -> S::V {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut total = s.zero();
    for (a, b) in a.iter().zip(b) {
        total = s.fma(s.load(a), s.load(b), total);
    }
    if !a_rest.is_empty() {
        total = s.fma(s.load_part(a_rest), s.load_part(b_rest), total);
    }
    total
}

/// y += w x; w repeats in every vector.
#[inline(always)]
pub(crate) fn add_scaled<S: Simd>(s: S, y: &mut [f32], w: S::V, x: &[f32]) {
    map!(s, y, [x], |_, y, [x]| s.fma(w, x, y));
}
