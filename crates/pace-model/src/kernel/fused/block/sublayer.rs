//! One sublayer of a Transformer block on one block of graphs: attention, attention to a memory, or feed-forward, with its
//! residual, dropout and norm; forward and backward.

use std::borrow::Cow;

use crate::kernel::dropout::{Dropout, Site};
use crate::kernel::fused::attention::lists::{self, Projection, Sparse};
use crate::kernel::fused::attention::{Geometry, Grads, Order, Rows, Scratch, has_lanes};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Into, Panels, add_weight_grad, input_grad, linear, linear_unbiased};
use crate::kernel::fused::rows;
use crate::kernel::pair_lists::Lists;
use crate::kernel::params::{NormPlacement, site};

/// Which function the sublayer computes, and so the parameters it has. Every list ends in gamma, beta of the norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// wqkv, bqkv, wo, bo.
    SelfAttention,
    /// wq, bq, wkv, bkv, wo, bo.
    CrossAttention,
    /// w1, b1, w2, b2.
    FeedForward,
}

impl Kind {
    /// Number of parameter tensors, norm included.
    pub(crate) fn n_params(self) -> usize {
        match self {
            Self::SelfAttention | Self::FeedForward => 6,
            Self::CrossAttention => 8,
        }
    }

    /// Which axis of the leading parameters runs over heads; the others have no such axis.
    fn carriers(self) -> &'static [Carrier] {
        use Carrier::{Columns, Rows};
        match self {
            Self::SelfAttention => &[Columns, Columns, Rows],
            Self::CrossAttention => &[Columns, Columns, Columns, Columns, Rows],
            Self::FeedForward => &[],
        }
    }
}

/// Which axis of a parameter runs over (head, position in head).
#[derive(Clone, Copy)]
enum Carrier {
    Columns,
    Rows,
}

/// What is the same for all sublayers of a stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) n: usize,
    /// Slots of the memory per graph; 0 without one.
    pub(crate) m: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) epsilon: f32,
    pub(crate) norm: NormPlacement,
    pub(crate) dropout: Dropout,
    pub(crate) own: Own<'a>,
    pub(crate) memory_bias: Option<&'a [f32]>,
}

impl<'a> Frame<'a> {
    /// The lists of keys, if rows are packed.
    pub(super) fn lists(&self) -> Option<&'a Lists> {
        match self.own {
            Own::Lists(lists) => Some(lists),
            Own::Bias(_) => None,
        }
    }
}

/// Who attends to whom in the self-attention.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Own<'a> {
    /// An attention bias, [B, N, N].
    Bias(&'a [f32]),
    /// Lists of keys over packed rows: every row counts as a graph of N = 1, and a block lies between two seams.
    Lists(&'a Lists),
}

/// Consecutive graphs that are computed together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) first: usize,
    pub(crate) graphs: usize,
}

/// Which way a stack is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Forward,
    Backward,
}

/// One sublayer with its parameters, attention columns in the order of its kernel.
pub(crate) struct Sublayer<'a> {
    pub(crate) kind: Kind,
    layer: usize,
    pub(crate) order: Order,
    pub(crate) params: Vec<Cow<'a, [f32]>>,
    /// The weights, which are the parameters with even numbers but the norm's, laid out once for all blocks of rows: as they
    /// are on the way forward, transposed on the way back.
    maps: Vec<Panels>,
    /// In the place of the first of them, along lists on the way forward.
    projection: Option<Projection>,
}

/// What forward leaves for backward, per sublayer and block.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    /// What the function was applied to: x, or LN(x) in pre-norm.
    pub(super) input: Buffer,
    /// qkv, q, or the hidden units.
    first: Buffer,
    /// Keys and values of the memory.
    second: Buffer,
    weights: Buffer,
    /// The mixed values, before the output projection.
    pub(super) heads: Buffer,
    pub(super) xhat: Buffer,
    pub(super) rstd: Buffer,
}

