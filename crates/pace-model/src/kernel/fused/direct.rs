//! Attention of very few queries per graph, straight from the packed projections.
//!
//! Generation asks one query at a time against a growing cache: to bring all of its keys and values into another order of
//! columns, or only to copy them, costs more than the attention itself. Forward only; columns in their usual order.

use super::attend::{Geometry, Rows};
use super::pairwise::{add_scaled, dots, softmax};
use super::simd::multiversion;

/// Up to this many queries per graph are worth no rearrangement.
pub(crate) const MAX_QUERIES: usize = 2;

multiversion! {
    /// Attention over the graphs of a block; `out` [graphs * N, D].
    fn forward(g: &Geometry<'_>, qkv: [Rows<'_>; 3], out: &mut [f32]) = forward_body
}

#[inline(always)]
fn forward_body<const FMA: bool>(g: &Geometry<'_>, qkv: [Rows<'_>; 3], out: &mut [f32]) {
    // PACE runs 8 heads of 8: with the sizes known, a head stays in registers.
    match (g.d / g.n_heads, g.n_heads) {
        (8, 8) => forward_of::<FMA>(g, [8, 8], qkv, out),
        (d_head, n_heads) => forward_of::<FMA>(g, [d_head, n_heads], qkv, out),
    }
}

#[inline(always)]
fn forward_of<const FMA: bool>(
    g: &Geometry<'_>,
    [d_head, n_heads]: [usize; 2],
    [q, keys, values]: [Rows<'_>; 3],
    out: &mut [f32],
) {
    let d = d_head * n_heads;
    let (mut allowed, mut weights) = (Vec::new(), vec![0.0; g.m * n_heads]);
    for (r, out) in out.chunks_exact_mut(d).enumerate() {
        let (graph, i) = (r / g.n, r % g.n);
        let bias = g.allowed(graph, i, &mut allowed);
        let w = &mut weights[..allowed.len() * n_heads];
        let qi = row(&q, r, d);
        for (&j, w) in allowed.iter().zip(w.chunks_exact_mut(n_heads)) {
            dots::<FMA>(w, qi, row(&keys, graph * g.m + j, d), d_head, g.scale);
            let bias = bias.map_or(0.0, |bias| bias[j]);
            w.iter_mut().for_each(|w| *w += bias);
        }
        softmax::<FMA>(w, n_heads);
        out.fill(0.0);
        for (&j, w) in allowed.iter().zip(w.chunks_exact_mut(n_heads)) {
            if g.site.is_on() {
                let index = g.weight_index(graph, i, j);
                for (head, w) in w.iter_mut().enumerate() {
                    *w *= g.site.factor(index.wrapping_add(head as u32));
                }
            }
            add_scaled::<FMA>(out, w, row(&values, graph * g.m + j, d), d_head, |w| w);
        }
    }
}

#[inline(always)]
fn row<'a>(rows: &Rows<'a>, row: usize, d: usize) -> &'a [f32] {
    &rows.data[row * rows.stride + rows.offset..][..d]
}
