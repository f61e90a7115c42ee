//! The loops of a walk over rows.

use pace_graph::Csr;

use crate::kernel::fused::gates::{gate, sigmoid};
use crate::kernel::fused::simd::{LANES, Simd, add_scaled, get, kernel, map, put, sum};

/// What tellers say. Shapes: messages [K, D], projected [K, 3D].
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub messages: &'a [f32],
    pub projected: &'a [f32],
    /// `[K]`; empty unless it attends.
    pub scores: &'a [f32],
}

/// Some rows that hear, from `first` on. Shapes: a [.., 3D], states [rows, D]; gates [rows, 4D] and new [rows, D], or one row of
/// each if they are not kept.
pub(super) struct Hearing<'a> {
    pub first: usize,
    pub heard: &'a Csr<u32>,
    pub a: &'a [f32],
    /// The row of a that each row has; `None` if it is its own.
    pub a_rows: Option<&'a [u32]>,
    /// b_h, `[3D]`.
    pub bias: &'a [f32],
    pub gates: &'a mut [f32],
    pub new: &'a mut [f32],
    pub states: &'a mut [f32],
    /// The weights of their edges; empty unless it attends.
    pub weights: &'a mut [f32],
}

kernel! {
    /// The states of rows, from what they hear.
    fn hear(rows: Hearing<'_>, said: Said<'_>, d: usize) = hear_body
}

#[inline(always)]
fn hear_body<S: Simd>(s: S, rows: Hearing<'_>, said: Said<'_>, d: usize) {
    let Hearing { first, heard, a, a_rows, bias, gates, new, states, mut weights } = rows;
    let keep = new.len() == states.len();
    for (row, state) in states.chunks_exact_mut(d).enumerate() {
        let own = a_rows.map_or(first + row, |rows| rows[first + row] as usize);
        let a = &a[own * 3 * d..][..3 * d];
        let kept = if keep { row } else { 0 };
        let (gates, new) = (&mut gates[kept * 4 * d..][..4 * d], &mut new[kept * d..][..d]);
        let tellers = heard.row(first + row);
        let (sum, c) = gates.split_at_mut(d);
        sum.fill(0.0);
        c.copy_from_slice(bias);
        if said.scores.is_empty() {
            for &teller in tellers {
                let teller = teller as usize;
                let (message, projected) =
                    (&said.messages[teller * d..][..d], &said.projected[teller * 3 * d..][..3 * d]);
                map!(s, sum, [message], |_, sum, [m]| s.add(sum, m));
                map!(s, c, [projected], |_, c, [m]| s.add(c, m));
            }
        } else {
            let (own, others) = std::mem::take(&mut weights).split_at_mut(tellers.len());
            weights = others;
            for (weight, &teller) in own.iter_mut().zip(tellers) {
                *weight = said.scores[teller as usize];
            }
            softmax(s, own);
            for (weight, &teller) in own.iter().zip(tellers) {
                let (weight, teller) = (s.splat(*weight), teller as usize);
                add_scaled(s, sum, weight, &said.messages[teller * d..][..d]);
                add_scaled(s, c, weight, &said.projected[teller * 3 * d..][..3 * d]);
            }
        }
        gate(s, a, gates, new, state);
    }
}

/// Softmax in place.
#[inline(always)]
fn softmax<S: Simd>(s: S, weights: &mut [f32]) {
    // Not f32::max, which would let a NaN disappear.
    let top = weights.iter().copied().fold(f32::NEG_INFINITY, |top, x| if x <= top { top } else { x });
    let top = s.splat(top);
    map!(s, weights, [], |_, x, []| s.exp(s.sub(x, top)));
    let total = s.splat(1.0 / sum!(s, [weights], |[x]| x));
    map!(s, weights, [], |_, x, []| s.mul(x, total));
}

kernel! {
    /// Rows [g | m] become [sigmoid(g) | m], and their products the messages. Shapes: gated [rows, 2D], messages [rows, D].
    fn open(gated: &mut [f32], messages: &mut [f32], d: usize) = open_body
}

