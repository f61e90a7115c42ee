//! The last block of a stack where only a few rows of its result are read: the root of a tree, the output of a cell.
//!
//! No other row needs queries, an output or a feed-forward. Nor do keys and values have to be computed: with
//! u_h = W_K,h q_h / sqrt(D/H), the score of key k is u_h x_k (what the bias of the keys adds is the same for all keys and
//! softmax does not see it), and with m_h = sum_k w_hk x_k the mixed value is m_h W_V,h + (sum_k w_hk) b_V,h. So a read costs
//! a few matrices times one vector and 2 H D per key, where keys and values of all rows would cost 2 D^2 per row.
//!
//! Post-norm only; the rows of a pre-norm block would have to be normalised first.

use std::ops::Range;

use rayon::prelude::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::{softmax, softmax_grad};
use crate::kernel::fused::block::sublayer::Way;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{
    Finish, Into, Left, Mat, PLAIN, Panels, add_weight_grad, input_grad, linear, linear_unbiased, product,
};
use crate::kernel::fused::rows;
use crate::kernel::fused::simd::{Simd, add_scaled, dot, kernel};
use crate::kernel::fused::some_rows::reads::{Group, Reads};

/// Reads that are computed together.
const BLOCK_READS: usize = 64;

/// The places of dropout in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sites {
    pub(crate) weights: Site,
    pub(crate) attention: Site,
    pub(crate) hidden: Site,
    pub(crate) feed_forward: Site,
}

/// A block at some rows of its result.
pub(crate) struct Reading<'a> {
    pub(crate) reads: &'a Reads,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) epsilon: f32,
    pub(crate) sites: Sites,
    /// wqkv, bqkv, wo, bo, gamma, beta, w1, b1, w2, b2, gamma, beta.
    pub(crate) params: [&'a [f32]; 12],
}

/// The weights of a block, laid out once for all reads: as they are on the way forward, transposed on the way back.
struct Maps {
    queries: Panels,
    /// Per head, W_K,h^T forward and W_K,h backward.
    keys: Vec<Panels>,
    /// Per head, W_V,h forward and W_V,h^T backward.
    values: Vec<Panels>,
    output: Panels,
    hidden: Panels,
    last: Panels,
}

/// What forward leaves for backward of one block of R reads.
#[derive(Debug)]
pub(crate) struct Saved {
    reads: Range<usize>,
    /// [R, D].
    q: Buffer,
    /// [R, H, D].
    u: Buffer,
    /// [pairs, H], negative where dropout dropped it.
    weights: Buffer,
    /// [R, H, D].
    m: Buffer,
    /// The sums of the kept weights, [R, H].
    mass: Buffer,
    /// [R, D], before the output projection.
    heads: Buffer,
    xhat: [Buffer; 2],
    rstd: [Buffer; 2],
    /// [R, D], between attention and feed-forward.
    middle: Buffer,
    /// [R, F].
    hidden: Buffer,
}

/// Per group, per block of reads.
pub(crate) type Tape = Vec<Vec<Saved>>;