impl<'a> Sublayer<'a> {
    /// Arranges the columns of the parameters for the attention kernel that will run.
    pub(crate) fn new(kind: Kind, layer: usize, params: &[&'a [f32]], frame: &Frame<'_>, way: Way) -> Self {
        let keys = if kind == Kind::CrossAttention { frame.m } else { frame.n };
        let order = match frame.own {
            Own::Bias(_) => Geometry::order(frame.n_heads, frame.n, keys),
            Own::Lists(_) if has_lanes(frame.n_heads) => Order::Lanes,
            Own::Lists(_) => Order::Heads,
        };
        let mut sublayer = Self::in_order(order, kind, layer, params, frame);
        if way == Way::Forward && kind == Kind::SelfAttention && frame.lists().is_some() {
            sublayer.projection = Some(Projection::new(&sublayer.params[0], frame.d));
        }
        for index in (0..params.len() - 2).step_by(2) {
            let (weight, bias) = (&sublayer.params[index], &sublayer.params[index + 1]);
            let d_in = weight.len() / bias.len();
            sublayer.maps.push(match way {
                Way::Forward if index == 0 && sublayer.projection.is_some() => Panels::default(),
                Way::Forward => Panels::new(weight, d_in),
                Way::Backward => Panels::transposed(weight, d_in),
            });
        }
        sublayer
    }

    /// Arranges the columns of the parameters in the given order.
    pub(crate) fn in_order(order: Order, kind: Kind, layer: usize, params: &[&'a [f32]], frame: &Frame<'_>) -> Self {
        let mut params: Vec<Cow<'a, [f32]>> = params.iter().map(|&param| Cow::Borrowed(param)).collect();
        if order == Order::Lanes {
            for (param, carrier) in params.iter_mut().zip(kind.carriers()) {
                *param = Cow::Owned(match carrier {
                    Carrier::Columns => order.arrange(param, frame.d, frame.n_heads),
                    Carrier::Rows => permute_rows(param, frame.d, frame.n_heads, false),
                });
            }
        }
        Self { kind, layer, order, params, maps: Vec::new(), projection: None }
    }

    /// Puts the gradients of the parameters back into the usual order of columns.
    pub(crate) fn restore_grads(&self, grads: &mut [Vec<f32>], frame: &Frame<'_>) {
        if self.order == Order::Heads {
            return;
        }
        for (grad, carrier) in grads.iter_mut().zip(self.kind.carriers()) {
            *grad = match carrier {
                Carrier::Columns => self.order.restore(grad, frame.d, frame.n_heads),
                Carrier::Rows => permute_rows(grad, frame.d, frame.n_heads, true),
            };
        }
    }

    /// Zeros in the shape of the parameters, to add gradients to.
    pub(crate) fn zero_grads(&self) -> Vec<Buffer> {
        self.params.iter().map(|param| Buffer::zeros(param.len())).collect()
    }

    /// gamma, beta.
    pub(crate) fn norm_params(&self) -> (&[f32], &[f32]) {
        let count = self.params.len();
        (&self.params[count - 2], &self.params[count - 1])
    }

    fn site(&self, frame: &Frame<'_>, site: usize) -> Site {
        frame.dropout.site(self.layer * site::SITES_PER_LAYER + site)
    }

    pub(super) fn output_site(&self, frame: &Frame<'_>) -> Site {
        let site = match self.kind {
            Kind::SelfAttention => site::SELF_OUTPUT,
            Kind::CrossAttention => site::CROSS_OUTPUT,
            Kind::FeedForward => site::FEED_FORWARD_OUTPUT,
        };
        self.site(frame, site)
    }

    fn geometry<'f>(&self, frame: &Frame<'f>, block: Block) -> Geometry<'f> {
        let cross = self.kind == Kind::CrossAttention;
        let bias = match frame.own {
            _ if cross => frame.memory_bias,
            Own::Bias(bias) => Some(bias),
            Own::Lists(_) => None,
        };
        Geometry {
            first: block.first,
            graphs: block.graphs,
            n: frame.n,
            m: if cross { frame.m } else { frame.n },
            d: frame.d,
            n_heads: frame.n_heads,
            scale: 1.0 / ((frame.d / frame.n_heads) as f32).sqrt(),
            bias,
            site: self.site(frame, if cross { site::CROSS_WEIGHTS } else { site::SELF_WEIGHTS }),
            order: self.order,
        }
    }

