//! Attention under a mask by itself, over a whole batch: for models that build their own blocks.

use super::{Geometry, Grads, Rows, Scratch, few_queries};
use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::order::Order;
use crate::kernel::fused::attention::packed::Packed;
use crate::kernel::fused::autodiff::{Op, Primitive, gradient, primitive, values};
use crate::kernel::fused::block::cut::{Cut, map_groups};

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

    /// One group's part of the packed projections, in the order of columns of the kernel.
    fn part(&self, packed: Packed<&[f32]>, g: &Geometry<'_>) -> Packed<Vec<f32>> {
        packed.map(|data| {
            let width = data.len() / self.batch;
            g.order.arrange(&data[g.first * width..][..g.graphs * width], self.d, self.n_heads)
        })
    }

    /// Whether there are so few queries that [`few_queries`] serves.
    pub(crate) fn is_direct(&self) -> bool {
        self.n <= few_queries::MAX_QUERIES
    }

    /// Attention from q [B*N, D] to kv [B*M, 2D] by [`few_queries`]; keeps nothing.
    pub(crate) fn forward_direct(&self, q: &[f32], kv: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let (n, m, d) = (self.n, self.m, self.d);
        let parts = map_groups(self.batch, self.cut(), |chunk| {
            let g = Geometry { order: Order::Heads, ..self.geometry(bias, chunk.first, chunk.graphs) };
            let qkv = Rows::of_packed(&q[chunk.first * n * d..], Some(&kv[chunk.first * m * 2 * d..]), d);
            let mut out = vec![0.0; chunk.graphs * n * d];
            few_queries::forward(&g, qkv, &mut out);
            out
        });
        parts.concat()
    }

    /// Attention of the whole batch, [B*N, D], and the weights per group.
    pub(crate) fn forward(&self, packed: Packed<&[f32]>, bias: Option<&[f32]>) -> (Vec<f32>, Vec<Vec<f32>>) {
        let parts = map_groups(self.batch, self.cut(), |chunk| {
            let g = self.geometry(bias, chunk.first, chunk.graphs);
            let part = self.part(packed, &g);
            let mut weights = vec![0.0; g.n_weights()];
            let mut out = vec![0.0; chunk.graphs * self.n * self.d];
            g.forward(
                Rows::of_packed(&part.q, part.kv.as_deref(), self.d),
                &mut weights,
                &mut out,
                &mut Scratch::default(),
            );
            (g.order.restore(&out, self.d, self.n_heads), weights)
        });
        let (out, weights): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (out.concat(), weights)
    }

    /// The gradients of the packed projections.
    pub(crate) fn backward(
        &self,
        packed: Packed<&[f32]>,
        bias: Option<&[f32]>,
        weights: &[Vec<f32>],
        dout: &[f32],
    ) -> Packed<Vec<f32>> {
        let (cut, d) = (self.cut(), self.d);
        let parts = map_groups(self.batch, cut, |chunk| {
            let g = self.geometry(bias, chunk.first, chunk.graphs);
            let part = self.part(packed, &g);
            let width = self.n * d;
            let dout = g.order.arrange(&dout[chunk.first * width..][..chunk.graphs * width], d, self.n_heads);
            let mut dq = vec![0.0; part.q.len()];
            let mut dkv = part.kv.as_ref().map(|kv| vec![0.0; kv.len()]);
            let mut grads = Grads { q: &mut dq, kv: dkv.as_deref_mut(), d };
            let weights = &weights[chunk.first / cut.group];
            g.backward(
                Rows::of_packed(&part.q, part.kv.as_deref(), d),
                weights,
                &dout,
                &mut grads,
                &mut Scratch::default(),
            );
            let restore = |grad: Vec<f32>| g.order.restore(&grad, d, self.n_heads);
            (restore(dq), dkv.map(restore))
        });
        let (dq, dkv): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Packed { q: dq.concat(), kv: dkv.into_iter().collect::<Option<Vec<_>>>().map(|dkv| dkv.concat()) }
    }
}

/// Attention under a mask as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct AttentionOp {
    pub(crate) shape: AttentionShape,
    pub(crate) bias: Option<Primitive>,
}

impl Op for AttentionOp {
    type Inputs<T> = Packed<T>;
    type Kept = Vec<Vec<f32>>;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> Packed<T> {
        Packed::take(list)
    }

    fn listed<T>(inputs: Packed<T>) -> Vec<T> {
        inputs.list()
    }

    fn forward(&self, inputs: Packed<&Primitive>, keep: bool) -> (Primitive, Self::Kept) {
        let bias = self.bias.as_ref().map(values);
        let (y, weights) = match inputs.map(values) {
            Packed { q, kv: Some(kv) } if !keep && self.shape.is_direct() => {
                (self.shape.forward_direct(q, kv, bias), Vec::new())
            }
            packed => self.shape.forward(packed, bias),
        };
        (primitive(y, [self.shape.batch * self.shape.n, self.shape.d]), weights)
    }

    fn backward(&self, inputs: Packed<&Primitive>, kept: &Self::Kept, dy: &[f32]) -> Packed<Primitive> {
        let bias = self.bias.as_ref().map(values);
        self.shape.backward(inputs.map(values), bias, kept, dy).map(gradient)
    }
}