impl Reading<'_> {
    /// x [T, D] -> y [R, D].
    pub(crate) fn forward(&self, x: &[f32]) -> (Vec<f32>, Tape) {
        let maps = self.maps(Way::Forward);
        let group = |group: &Group| -> (Vec<f32>, Vec<Saved>) {
            let (mut y, mut kept) = (Vec::with_capacity(group.reads.len() * self.d), Vec::new());
            for first in group.reads.clone().step_by(BLOCK_READS) {
                let (part, saved) = self.block(&maps, first..group.reads.end.min(first + BLOCK_READS), x);
                y.extend_from_slice(&part);
                kept.push(saved);
            }
            (y, kept)
        };
        let (y, tape): (Vec<_>, Vec<_>) = self.reads.groups.par_iter().map(group).unzip();
        (y.concat(), tape)
    }

    fn block(&self, maps: &Maps, reads: Range<usize>, x: &[f32]) -> (Buffer, Saved) {
        let (d, n_heads, count) = (self.d, self.n_heads, reads.len());
        let d_head = d / n_heads;
        let [_, bqkv, _, bo, gamma, beta, _, b1, _, b2, gamma_2, beta_2] = self.params;
        let own = self.gather(&reads, x);
        let q = linear(&own, count, &maps.queries, &bqkv[..d]);
        let (mut u, mut m) = (Buffer::stale(count * n_heads * d), Buffer::stale(count * n_heads * d));
        for (head, keys) in maps.keys.iter().enumerate() {
            let q = Left { values: &q[head * d_head..], stride: d, m: count, k: d_head };
            keys.times(q, &mut u[head * d..], n_heads * d, Finish { scale: self.scale(), ..PLAIN });
        }
        let (mut weights, mut mass) =
            (Buffer::stale(self.reads.n_pairs(&reads) * n_heads), Buffer::stale(count * n_heads));
        mix(self, &reads, x, &u, &mut weights, &mut m, &mut mass);
        let mut heads = Buffer::stale(count * d);
        for (read, heads) in heads.chunks_exact_mut(d).enumerate() {
            for (index, value) in heads.iter_mut().enumerate() {
                *value = bqkv[2 * d + index] * mass[read * n_heads + index / d_head];
            }
        }
        for (head, values) in maps.values.iter().enumerate() {
            let m = Left { values: &m[head * d..], stride: n_heads * d, m: count, k: d };
            values.times(m, &mut heads[head * d_head..], d, Finish { add: true, ..PLAIN });
        }
        let attended = linear_unbiased(&heads, count, &maps.output);
        let (middle, xhat, rstd) = self.add_norm(&reads, attended, &own, self.sites.attention, [bo, gamma, beta]);
        let mut hidden = linear_unbiased(&middle, count, &maps.hidden);
        self.by_row(&reads, &mut hidden, |hidden, _, first| rows::relu_dropped(hidden, b1, self.sites.hidden, first));
        let fed = linear_unbiased(&hidden, count, &maps.last);
        let (y, xhat_2, rstd_2) = self.add_norm(&reads, fed, &middle, self.sites.feed_forward, [b2, gamma_2, beta_2]);
        let (xhat, rstd) = ([xhat, xhat_2], [rstd, rstd_2]);
        (y, Saved { reads, q, u, weights, m, mass, heads, xhat, rstd, middle, hidden })
    }

    /// dy [R, D] -> dx [T, D] and the gradients of the parameters.
    pub(crate) fn backward(&self, tape: &Tape, x: &[f32], dy: &[f32]) -> (Vec<f32>, Vec<Vec<f32>>) {
        let (d, maps) = (self.d, self.maps(Way::Backward));
        let mut dx = vec![0.0; x.len()];
        let mut rest = &mut dx[..];
        let mut parts = Vec::new();
        for (group, kept) in self.reads.groups.iter().zip(tape) {
            let (dx, others) = rest.split_at_mut(group.rows.len() * d);
            rest = others;
            parts.push((group.rows.start, dx, kept));
        }
        let run = |(origin, dx, kept): (usize, &mut [f32], &Vec<Saved>)| {
            let mut grads: Vec<Buffer> = self.params.iter().map(|param| Buffer::zeros(param.len())).collect();
            for saved in kept {
                let dy = Buffer::copy_of(&dy[saved.reads.start * d..saved.reads.end * d]);
                self.block_grad(&maps, saved, x, dy, &mut Target { dx, origin, d }, &mut grads);
            }
            grads
        };
        let partial: Vec<Vec<Buffer>> = parts.into_par_iter().map(run).collect();
        let total = |param: usize| {
            let mut total = vec![0.0; self.params[param].len()];
            partial.iter().for_each(|grads| rows::add(&mut total, &grads[param]));
            total
        };
        let grads = (0..self.params.len()).into_par_iter().map(total).collect();
        (dx, grads)
    }

    fn block_grad(
        &self,
        maps: &Maps,
        saved: &Saved,
        x: &[f32],
        mut dy: Buffer,
        target: &mut Target<'_>,
        grads: &mut [Buffer],
    ) {
        let (d, n_heads, reads) = (self.d, self.n_heads, &saved.reads);
        let (d_head, count) = (d / n_heads, saved.reads.len());
        let [_, bqkv, _, _, gamma, _, _, _, _, _, gamma_2, _] = self.params;
        let [dwqkv, dbqkv, dwo, dbo, dgamma, dbeta, dw1, db1, dw2, db2, dgamma_2, dbeta_2] = grads else {
            unreachable!("a block has twelve parameters")
        };
        rows::norm_grad(&mut dy, &saved.xhat[1], &saved.rstd[1], gamma_2, dgamma_2, dbeta_2);
        let df = self.dropped(reads, &dy, self.sites.feed_forward);
        add_weight_grad(dw2, &saved.hidden, &df, count);
        rows::add_rows(db2, &df);
        let mut dhidden = Buffer::stale(saved.hidden.len());
        input_grad(&mut dhidden, Into::Replace, &df, &maps.last);
        rows::relu_dropped_grad(&mut dhidden, &saved.hidden, self.sites.hidden);
        add_weight_grad(dw1, &saved.middle, &dhidden, count);
        rows::add_rows(db1, &dhidden);
        input_grad(&mut dy, Into::Add, &dhidden, &maps.hidden);

        rows::norm_grad(&mut dy, &saved.xhat[0], &saved.rstd[0], gamma, dgamma, dbeta);
        let df = self.dropped(reads, &dy, self.sites.attention);
        add_weight_grad(dwo, &saved.heads, &df, count);
        rows::add_rows(dbo, &df);
        let mut dheads = Buffer::stale(count * d);
        input_grad(&mut dheads, Into::Replace, &df, &maps.output);

        let (mut dm, mut du) = (Buffer::stale(saved.m.len()), Buffer::stale(saved.u.len()));
        let mut dmass = Buffer::stale(saved.mass.len());
        for (head, values) in maps.values.iter().enumerate() {
            let (column, stride) = (2 * d + head * d_head, n_heads * d);
            let dheads = &dheads[head * d_head..];
            let m = Mat::new(&saved.m[head * d..], stride);
            product([d, count, d_head], &mut dwqkv[column..], 3 * d, Into::Add, m.t(), Mat::new(dheads, d), 1.0);
            let dheads = Left { values: dheads, stride: d, m: count, k: d_head };
            values.times(dheads, &mut dm[head * d..], stride, PLAIN);
        }
        let per_head = dheads.chunks_exact(d_head).zip(&saved.mass[..]).zip(&mut dmass[..]).enumerate();
        for (index, ((dheads, mass), dmass)) in per_head {
            let column = 2 * d + index % n_heads * d_head;
            *dmass = dheads.iter().zip(&bqkv[column..]).map(|(dheads, bias)| dheads * bias).sum();
            dbqkv[column..column + d_head].iter_mut().zip(dheads).for_each(|(db, dheads)| *db += mass * dheads);
        }
        mix_grad(self, saved, x, &dm, &dmass, &mut du, target);

        let mut dq = Buffer::stale(count * d);
        for (head, keys) in maps.keys.iter().enumerate() {
            let (column, stride, du) = (d + head * d_head, n_heads * d, &du[head * d..]);
            let q = Mat::new(&saved.q[head * d_head..], d);
            let scale = self.scale();
            product([d, count, d_head], &mut dwqkv[column..], 3 * d, Into::Add, Mat::new(du, stride).t(), q, scale);
            let du = Left { values: du, stride, m: count, k: d };
            keys.times(du, &mut dq[head * d_head..], d, Finish { scale, ..PLAIN });
        }
        let own = self.gather(reads, x);
        product([d, count, d], dwqkv, 3 * d, Into::Add, Mat::new(&own, d).t(), Mat::new(&dq, d), 1.0);
        rows::add_rows(&mut dbqkv[..d], &dq);
        input_grad(&mut dy, Into::Add, &dq, &maps.queries);
        for (dy, &row) in dy.chunks_exact(d).zip(&self.reads.rows[reads.clone()]) {
            rows::add(target.row(row), dy);
        }
    }

    /// 1 / sqrt(D/H).
    fn scale(&self) -> f32 {
        1.0 / ((self.d / self.n_heads) as f32).sqrt()
    }

    /// The weights, laid out.
    fn maps(&self, way: Way) -> Maps {
        let [wqkv, _, wo, _, _, _, w1, _, w2, ..] = self.params;
        let (d, d_head, forward) = (self.d, self.d / self.n_heads, way == Way::Forward);
        // A matrix [D, N] as it is or transposed.
        let lay_out = |weight: &[f32], stride: usize, n: usize, as_it_is: bool| {
            let matrix = Mat::new(weight, stride);
            if as_it_is { Panels::of(matrix, d, n) } else { Panels::of(matrix.t(), n, d) }
        };
        let heads = |part: usize, as_it_is: bool| -> Vec<Panels> {
            let columns = (part * d..(part + 1) * d).step_by(d_head);
            columns.map(|column| lay_out(&wqkv[column..], 3 * d, d_head, as_it_is)).collect()
        };
        Maps {
            queries: lay_out(wqkv, 3 * d, d, forward),
            keys: heads(1, !forward),
            values: heads(2, forward),
            output: lay_out(wo, d, d, forward),
            hidden: lay_out(w1, w1.len() / d, w1.len() / d, forward),
            last: if forward { Panels::new(w2, w2.len() / d) } else { Panels::transposed(w2, w2.len() / d) },
        }
    }

    /// The rows that are read, [R, D].
    fn gather(&self, reads: &Range<usize>, x: &[f32]) -> Buffer {
        let mut own = Buffer::stale(reads.len() * self.d);
        for (own, &row) in own.chunks_exact_mut(self.d).zip(&self.reads.rows[reads.clone()]) {
            own.copy_from_slice(&x[row as usize * self.d..][..self.d]);
        }
        own
    }

    /// LN(residual + drop(x + bias)) with its xhat and 1 / standard deviation.
    fn add_norm(
        &self,
        reads: &Range<usize>,
        mut x: Buffer,
        residual: &[f32],
        site: Site,
        [bias, gamma, beta]: [&[f32]; 3],
    ) -> (Buffer, Buffer, Buffer) {
        let d = self.d;
        self.by_row(reads, &mut x, |x, at, first| rows::residual(x, &residual[at * d..][..d], bias, site, first));
        let (mut y, mut rstd) = (Buffer::stale(x.len()), Buffer::stale(reads.len()));
        rows::norm(&mut x, &mut y, &mut rstd, gamma, beta, self.epsilon);
        (y, x, rstd)
    }

    /// drop(x).
    fn dropped(&self, reads: &Range<usize>, x: &[f32], site: Site) -> Buffer {
        let (d, mut y) = (self.d, Buffer::stale(x.len()));
        self.by_row(reads, &mut y, |y, at, first| rows::dropped(y, &x[at * d..][..d], site, first));
        y
    }

    /// Calls `f` with every row of values [R, width], its place among them, and the number its first element would have if
    /// all rows were computed, by which dropout counts.
    fn by_row(&self, reads: &Range<usize>, values: &mut [f32], mut f: impl FnMut(&mut [f32], usize, usize)) {
        let width = values.len() / reads.len();
        let rows = self.reads.rows[reads.clone()].iter().enumerate();
        for (values, (place, &row)) in values.chunks_exact_mut(width).zip(rows) {
            f(values, place, row as usize * width);
        }
    }
}

