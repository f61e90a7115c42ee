//! The parameters of a block by name, each sublayer with its norm.
//!
//! A field holds a tensor on the way in, its values inside a kernel, and its gradient on the way back.

use std::borrow::Cow;

use crate::kernel::fused::attention::Order;
use crate::kernel::fused::autodiff::Input;
use crate::kernel::fused::named::{Named, named};
use crate::kernel::params::{DecoderParams, EncoderParams, FeedForwardParams, NormParams, SelfAttentionParams};

named! {
    /// Self-attention. Shapes: wqkv [D, 3D], bqkv `[3D]`, wo [D, D]; bo, gamma and beta `[D]`.
    SelfAttentionView { wqkv, bqkv, wo, bo, gamma, beta }
}

named! {
    /// Attention to a memory. Shapes: wq and wo [D, D], wkv [D, 2D], bkv `[2D]`; bq, bo, gamma and beta `[D]`.
    CrossAttentionView { wq, bq, wkv, bkv, wo, bo, gamma, beta }
}

named! {
    /// Feed-forward. Shapes: w1 [D, F], b1 `[F]`, w2 [F, D]; b2, gamma and beta `[D]`.
    FeedForwardView { w1, b1, w2, b2, gamma, beta }
}

named! {
    /// An encoder block.
    EncoderView { attention: SelfAttentionView, feed_forward: FeedForwardView }
}

impl SelfAttentionView<Input> {
    fn new(p: SelfAttentionParams, norm: NormParams) -> Self {
        let (gamma, beta) = (Input::new(norm.gamma), Input::new(norm.beta));
        let SelfAttentionParams { wqkv, bqkv, wo, bo } = p;
        let (wqkv, bqkv, wo, bo) = (Input::new(wqkv), Input::new(bqkv), Input::new(wo), Input::new(bo));
        Self { wqkv, bqkv, wo, bo, gamma, beta }
    }
}

impl FeedForwardView<Input> {
    fn new(p: FeedForwardParams, norm: NormParams) -> Self {
        let (gamma, beta) = (Input::new(norm.gamma), Input::new(norm.beta));
        let FeedForwardParams { w1, b1, w2, b2 } = p;
        let (w1, b1, w2, b2) = (Input::new(w1), Input::new(b1), Input::new(w2), Input::new(b2));
        Self { w1, b1, w2, b2, gamma, beta }
    }
}

impl EncoderView<Input> {
    /// The inputs of an encoder block.
    pub(crate) fn new(p: EncoderParams) -> Self {
        Self {
            attention: SelfAttentionView::new(p.attention, p.norm_attention),
            feed_forward: FeedForwardView::new(p.feed_forward, p.norm_feed_forward),
        }
    }
}

impl<T> EncoderView<T> {
    /// The sublayers in order.
    pub(super) fn sublayers(self) -> Vec<SublayerView<T>> {
        vec![SublayerView::SelfAttention(self.attention), SublayerView::FeedForward(self.feed_forward)]
    }
}

/// The inputs of the sublayers of a decoder block, in order.
pub(super) fn decoder_sublayers(p: DecoderParams) -> Vec<SublayerView<Input>> {
    let cross = CrossAttentionView {
        wq: Input::new(p.cross.wq),
        bq: Input::new(p.cross.bq),
        wkv: Input::new(p.cross.wkv),
        bkv: Input::new(p.cross.bkv),
        wo: Input::new(p.cross.wo),
        bo: Input::new(p.cross.bo),
        gamma: Input::new(p.norm_cross.gamma),
        beta: Input::new(p.norm_cross.beta),
    };
    vec![
        SublayerView::SelfAttention(SelfAttentionView::new(p.attention, p.norm_attention)),
        SublayerView::CrossAttention(cross),
        SublayerView::FeedForward(FeedForwardView::new(p.feed_forward, p.norm_feed_forward)),
    ]
}

/// Which function a sublayer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    SelfAttention,
    CrossAttention,
    FeedForward,
}

/// The parameters of any sublayer.
#[derive(Debug, Clone)]
pub(crate) enum SublayerView<T> {
    SelfAttention(SelfAttentionView<T>),
    CrossAttention(CrossAttentionView<T>),
    FeedForward(FeedForwardView<T>),
}

/// Calls a method of the view of any sublayer.
macro_rules! of_any {
    ($view:expr, $p:ident => $call:expr) => {
        match $view {
            SublayerView::SelfAttention($p) => $call,
            SublayerView::CrossAttention($p) => $call,
            SublayerView::FeedForward($p) => $call,
        }
    };
}

