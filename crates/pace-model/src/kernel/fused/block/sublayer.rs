//! [`Sublayer`]: one sublayer of a block with its weights laid out, and what its forward pass leaves for its backward pass.

use std::borrow::Cow;

use super::frame::{Chunk, Frame, Own};
use super::params::{Kind, SublayerView};
use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::lists::{Projection, Sparse};
use crate::kernel::fused::attention::{Geometry, Order, Rows, has_lanes};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Panels, Way};
use crate::kernel::params::site;

/// One sublayer, ready to run one way.
pub(crate) struct Sublayer<'a> {
    /// The number of its block, which numbers the dropout sites.
    layer: usize,
    /// Of the columns of queries, keys and values.
    order: Order,
    /// In the order of columns.
    pub(super) params: SublayerView<Cow<'a, [f32]>>,
    maps: Maps,
}

/// The weights, laid out once for all chunks: as they are on the way forward, transposed on the way back.
struct Maps {
    first: First,
    /// Of keys and values of a memory; empty if there is none.
    memory: Panels,
    last: Panels,
}

/// The map that x goes through first.
enum First {
    Whole(Panels),
    /// Along lists, on the way forward.
    Lists(Projection),
}

/// What forward leaves for backward, per sublayer and chunk.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    /// What the function was applied to: x, or LN(x) in pre-norm.
    pub(super) input: Buffer,
    /// What the first map made of it: qkv, q, or the hidden units after ReLU and dropout.
    pub(super) projected: Buffer,
    /// Keys and values of the memory.
    pub(super) memory: Buffer,
    /// Of the attention.
    pub(super) weights: Buffer,
    /// The mixed values, before the output projection.
    pub(super) heads: Buffer,
    /// The normalised rows.
    pub(super) xhat: Buffer,
    /// 1 / standard deviation of each row.
    pub(super) rstd: Buffer,
}

impl Saved {
    /// Queries, keys and values.
    pub(super) fn qkv(&self, kind: Kind, d: usize) -> [Rows<'_>; 3] {
        let kv = (kind == Kind::CrossAttention).then_some(&self.memory[..]);
        Rows::of_packed(&self.projected, kv, d)
    }
}

impl<'a> Sublayer<'a> {
    /// Arranges the parameters for the attention kernel that will run, and lays the weights out.
    pub(super) fn new(layer: usize, params: SublayerView<&'a [f32]>, frame: &Frame<'_>, way: Way) -> Self {
        let keys = if params.kind() == Kind::CrossAttention { frame.m } else { frame.n };
        let order = match frame.own {
            Own::Bias(_) => Geometry::order(frame.n_heads, frame.n, keys),
            Own::Lists(_) if has_lanes(frame.n_heads) => Order::Lanes,
            Own::Lists(_) => Order::Heads,
        };
        let params = params.arrange(order, frame.d, frame.n_heads);
        let maps = Maps::new(&params, frame, way);
        Self { layer, order, params, maps }
    }

    /// Which sublayer this is.
    pub(super) fn kind(&self) -> Kind {
        self.params.kind()
    }

    /// Puts the gradients of the parameters back into the usual order of columns.
    pub(super) fn restore(&self, grads: SublayerView<Vec<f32>>, frame: &Frame<'_>) -> SublayerView<Vec<f32>> {
        grads.restore(self.order, frame.d, frame.n_heads)
    }

    /// Zeros in the shape of the parameters, to add gradients to.
    pub(super) fn zero_grads(&self) -> SublayerView<Buffer> {
        self.params.each_ref().map(|param| Buffer::zeros(param.len()))
    }

    pub(super) fn site(&self, frame: &Frame<'_>, site: usize) -> Site {
        frame.dropout.site(self.layer * site::SITES_PER_LAYER + site)
    }

    pub(super) fn output_site(&self, frame: &Frame<'_>) -> Site {
        let site = match self.kind() {
            Kind::SelfAttention => site::SELF_OUTPUT,
            Kind::CrossAttention => site::CROSS_OUTPUT,
            Kind::FeedForward => site::FEED_FORWARD_OUTPUT,
        };
        self.site(frame, site)
    }

    /// The attention of a chunk of graphs under a mask.
    pub(super) fn geometry<'f>(&self, frame: &Frame<'f>, chunk: Chunk) -> Geometry<'f> {
        let cross = self.kind() == Kind::CrossAttention;
        let bias = match frame.own {
            _ if cross => frame.memory_bias,
            Own::Bias(bias) => Some(bias),
            Own::Lists(_) => None,
        };
        Geometry {
            first: chunk.first,
            graphs: chunk.graphs,
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

    /// The attention of a chunk of packed rows, if this sublayer attends along lists.
    pub(super) fn sparse<'f>(&self, frame: &Frame<'f>, chunk: Chunk) -> Option<Sparse<'f>> {
        match (self.kind(), frame.own) {
            (Kind::SelfAttention, Own::Lists(lists)) => Some(Sparse {
                lists,
                origin: chunk.first,
                first: chunk.first,
                rows: chunk.graphs,
                d: frame.d,
                n_heads: frame.n_heads,
                site: self.site(frame, site::SELF_WEIGHTS),
                order: self.order,
            }),
            _ => None,
        }
    }

    /// The first map as it is laid out.
    pub(super) fn first_map(&self) -> &Panels {
        match &self.maps.first {
            First::Whole(panels) => panels,
            First::Lists(_) => unreachable!("laid out for lists"),
        }
    }

    /// The first map along lists, on the way forward.
    pub(super) fn projection(&self) -> &Projection {
        match &self.maps.first {
            First::Lists(projection) => projection,
            First::Whole(_) => unreachable!("not laid out for lists"),
        }
    }

    /// The map of the memory as it is laid out.
    pub(super) fn memory_map(&self) -> &Panels {
        &self.maps.memory
    }

    /// The last map as it is laid out.
    pub(super) fn last_map(&self) -> &Panels {
        &self.maps.last
    }
}

impl Maps {
    fn new(params: &SublayerView<Cow<'_, [f32]>>, frame: &Frame<'_>, way: Way) -> Self {
        let panels = |weight: &[f32], bias: &[f32]| way.panels(weight, weight.len() / bias.len());
        let ((first, first_bias), (last, last_bias)) = (params.each_ref().first_map(), params.each_ref().last_map());
        let along_lists = params.kind() == Kind::SelfAttention && frame.lists().is_some();
        Self {
            first: match way {
                Way::Forward if along_lists => First::Lists(Projection::new(first, frame.d)),
                _ => First::Whole(panels(first, first_bias)),
            },
            memory: match params {
                SublayerView::CrossAttention(p) => panels(&p.wkv, &p.bkv),
                _ => Panels::default(),
            },
            last: panels(last, last_bias),
        }
    }
}