/// Where the gradients of the rows of a group go.
pub(crate) struct Target<'t> {
    dx: &'t mut [f32],
    /// The first row.
    origin: usize,
    d: usize,
}

impl Target<'_> {
    #[inline(always)]
    fn row(&mut self, row: u32) -> &mut [f32] {
        &mut self.dx[(row as usize - self.origin) * self.d..][..self.d]
    }
}

kernel! {
    /// Scores, softmax and m: `u` [R, H, D] -> `weights` [pairs, H], `m` [R, H, D] and `mass` [R, H].
    fn mix(
        r: &Reading<'_>,
        reads: &Range<usize>,
        x: &[f32],
        u: &[f32],
        weights: &mut [f32],
        m: &mut [f32],
        mass: &mut [f32],
    ) = mix_body
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn mix_body<S: Simd>(
    s: S,
    r: &Reading<'_>,
    reads: &Range<usize>,
    x: &[f32],
    u: &[f32],
    weights: &mut [f32],
    m: &mut [f32],
    mass: &mut [f32],
) {
    let (d, n_heads, site) = (r.d, r.n_heads, r.sites.weights);
    let mut rest = weights;
    m.fill(0.0);
    mass.fill(0.0);
    for (place, read) in reads.clone().enumerate() {
        let keys = r.reads.keys(read);
        let (w, others) = std::mem::take(&mut rest).split_at_mut(keys.len() * n_heads);
        rest = others;
        let u = &u[place * n_heads * d..][..n_heads * d];
        let (m, mass) = (&mut m[place * n_heads * d..][..n_heads * d], &mut mass[place * n_heads..][..n_heads]);
        for (w, &key) in w.chunks_exact_mut(n_heads).zip(keys) {
            let x = &x[key as usize * d..][..d];
            for (w, u) in w.iter_mut().zip(u.chunks_exact(d)) {
                *w = s.total(dot(s, u, x));
            }
        }
        softmax(s, w, n_heads);
        for ((w, &key), &pair) in w.chunks_exact_mut(n_heads).zip(keys).zip(r.reads.pairs(read)) {
            let x = &x[key as usize * d..][..d];
            let index = (pair as usize * n_heads) as u32;
            for (head, w) in w.iter_mut().enumerate() {
                let kept = *w * if site.is_on() { site.factor(index.wrapping_add(head as u32)) } else { 1.0 };
                *w = if kept > 0.0 { *w } else { -*w };
                mass[head] += kept;
                add_scaled(s, &mut m[head * d..][..d], s.splat(kept), x);
            }
        }
    }
}

kernel! {
    /// The gradient of [`mix`]: `dm` [R, H, D] and `dmass` [R, H] -> `du` [R, H, D], and adds to the rows of the keys.
    fn mix_grad(
        r: &Reading<'_>,
        saved: &Saved,
        x: &[f32],
        dm: &[f32],
        dmass: &[f32],
        du: &mut [f32],
        target: &mut Target<'_>,
    ) = mix_grad_body
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn mix_grad_body<S: Simd>(
    s: S,
    r: &Reading<'_>,
    saved: &Saved,
    x: &[f32],
    dm: &[f32],
    dmass: &[f32],
    du: &mut [f32],
    target: &mut Target<'_>,
) {
    let (d, n_heads, site) = (r.d, r.n_heads, r.sites.weights);
    let keep_scale = site.kept_scale();
    let (mut rest, mut dscores) = (&saved.weights[..], Vec::new());
    du.fill(0.0);
    for (place, read) in saved.reads.clone().enumerate() {
        let keys = r.reads.keys(read);
        let (w, others) = rest.split_at(keys.len() * n_heads);
        rest = others;
        let part = place * n_heads * d..(place + 1) * n_heads * d;
        let (u, dm, du) = (&saved.u[part.clone()], &dm[part.clone()], &mut du[part]);
        let dmass = &dmass[place * n_heads..][..n_heads];
        dscores.resize(w.len(), 0.0);
        for (dw, &key) in dscores.chunks_exact_mut(n_heads).zip(keys) {
            let x = &x[key as usize * d..][..d];
            for ((dw, dm), dmass) in dw.iter_mut().zip(dm.chunks_exact(d)).zip(dmass) {
                *dw = s.total(dot(s, dm, x)) + dmass;
            }
        }
        softmax_grad(s, &mut dscores, w, n_heads, keep_scale, 1.0);
        for ((ds, w), &key) in dscores.chunks_exact(n_heads).zip(w.chunks_exact(n_heads)).zip(keys) {
            let (x, dx) = (&x[key as usize * d..][..d], target.row(key));
            for head in 0..n_heads {
                let head_part = head * d..(head + 1) * d;
                add_scaled(s, dx, s.splat(w[head].max(0.0) * keep_scale), &dm[head_part.clone()]);
                add_scaled(s, dx, s.splat(ds[head]), &u[head_part.clone()]);
                add_scaled(s, &mut du[head_part], s.splat(ds[head]), x);
            }
        }
    }
}