#[inline(always)]
fn open_body<S: Simd>(s: S, gated: &mut [f32], messages: &mut [f32], d: usize) {
    for (gated, message) in gated.chunks_exact_mut(2 * d).zip(messages.chunks_exact_mut(d)) {
        let (gate, map) = gated.split_at_mut(d);
        for k in 0..d.div_ceil(LANES) {
            let open = sigmoid(s, get(s, gate, k));
            put(s, open, gate, k);
            put(s, s.mul(open, get(s, map, k)), message, k);
        }
    }
}

kernel! {
    /// The gradient of [`open`]: that of [g | m] from that of the messages.
    fn open_grad(gated: &[f32], dmessages: &[f32], dgated: &mut [f32], d: usize) = open_grad_body
}

#[inline(always)]
fn open_grad_body<S: Simd>(s: S, gated: &[f32], dmessages: &[f32], dgated: &mut [f32], d: usize) {
    let one = s.splat(1.0);
    let rows = gated.chunks_exact(2 * d).zip(dmessages.chunks_exact(d)).zip(dgated.chunks_exact_mut(2 * d));
    for ((gated, dmessage), dgated) in rows {
        let (gate, map) = gated.split_at(d);
        let (dgate, dmap) = dgated.split_at_mut(d);
        for k in 0..d.div_ceil(LANES) {
            let (open, dm) = (get(s, gate, k), get(s, dmessage, k));
            let dopen = s.mul(dm, open);
            put(s, dopen, dmap, k);
            put(s, s.mul(s.mul(dopen, s.sub(one, open)), get(s, map, k)), dgate, k);
        }
    }
}

kernel! {
    /// The score of each state, x . w + addend. Shapes: x [rows, D], w `[D]`, scores `[rows]`, which hold the addends.
    fn score(x: &[f32], w: &[f32], scores: &mut [f32]) = score_body
}

#[inline(always)]
fn score_body<S: Simd>(s: S, x: &[f32], w: &[f32], scores: &mut [f32]) {
    for (x, score) in x.chunks_exact(w.len()).zip(scores) {
        *score += sum!(s, [x, w], |[x, w]| s.mul(x, w));
    }
}

/// Gradients of what rows heard, [s | c], and the slopes of the scores of edges.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    /// [R, 4D].
    pub grads: &'a [f32],
    /// `[E]`; empty unless it attends.
    pub weights: &'a [f32],
    /// `[E]`.
    pub slopes: &'a [f32],
}

kernel! {
    /// The gradients of some tellers, from `first` on, by those who heard them: of messages, projections and scores.
    ///
    /// Shapes: dmessages [rows, D], dprojected [rows, 3D], dscores `[rows]`; empty unless it attends.
    fn collect(
        hearers: &Csr<[u32; 2]>,
        first: usize,
        heard: Heard<'_>,
        dmessages: &mut [f32],
        dprojected: &mut [f32],
        dscores: &mut [f32],
        d: usize,
    ) = collect_body
}

#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn collect_body<S: Simd>(
    s: S,
    hearers: &Csr<[u32; 2]>,
    first: usize,
    heard: Heard<'_>,
    dmessages: &mut [f32],
    dprojected: &mut [f32],
    dscores: &mut [f32],
    d: usize,
) {
    let rows = dmessages.chunks_exact_mut(d).zip(dprojected.chunks_exact_mut(3 * d));
    for (teller, (dm, dc)) in rows.enumerate() {
        dm.fill(0.0);
        dc.fill(0.0);
        let mut slope = 0.0;
        for &[row, edge] in hearers.row(first + teller) {
            let grads = &heard.grads[row as usize * 4 * d..][..4 * d];
            let (ds, dp) = grads.split_at(d);
            if heard.weights.is_empty() {
                map!(s, dm, [ds], |_, dm, [ds]| s.add(dm, ds));
                map!(s, dc, [dp], |_, dc, [dp]| s.add(dc, dp));
            } else {
                let weight = s.splat(heard.weights[edge as usize]);
                add_scaled(s, dm, weight, ds);
                add_scaled(s, dc, weight, dp);
                slope += heard.slopes[edge as usize];
            }
        }
        if !heard.weights.is_empty() {
            dscores[teller] = slope;
        }
    }
}