/// [`of_any`] whose result is such a view, too.
macro_rules! to_same {
    ($view:expr, $p:ident => $call:expr) => {
        match $view {
            SublayerView::SelfAttention($p) => SublayerView::SelfAttention($call),
            SublayerView::CrossAttention($p) => SublayerView::CrossAttention($call),
            SublayerView::FeedForward($p) => SublayerView::FeedForward($call),
        }
    };
}

impl<T> SublayerView<T> {
    /// Takes the parameters of a sublayer of this kind from a list.
    pub(super) fn take(kind: Kind, list: &mut impl Iterator<Item = T>) -> Self {
        match kind {
            Kind::SelfAttention => Self::SelfAttention(Named::take(list)),
            Kind::CrossAttention => Self::CrossAttention(Named::take(list)),
            Kind::FeedForward => Self::FeedForward(Named::take(list)),
        }
    }

    /// See [`Named::list`].
    pub(super) fn list(self) -> Vec<T> {
        of_any!(self, p => p.list())
    }

    /// See [`Named::map`].
    pub(super) fn map<U>(self, f: impl FnMut(T) -> U) -> SublayerView<U> {
        to_same!(self, p => p.map(f))
    }

    /// See [`Named::each_ref`].
    pub(super) fn each_ref(&self) -> SublayerView<&T> {
        to_same!(self, p => p.each_ref())
    }

    /// See [`Named::each_mut`].
    pub(super) fn each_mut(&mut self) -> SublayerView<&mut T> {
        to_same!(self, p => p.each_mut())
    }

    /// Which sublayer this is.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::SelfAttention(_) => Kind::SelfAttention,
            Self::CrossAttention(_) => Kind::CrossAttention,
            Self::FeedForward(_) => Kind::FeedForward,
        }
    }

    /// Gamma and beta.
    pub(super) fn norm(self) -> (T, T) {
        of_any!(self, p => (p.gamma, p.beta))
    }

    /// Weight and bias of the map that x goes through first.
    pub(super) fn first_map(self) -> (T, T) {
        match self {
            Self::SelfAttention(p) => (p.wqkv, p.bqkv),
            Self::CrossAttention(p) => (p.wq, p.bq),
            Self::FeedForward(p) => (p.w1, p.b1),
        }
    }

    /// Weight and bias of the map to the output.
    pub(super) fn last_map(self) -> (T, T) {
        match self {
            Self::SelfAttention(p) => (p.wo, p.bo),
            Self::CrossAttention(p) => (p.wo, p.bo),
            Self::FeedForward(p) => (p.w2, p.b2),
        }
    }

    /// The parameters of a sublayer that is self-attention.
    pub(crate) fn self_attention(self) -> SelfAttentionView<T> {
        match self {
            Self::SelfAttention(p) => p,
            other => unreachable!("{:?} is not self-attention", other.kind()),
        }
    }

    /// Applies `columns` to parameters whose columns run over the heads, and `rows` to those whose rows do.
    fn by_heads(self, columns: impl Fn(T) -> T, rows: impl Fn(T) -> T) -> Self {
        match self {
            Self::SelfAttention(p) => Self::SelfAttention(SelfAttentionView {
                wqkv: columns(p.wqkv),
                bqkv: columns(p.bqkv),
                wo: rows(p.wo),
                ..p
            }),
            Self::CrossAttention(p) => Self::CrossAttention(CrossAttentionView {
                wq: columns(p.wq),
                bq: columns(p.bq),
                wkv: columns(p.wkv),
                bkv: columns(p.bkv),
                wo: rows(p.wo),
                ..p
            }),
            Self::FeedForward(p) => Self::FeedForward(p),
        }
    }
}

impl<'a> SublayerView<&'a [f32]> {
    /// The parameters with their heads in the given order.
    pub(crate) fn arrange(self, order: Order, d: usize, n_heads: usize) -> SublayerView<Cow<'a, [f32]>> {
        let params = self.map(Cow::Borrowed);
        if order == Order::Heads {
            return params;
        }
        params.by_heads(
            |values| Cow::Owned(order.arrange(&values, d, n_heads)),
            |values| Cow::Owned(permute_rows(&values, d, n_heads, false)),
        )
    }
}

impl SublayerView<Vec<f32>> {
    /// Undoes [`SublayerView::arrange`], for gradients.
    pub(super) fn restore(self, order: Order, d: usize, n_heads: usize) -> Self {
        if order == Order::Heads {
            return self;
        }
        self.by_heads(|values| order.restore(&values, d, n_heads), |values| permute_rows(&values, d, n_heads, true))
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
