//! Attention and add-and-norm by themselves, over a whole batch: for blocks that are not built from the fused stack.

use super::attend::{Geometry, Grads, Order, Rows, Scratch};
use super::rows;
use super::stack::{Cut, map_groups};
use crate::kernel::dropout::Site;

/// The sizes of an attention call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttentionShape {
    pub(crate) batch: usize,
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) site: Site,
}

/// Packed projections: qkv [B*N, 3D], or q [B*N, D] and kv [B*M, 2D].
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub(crate) q: &'a [f32],
    pub(crate) kv: Option<&'a [f32]>,
}

/// One group's part of the packed projections, in the column order of the kernel.
struct Part {
    q: Vec<f32>,
    kv: Option<Vec<f32>>,
}

impl Part {
    fn rows(&self, d: usize) -> [Rows<'_>; 3] {
        match &self.kv {
            Some(kv) => {
                let part = |offset| Rows { data: kv, stride: 2 * d, offset };
                [Rows { data: &self.q, stride: d, offset: 0 }, part(0), part(d)]
            }
            None => [0, d, 2 * d].map(|offset| Rows { data: &self.q, stride: 3 * d, offset }),
        }
    }
}

impl AttentionShape {
    fn cut(&self) -> Cut {
        // No weight gradients to add up here: groups can be small.
        Cut::new(self.batch, self.n.max(self.m), 0)
    }

    fn geometry<'a>(&self, bias: Option<&'a [f32]>, first: usize, graphs: usize) -> Geometry<'a> {
        let scale = 1.0 / ((self.d / self.n_heads) as f32).sqrt();
        let order = Order::choose(self.n_heads, self.n, self.m);
        let Self { n, m, d, n_heads, site, .. } = *self;
        Geometry { first, graphs, n, m, d, n_heads, scale, bias, site, order }
    }

    fn part(&self, packed: Packed<'_>, g: &Geometry<'_>) -> Part {
        let take = |data: &[f32], rows: usize| {
            let width = rows * data.len() / (rows * self.batch);
            g.order.arrange(&data[g.first * width..][..g.graphs * width], self.d, self.n_heads)
        };
        Part { q: take(packed.q, self.n), kv: packed.kv.map(|kv| take(kv, self.m)) }
    }

    /// Attention of the whole batch, [B*N, D], and the weights per group.
    pub(crate) fn forward(&self, packed: Packed<'_>, bias: Option<&[f32]>) -> (Vec<f32>, Vec<Vec<f32>>) {
        let parts = map_groups(self.batch, self.cut(), |block| {
            let g = self.geometry(bias, block.first, block.graphs);
            let part = self.part(packed, &g);
            let mut weights = vec![0.0; g.n_weights()];
            let mut out = vec![0.0; block.graphs * self.n * self.d];
            g.forward(part.rows(self.d), &mut weights, &mut out, &mut Scratch::default());
            (g.order.restore(&out, self.d, self.n_heads), weights)
        });
        let (out, weights): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (out.concat(), weights)
    }

    /// The gradients of the packed projections.
    pub(crate) fn backward(
        &self,
        packed: Packed<'_>,
        bias: Option<&[f32]>,
        weights: &[Vec<f32>],
        dout: &[f32],
    ) -> (Vec<f32>, Option<Vec<f32>>) {
        let (cut, d) = (self.cut(), self.d);
        let parts = map_groups(self.batch, cut, |block| {
            let g = self.geometry(bias, block.first, block.graphs);
            let part = self.part(packed, &g);
            let width = self.n * d;
            let dout = g.order.arrange(&dout[block.first * width..][..block.graphs * width], d, self.n_heads);
            let mut dq = vec![0.0; part.q.len()];
            let mut dkv = part.kv.as_ref().map(|kv| vec![0.0; kv.len()]);
            let mut grads = Grads { q: &mut dq, kv: dkv.as_deref_mut(), d };
            let weights = &weights[block.first / cut.group];
            g.backward(part.rows(d), weights, &dout, &mut grads, &mut Scratch::default());
            let restore = |grad: Vec<f32>| g.order.restore(&grad, d, self.n_heads);
            (restore(dq), dkv.map(restore))
        });
        let (dq, dkv): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (dq.concat(), dkv.into_iter().collect::<Option<Vec<_>>>().map(|dkv| dkv.concat()))
    }
}

/// What [`add_norm`] keeps per group: xhat and rstd.
pub(crate) type Normed = Vec<(Vec<f32>, Vec<f32>)>;

fn norm_cut(x: &[f32], d: usize) -> (usize, Cut) {
    let rows = x.len() / d;
    (rows, Cut::new(rows, 1, 128))
}

/// LN(residual + drop(x)) over rows of D, in groups of rows.
pub(crate) fn add_norm(
    residual: &[f32],
    x: &[f32],
    [gamma, beta]: [&[f32]; 2],
    epsilon: f32,
    site: Site,
) -> (Vec<f32>, Normed) {
    let d = gamma.len();
    let (rows, cut) = norm_cut(x, d);
    let parts = map_groups(rows, cut, |block| {
        let range = block.first * d..(block.first + block.graphs) * d;
        let mut sum = x[range.clone()].to_vec();
        rows::residual(&mut sum, &residual[range.clone()], site, range.start);
        let (mut y, mut rstd) = (vec![0.0; sum.len()], vec![0.0; block.graphs]);
        rows::norm(&mut sum, &mut y, &mut rstd, gamma, beta, epsilon);
        (y, (sum, rstd))
    });
    let (y, normed): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    (y.concat(), normed)
}

/// The gradients of [`add_norm`]: residual, x, gamma, beta.
pub(crate) fn add_norm_grad(dy: &[f32], normed: &Normed, gamma: &[f32], site: Site) -> [Vec<f32>; 4] {
    let d = gamma.len();
    let (rows, cut) = norm_cut(dy, d);
    let parts = map_groups(rows, cut, |block| {
        let range = block.first * d..(block.first + block.graphs) * d;
        let (xhat, rstd) = &normed[block.first / cut.group];
        let (mut dgamma, mut dbeta) = (vec![0.0; d], vec![0.0; d]);
        let mut dsum = dy[range.clone()].to_vec();
        rows::norm_grad(&mut dsum, xhat, rstd, gamma, &mut dgamma, &mut dbeta);
        let mut dx = vec![0.0; dsum.len()];
        rows::dropped(&mut dx, &dsum, site, range.start);
        [dsum, dx, dgamma, dbeta]
    });
    let join = |index: usize| parts.iter().flat_map(|part| part[index].iter().copied()).collect::<Vec<f32>>();
    let sum = |index: usize| {
        let mut total = vec![0.0; d];
        parts.iter().for_each(|part| rows::add(&mut total, &part[index]));
        total
    };
    [join(0), join(1), sum(2), sum(3)]
}