kernel! {
    /// The slopes of the scores that some rows, from `first` on, heard. With g_e = dL/dw_e: slope_e = w_e (g_e - sum of w g).
    ///
    /// Shapes: grads [rows, 4D] of [s | c]; weights and slopes of their edges.
    fn slopes(
        heard: &Csr<u32>,
        first: usize,
        said: Said<'_>,
        grads: &[f32],
        weights: &[f32],
        slopes: &mut [f32],
        d: usize,
    ) = slopes_body
}

#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn slopes_body<S: Simd>(
    s: S,
    heard: &Csr<u32>,
    first: usize,
    said: Said<'_>,
    grads: &[f32],
    weights: &[f32],
    slopes: &mut [f32],
    d: usize,
) {
    let (mut weights, mut slopes) = (weights, slopes);
    for (row, grads) in grads.chunks_exact(4 * d).enumerate() {
        let tellers = heard.row(first + row);
        let (own, others) = std::mem::take(&mut slopes).split_at_mut(tellers.len());
        let (own_weights, other_weights) = weights.split_at(tellers.len());
        (slopes, weights) = (others, other_weights);
        let (ds, dc) = grads.split_at(d);
        for (slope, &teller) in own.iter_mut().zip(tellers) {
            let teller = teller as usize;
            let (message, projected) = (&said.messages[teller * d..][..d], &said.projected[teller * 3 * d..][..3 * d]);
            *slope = sum!(s, [ds, message], |[ds, m]| s.mul(ds, m)) + sum!(s, [dc, projected], |[dc, m]| s.mul(dc, m));
        }
        let mean = s.splat(sum!(s, [&own[..], own_weights], |[g, w]| s.mul(g, w)));
        map!(s, own, [own_weights], |_, g, [w]| s.mul(w, s.sub(g, mean)));
    }
}

kernel! {
    /// The gradients of states that tell by attention: dstates += dmessages + dscore w. Shapes as in [`score`].
    fn attend_grad(dstates: &mut [f32], dmessages: &[f32], dscores: &[f32], w: &[f32]) = attend_grad_body
}

#[inline(always)]
fn attend_grad_body<S: Simd>(s: S, dstates: &mut [f32], dmessages: &[f32], dscores: &[f32], w: &[f32]) {
    let d = w.len();
    for ((dstate, dmessage), dscore) in dstates.chunks_exact_mut(d).zip(dmessages.chunks_exact(d)).zip(dscores) {
        let dscore = s.splat(*dscore);
        map!(s, dstate, [dmessage, w], |_, dh, [dm, w]| s.add(dh, s.fma(dscore, w, dm)));
    }
}

kernel! {
    /// The gradient of w of [`score`]: dw += sum of dscore x.
    fn score_grad(dw: &mut [f32], x: &[f32], dscores: &[f32]) = score_grad_body
}

#[inline(always)]
fn score_grad_body<S: Simd>(s: S, dw: &mut [f32], x: &[f32], dscores: &[f32]) {
    for (x, dscore) in x.chunks_exact(dw.len()).zip(dscores) {
        add_scaled(s, dw, s.splat(*dscore), x);
    }
}

kernel! {
    /// The gradient of a table by those of its rows: total [T, W] += grads [rows, W].
    fn table_grad(total: &mut [f32], grads: &[f32], rows: &[u32], width: usize) = table_grad_body
}

#[inline(always)]
fn table_grad_body<S: Simd>(s: S, total: &mut [f32], grads: &[f32], rows: &[u32], width: usize) {
    for (grad, &row) in grads.chunks_exact(width).zip(rows) {
        let total = &mut total[row as usize * width..][..width];
        map!(s, total, [grad], |_, total, [grad]| s.add(total, grad));
    }
}

kernel! {
    /// The gradient of b_h: total += the sum of the rows' [c] in [s | c]. Shapes: total `[3D]`, grads [R, 4D].
    fn bias_grad(total: &mut [f32], grads: &[f32]) = bias_grad_body
}

#[inline(always)]
fn bias_grad_body<S: Simd>(s: S, total: &mut [f32], grads: &[f32]) {
    let d = total.len() / 3;
    for row in grads.chunks_exact(4 * d) {
        let row = &row[d..];
        map!(s, total, [row], |_, total, [dc]| s.add(total, dc));
    }
}