    /// The attention along lists, if this sublayer is that.
    pub(super) fn sparse<'f>(&self, frame: &Frame<'f>, block: Block) -> Option<Sparse<'f>> {
        match (self.kind, frame.own) {
            (Kind::SelfAttention, Own::Lists(lists)) => Some(Sparse {
                lists,
                origin: block.first,
                first: block.first,
                rows: block.graphs,
                d: frame.d,
                n_heads: frame.n_heads,
                site: self.site(frame, site::SELF_WEIGHTS),
                order: self.order,
            }),
            _ => None,
        }
    }

    /// x [graphs * N, D], memory [graphs * M, D] -> y [graphs * N, D].
    pub(crate) fn forward(
        &self,
        frame: &Frame<'_>,
        block: Block,
        mut x: Buffer,
        memory: &[f32],
        scratch: &mut Scratch,
    ) -> (Buffer, Saved) {
        let (rows, d) = (block.graphs * frame.n, frame.d);
        let start = block.first * frame.n * d;
        let site = self.output_site(frame);
        let (gamma, beta) = self.norm_params();
        let bias = self.output_bias();
        let mut rstd = Buffer::stale(rows);
        let mut y = Buffer::stale(rows * d);
        match frame.norm {
            NormPlacement::Post => {
                let (mut sum, mut saved) = self.apply(frame, block, &x, memory, scratch);
                rows::residual(&mut sum, &x, bias, site, start);
                rows::norm(&mut sum, &mut y, &mut rstd, gamma, beta, frame.epsilon);
                (saved.input, saved.xhat, saved.rstd) = (x, sum, rstd);
                (y, saved)
            }
            NormPlacement::Pre => {
                let residual = Buffer::copy_of(&x);
                rows::norm(&mut x, &mut y, &mut rstd, gamma, beta, frame.epsilon);
                let (mut sum, mut saved) = self.apply(frame, block, &y, memory, scratch);
                rows::residual(&mut sum, &residual, bias, site, start);
                (saved.input, saved.xhat, saved.rstd) = (y, x, rstd);
                (sum, saved)
            }
        }
    }

    /// dy -> dx; adds to `dmemory` [graphs * M, D] and to the gradients of the parameters.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward(
        &self,
        frame: &Frame<'_>,
        block: Block,
        saved: &Saved,
        mut dy: Buffer,
        memory: &[f32],
        dmemory: &mut [f32],
        grads: &mut [Buffer],
        scratch: &mut Scratch,
    ) -> Buffer {
        let start = block.first * frame.n * frame.d;
        let site = self.output_site(frame);
        let (gamma, _) = self.norm_params();
        let (grads, norm_grads) = grads.split_at_mut(self.params.len() - 2);
        let [dgamma, dbeta] = norm_grads else { unreachable!("the last two parameters are the norm's") };
        let mut df = Buffer::stale(dy.len());
        match frame.norm {
            NormPlacement::Post => {
                rows::norm_grad(&mut dy, &saved.xhat, &saved.rstd, gamma, dgamma, dbeta);
                rows::dropped(&mut df, &dy, site, start);
                self.apply_grad(frame, block, saved, &df, (&mut dy, Into::Add), memory, dmemory, grads, scratch);
            }
            NormPlacement::Pre => {
                rows::dropped(&mut df, &dy, site, start);
                let mut dn = Buffer::stale(dy.len());
                self.apply_grad(frame, block, saved, &df, (&mut dn, Into::Replace), memory, dmemory, grads, scratch);
                rows::norm_grad(&mut dn, &saved.xhat, &saved.rstd, gamma, dgamma, dbeta);
                rows::add(&mut dy, &dn);
            }
        }
        dy
    }

    /// The function inside the residual, without the bias of its last map, which is added with the residual.
    fn apply(
        &self,
        frame: &Frame<'_>,
        block: Block,
        x: &[f32],
        memory: &[f32],
        scratch: &mut Scratch,
    ) -> (Buffer, Saved) {
        let rows = block.graphs * frame.n;
        let mut saved = Saved::default();
        let (p, maps) = (&self.params, &self.maps);
        if self.kind == Kind::FeedForward {
            let mut hidden = linear_unbiased(x, rows, &maps[0]);
            let first = block.first * frame.n * p[1].len();
            rows::relu_dropped(&mut hidden, &p[1], self.site(frame, site::HIDDEN), first);
            let y = linear_unbiased(&hidden, rows, &maps[1]);
            saved.first = hidden;
            return (y, saved);
        }
        let mut heads = Buffer::stale(rows * frame.d);
        let weights = if let Some(sparse) = self.sparse(frame, block) {
            saved.first = Buffer::stale(rows * 3 * frame.d);
            lists::project(&sparse, x, self.projection(), &p[1], &mut saved.first);
            let mut weights = Buffer::stale(sparse.n_weights());
            lists::forward(&sparse, &saved.first, &mut weights, &mut heads);
            weights
        } else {
            saved.first = linear(x, rows, &maps[0], &p[1]);
            if self.kind == Kind::CrossAttention {
                saved.second = linear(memory, block.graphs * frame.m, &maps[1], &p[3]);
            }
            let geometry = self.geometry(frame, block);
            let mut weights = Buffer::stale(geometry.n_weights());
            geometry.forward(self.packed(&saved, frame.d), &mut weights, &mut heads, scratch);
            weights
        };
        let y = linear_unbiased(&heads, rows, self.last_map());
        (saved.weights, saved.heads) = (weights, heads);
        (y, saved)
    }

    /// The gradient of [`Sublayer::apply`]: df -> dx, into or onto `dx`.
    #[allow(clippy::too_many_arguments)]
    fn apply_grad(
        &self,
        frame: &Frame<'_>,
        block: Block,
        saved: &Saved,
        df: &[f32],
        (dx, into): (&mut [f32], Into),
        memory: &[f32],
        dmemory: &mut [f32],
        grads: &mut [Buffer],
        scratch: &mut Scratch,
    ) {
        let (rows, d) = (block.graphs * frame.n, frame.d);
        let cross = self.kind == Kind::CrossAttention;
        let last = grads.len() - 2;
        // The second linear map, common to all kinds.
        let inner = if self.kind == Kind::FeedForward { &saved.first } else { &saved.heads };
        add_weight_grad(&mut grads[last], inner, df, rows);
        rows::add_rows(&mut grads[last + 1], df);
        let mut dinner = Buffer::stale(inner.len());
        input_grad(&mut dinner, Into::Replace, df, self.last_map());
        // What is between, giving the gradient of the first linear map's output.
        let dfirst = if self.kind == Kind::FeedForward {
            rows::relu_dropped_grad(&mut dinner, inner, self.site(frame, site::HIDDEN));
            dinner
        } else if let Some(sparse) = self.sparse(frame, block) {
            let mut dfirst = Buffer::stale(saved.first.len());
            lists::backward(&sparse, &saved.first, &saved.weights, &dinner, &mut dfirst, &mut scratch.slope);
            dfirst
        } else {
            let mut dfirst = Buffer::stale(saved.first.len());
            let mut dsecond = Buffer::stale(saved.second.len());
            let mut out = Grads { q: &mut dfirst, kv: cross.then_some(&mut dsecond[..]), d };
            let geometry = self.geometry(frame, block);
            geometry.backward(self.packed(saved, d), &saved.weights, &dinner, &mut out, scratch);
            if cross {
                let memory_rows = block.graphs * frame.m;
                add_weight_grad(&mut grads[2], memory, &dsecond, memory_rows);
                rows::add_rows(&mut grads[3], &dsecond);
                input_grad(dmemory, Into::Add, &dsecond, &self.maps[1]);
            }
            dfirst
        };
        add_weight_grad(&mut grads[0], &saved.input, &dfirst, rows);
        rows::add_rows(&mut grads[1], &dfirst);
        input_grad(dx, into, &dfirst, self.first_map());
    }

    /// The parameters of any sublayer but cross-attention.
    pub(super) fn six(&self) -> [&[f32]; 6] {
        std::array::from_fn(|index| &*self.params[index])
    }

    /// The first map as it is laid out.
    pub(super) fn first_map(&self) -> &Panels {
        &self.maps[0]
    }

    /// The last map as it is laid out.
    pub(super) fn last_map(&self) -> &Panels {
        self.maps.last().expect("every sublayer ends in a map")
    }

    /// The first map along lists, on the way forward.
    pub(super) fn projection(&self) -> &Projection {
        self.projection.as_ref().expect("laid out on the way forward")
    }

    /// The bias of the last map.
    fn output_bias(&self) -> &[f32] {
        &self.params[self.params.len() - 3]
    }

    /// Queries, keys and values inside the packed projections.
    fn packed<'s>(&self, saved: &'s Saved, d: usize) -> [Rows<'s>; 3] {
        if self.kind == Kind::CrossAttention {
            let part = |offset| Rows { data: &saved.second, stride: 2 * d, offset };
            [Rows { data: &saved.first, stride: d, offset: 0 }, part(0), part(d)]
        } else {
            [0, d, 2 * d].map(|offset| Rows { data: &saved.first, stride: 3 * d, offset })
        }
    }
}

/// The rows of a [D, D] output projection moved from (head, position) to (position, head), or back.
fn permute_rows(weight: &[f32], d: usize, n_heads: usize, back: bool) -> Vec<f32> {
    let d_head = d / n_heads;
    let width = weight.len() / d;
    let mut out = vec![0.0; weight.len()];
    for head in 0..n_heads {
        for position in 0..d_head {
            let (usual, lanes) = (head * d_head + position, position * n_heads + head);
            let (from, to) = if back { (lanes, usual) } else { (usual, lanes) };
            out[to * width..][..width].copy_from_slice(&weight[from * width..][..width]);
        }
    }
    out
}
