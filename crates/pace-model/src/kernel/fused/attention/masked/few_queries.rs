//! Attention of very few queries per graph, straight from the packed projections.
//!
//! Generation asks one query at a time against a growing cache. Copying all keys and values, let alone into another order of
//! columns, would cost more than the attention itself. Forward only; columns keep their usual order.

use super::{Geometry, Rows};
use crate::kernel::fused::attention::gather::Terms;
use crate::kernel::fused::attention::order::{ByHead, Heads};
use crate::kernel::fused::attention::softmax::softmax;
use crate::kernel::fused::simd::{Simd, kernel, map};

/// The most queries per graph for which rearranging the columns does not pay.
pub(crate) const MAX_QUERIES: usize = 2;

kernel! {
    /// Attention over the graphs of a chunk; `out` [graphs * N, D].
    fn forward(g: &Geometry<'_>, qkv: [Rows<'_>; 3], out: &mut [f32]) = forward_body
}

#[inline(always)]
fn forward_body<S: Simd>(s: S, g: &Geometry<'_>, qkv: [Rows<'_>; 3], out: &mut [f32]) {
    // PACE runs 8 heads of 8: with the sizes known, a head stays in registers.
    match (g.d / g.n_heads, g.n_heads) {
        (8, 8) => forward_of(s, g, ByHead { n_heads: 8, d_head: 8 }, qkv, out),
        (d_head, n_heads) => forward_of(s, g, ByHead { n_heads, d_head }, qkv, out),
    }
}

#[inline(always)]
fn forward_of<S: Simd>(s: S, g: &Geometry<'_>, heads: ByHead, [q, keys, values]: [Rows<'_>; 3], out: &mut [f32]) {
    let (n_heads, d) = (heads.n_heads, heads.n_heads * heads.d_head);
    let (mut allowed, mut weights) = (Vec::new(), vec![0.0; g.m * n_heads]);
    for (r, out) in out.chunks_exact_mut(d).enumerate() {
        let (graph, i) = (r / g.n, r % g.n);
        let bias = g.allowed(graph, i, &mut allowed);
        let w = &mut weights[..allowed.len() * n_heads];
        heads.scores(s, w, q.row(r, d), keys.gather(&allowed, graph * g.m), g.scale);
        if let Some(bias) = bias {
            for (w, &j) in w.chunks_exact_mut(n_heads).zip(&allowed) {
                let bias = s.splat(bias[j as usize]);
                map!(s, w, [], |_, w, []| s.add(w, bias));
            }
        }
        softmax(s, w, n_heads);
        if g.site.is_on() {
            for (&j, w) in allowed.iter().zip(w.chunks_exact_mut(n_heads)) {
                let first = g.weight_index(graph, i, j as usize) as usize;
                map!(s, w, [], |at, w, []| s.mul(w, g.site.factors(s, first + at)));
            }
        }
        let rows = values.gather(&allowed, graph * g.m);
        heads.mix::<_, false>(s, out, Terms { rows, weights: w, first: 0 }, 1.0);
    }
}
