//! Attention and add-and-norm by themselves, over a whole batch: for blocks that are not built from the fused stack.

use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice, ParallelSliceMut};

use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::{Geometry, Grads, Order, Rows, Scratch, masked::few_queries};
use crate::kernel::fused::block::stack::{Cut, map_groups};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::rows;

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
        let order = Geometry::order(self.n_heads, self.n, self.m);
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

    /// Whether the attention from `q` to `kv` has too few queries to rearrange anything for.
    pub(crate) fn is_direct(&self) -> bool {
        self.n <= few_queries::MAX_QUERIES
    }

    /// Attention from q [B*N, D] to kv [B*M, 2D] without anything kept for backward.
    pub(crate) fn forward_direct(&self, q: &[f32], kv: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let (n, m, d) = (self.n, self.m, self.d);
        let parts = map_groups(self.batch, self.cut(), |block| {
            let g = Geometry { order: Order::Heads, ..self.geometry(bias, block.first, block.graphs) };
            let part = |offset| Rows { data: &kv[block.first * m * 2 * d..], stride: 2 * d, offset };
            let q = Rows { data: &q[block.first * n * d..], stride: d, offset: 0 };
            let mut out = vec![0.0; block.graphs * n * d];
            few_queries::forward(&g, [q, part(0), part(d)], &mut out);
            out
        });
        parts.concat()
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

/// What [`add_norm`] keeps: xhat [rows, D] and rstd `[rows]`.
pub(crate) type Normed = (Buffer, Buffer);

/// Rows per task of [`add_norm`]; fixed, so that the order of sums is too.
const NORM_ROWS: usize = 512;

/// LN(residual + drop(x)) over rows of D.
pub(crate) fn add_norm(
    residual: &[f32],
    x: &[f32],
    [gamma, beta]: [&[f32]; 2],
    epsilon: f32,
    site: Site,
) -> (Vec<f32>, Normed) {
    let d = gamma.len();
    let task = NORM_ROWS * d;
    let mut y = vec![0.0; x.len()];
    let (mut xhat, mut rstd) = (Buffer::stale(x.len()), Buffer::stale(x.len() / d));
    let no_bias = vec![0.0; d];
    let outputs = y.par_chunks_mut(task).zip(xhat.par_chunks_mut(task)).zip(rstd.par_chunks_mut(NORM_ROWS));
    let inputs = x.par_chunks(task).zip(residual.par_chunks(task));
    outputs.zip(inputs).enumerate().for_each(|(index, (((y, xhat), rstd), (x, residual)))| {
        xhat.copy_from_slice(x);
        rows::residual(xhat, residual, &no_bias, site, index * task);
        rows::norm(xhat, y, rstd, gamma, beta, epsilon);
    });
    (y, (xhat, rstd))
}

/// The gradients of [`add_norm`]: of the residual, of x if dropout makes it another one, of gamma and of beta.
pub(crate) fn add_norm_grad(
    dy: &[f32],
    (xhat, rstd): &Normed,
    gamma: &[f32],
    site: Site,
) -> (Vec<f32>, Option<Vec<f32>>, [Vec<f32>; 2]) {
    let d = gamma.len();
    let task = NORM_ROWS * d;
    let mut dsum = dy.to_vec();
    let kept = xhat.par_chunks(task).zip(rstd.par_chunks(NORM_ROWS));
    let partial = |(dsum, (xhat, rstd)): (&mut [f32], (&[f32], &[f32]))| {
        let (mut dgamma, mut dbeta) = (vec![0.0; d], vec![0.0; d]);
        rows::norm_grad(dsum, xhat, rstd, gamma, &mut dgamma, &mut dbeta);
        [dgamma, dbeta]
    };
    let partials: Vec<_> = dsum.par_chunks_mut(task).zip(kept).map(partial).collect();
    let dx = site.is_on().then(|| {
        let mut dx = vec![0.0; dsum.len()];
        let pairs = dx.par_chunks_mut(task).zip(dsum.par_chunks(task)).enumerate();
        pairs.for_each(|(index, (dx, dsum))| rows::dropped(dx, dsum, site, index * task));
        dx
    });
    let norm = [0, 1].map(|index| {
        let mut total = vec![0.0; d];
        partials.iter().for_each(|partial| rows::add(&mut total, &partial[index]));
        total
    });
    (dsum, dx, norm)
}
