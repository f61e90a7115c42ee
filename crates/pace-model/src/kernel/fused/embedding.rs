//! The node embedding: it gathers rows; stock operations would multiply by one-hot matrices.
//!
//! Almost all features are zero, so the first map is a sum of a few of its rows. There are few operations, so their vectors are
//! a table.

use std::sync::Arc;

use burn::backend::TensorMetadata;
use rayon::prelude::{
    IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator, ParallelSlice, ParallelSliceMut,
};

use crate::kernel::dropout::{Dropout, Site};
use crate::kernel::fused::autodiff::{Op, Primitive, gradient, primitive, values};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::named::{Named, named, with_parts};
use crate::kernel::fused::products::{Into, Panels, Way, add_weight_grad, input_grad, linear_unbiased};
use crate::kernel::fused::rows;
use crate::kernel::fused::simd::{Simd, add_scaled, kernel};

/// Rows per group. Threads share the groups, and each group adds one copy of the weight gradients.
const GROUP_ROWS: usize = 144;

named! {
    /// The inputs. Shapes: weight [T, O], bias `[O]`, first [2P, F], second [F, Q].
    EmbeddingView { weight, bias, first, second }
}

/// [`node_embedding`](crate::kernel::node_embedding) as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddingOp {
    pub(crate) tokens: Arc<[u32]>,
    pub(crate) features: Primitive,
    pub(crate) sum: bool,
    pub(crate) hidden: Site,
    pub(crate) position: Site,
}

/// The operation with its parameters and sizes.
struct Embedding<'a> {
    op: &'a EmbeddingOp,
    features: &'a [f32],
    /// ReLU(weight + bias), [T, O].
    table: Vec<f32>,
    first: &'a [f32],
    second: &'a [f32],
    /// The second map, laid out.
    second_map: Panels,
    /// 2P.
    n_features: usize,
    d_op: usize,
    d_position: usize,
    d_hidden: usize,
    /// Zeros, for the hidden units.
    no_bias: Vec<f32>,
}

/// Consecutive nodes.
#[derive(Clone, Copy)]
struct Group<'g> {
    first: usize,
    tokens: &'g [u32],
    features: &'g [f32],
}

impl<'a> Embedding<'a> {
    fn new(op: &'a EmbeddingOp, inputs: EmbeddingView<&'a Primitive>, way: Way) -> Self {
        let EmbeddingView { weight, bias, first, second } = inputs.map(values);
        let mut table = weight.to_vec();
        rows::relu_dropped(&mut table, bias, Dropout::NONE.site(0), 0);
        let (d_op, n_features, d_hidden) = (bias.len(), inputs.first.shape()[0], inputs.first.shape()[1]);
        let d_position = second.len() / d_hidden;
        let (features, no_bias) = (values(&op.features), vec![0.0; d_hidden]);
        let second_map = way.panels(second, d_hidden);
        Self { op, features, table, first, second, second_map, n_features, d_op, d_position, d_hidden, no_bias }
    }

    fn width(&self) -> usize {
        if self.op.sum { self.d_op } else { self.d_op + self.d_position }
    }

    /// Nodes per group: depends on their number alone, so that the number of threads changes no result.
    fn group_rows(&self) -> usize {
        let rows = self.op.tokens.len();
        // Even, or one thread of two ends alone.
        let count = rows.div_ceil(GROUP_ROWS).next_multiple_of(2);
        rows.div_ceil(count)
    }

    fn groups(&self, rows: usize) -> impl IndexedParallelIterator<Item = Group<'_>> {
        let parts = self.op.tokens.par_chunks(rows).zip(self.features.par_chunks(rows * self.n_features));
        parts.enumerate().map(move |(group, (tokens, features))| Group { first: group * rows, tokens, features })
    }

    /// y [rows, D] of a group; returns the hidden units, [rows, F].
    fn forward(&self, group: Group<'_>, y: &mut [f32]) -> Buffer {
        let (hidden, position) = self.positions(group.first, group.features);
        self.join(group, &position, y);
        hidden
    }

    /// Hidden units and positions, dropout included, from features [rows, 2P] of the rows from `first` on.
    fn positions(&self, first: usize, features: &[f32]) -> (Buffer, Buffer) {
        let count = features.len() / self.n_features;
        let mut hidden = Buffer::zeros(count * self.d_hidden);
        gather(features, self.n_features, self.first, &mut hidden);
        rows::relu_dropped(&mut hidden, &self.no_bias, self.op.hidden, first * self.d_hidden);
        let position = linear_unbiased(&hidden, count, &self.second_map);
        if !self.op.position.is_on() {
            return (hidden, position);
        }
        let mut dropped = Buffer::stale(position.len());
        rows::dropped(&mut dropped, &position, self.op.position, first * self.d_position);
        (hidden, dropped)
    }

    /// Puts operation and position of every node together.
    fn join(&self, group: Group<'_>, position: &[f32], y: &mut [f32]) {
        let nodes = y.chunks_exact_mut(self.width()).zip(group.tokens);
        for ((y, &token), position) in nodes.zip(position.chunks_exact(self.d_position)) {
            let op = &self.table[token as usize * self.d_op..][..self.d_op];
            y[..self.d_op].copy_from_slice(op);
            match self.op.sum {
                true => y.iter_mut().zip(position).for_each(|(y, position)| *y += position),
                false => y[self.d_op..].copy_from_slice(position),
            }
        }
    }

    /// The gradients of the parameters from those of a group's vectors, [rows, D].
    fn backward(&self, group: Group<'_>, hidden: &[f32], dy: &[f32]) -> EmbeddingView<Buffer> {
        let (count, d_op, width) = (group.tokens.len(), self.d_op, self.width());
        let mut dweight = Buffer::zeros(self.table.len());
        for (dy, &token) in dy.chunks_exact(width).zip(group.tokens) {
            let op = token as usize * d_op..(token as usize + 1) * d_op;
            let passed = dy.iter().zip(&self.table[op.clone()]);
            let passed = passed.map(|(dy, value)| if *value > 0.0 { *dy } else { 0.0 });
            dweight[op].iter_mut().zip(passed).for_each(|(total, passed)| *total += passed);
        }
        let mut dbias = Buffer::zeros(d_op);
        rows::add_rows(&mut dbias, &dweight);

        let mut dposition = Buffer::stale(count * self.d_position);
        let offset = width - self.d_position;
        for (row, (dposition, dy)) in
            dposition.chunks_exact_mut(self.d_position).zip(dy.chunks_exact(width)).enumerate()
        {
            let index = (group.first + row) * self.d_position;
            rows::dropped(dposition, &dy[offset..], self.op.position, index);
        }
        let (mut dfirst, mut dsecond) = (Buffer::zeros(self.first.len()), Buffer::zeros(self.second.len()));
        add_weight_grad(&mut dsecond, hidden, &dposition, count);
        let mut dhidden = Buffer::stale(hidden.len());
        input_grad(&mut dhidden, Into::Replace, &dposition, &self.second_map);
        rows::relu_dropped_grad(&mut dhidden, hidden, self.op.hidden);
        scatter(group.features, self.n_features, &dhidden, &mut dfirst);
        EmbeddingView { weight: dweight, bias: dbias, first: dfirst, second: dsecond }
    }
}

impl Op for EmbeddingOp {
    type Inputs<T> = EmbeddingView<T>;
    /// Hidden units by group.
    type Kept = Vec<Buffer>;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> EmbeddingView<T> {
        EmbeddingView::take(list)
    }

    fn listed<T>(inputs: EmbeddingView<T>) -> Vec<T> {
        inputs.list()
    }

    fn forward(&self, inputs: EmbeddingView<&Primitive>, _keep: bool) -> (Primitive, Vec<Buffer>) {
        let embedding = Embedding::new(self, inputs, Way::Forward);
        let (rows, width) = (embedding.group_rows(), embedding.width());
        let mut y = vec![0.0; self.tokens.len() * width];
        let parts = embedding.groups(rows).zip(y.par_chunks_mut(rows * width));
        let hidden = parts.map(|(group, y)| embedding.forward(group, y)).collect();
        (primitive(y, [self.tokens.len(), width]), hidden)
    }

    fn backward(&self, inputs: EmbeddingView<&Primitive>, kept: &Vec<Buffer>, dy: &[f32]) -> EmbeddingView<Primitive> {
        let embedding = Embedding::new(self, inputs, Way::Backward);
        let rows = embedding.group_rows();
        let parts = embedding.groups(rows).zip(kept.par_iter()).zip(dy.par_chunks(rows * embedding.width()));
        let partial: Vec<EmbeddingView<Buffer>> =
            parts.map(|((group, hidden), dy)| embedding.backward(group, hidden, dy)).collect();
        let mut grads = inputs.map(|input| vec![0.0; values(input).len()]);
        for (total, parts) in with_parts(grads.each_mut().list(), partial.iter().map(|part| part.each_ref().list())) {
            parts.iter().for_each(|part| rows::add(total, part));
        }
        grads.map(gradient)
    }
}

kernel! {
    /// `out` [rows, F] += features [rows, 2P] times `table` [2P, F].
    fn gather(features: &[f32], n_features: usize, table: &[f32], out: &mut [f32]) = gather_body
}

#[inline(always)]
fn gather_body<S: Simd>(s: S, features: &[f32], n_features: usize, table: &[f32], out: &mut [f32]) {
    let width = table.len() / n_features;
    for (features, out) in features.chunks_exact(n_features).zip(out.chunks_exact_mut(width)) {
        for (feature, table) in features.iter().zip(table.chunks_exact(width)).filter(|(feature, _)| **feature != 0.0) {
            add_scaled(s, out, s.splat(*feature), table);
        }
    }
}

kernel! {
    /// The gradient of [`gather`]'s table: `total` [2P, F] += features^T times `dout` [rows, F].
    fn scatter(features: &[f32], n_features: usize, dout: &[f32], total: &mut [f32]) = scatter_body
}

#[inline(always)]
fn scatter_body<S: Simd>(s: S, features: &[f32], n_features: usize, dout: &[f32], total: &mut [f32]) {
    let width = total.len() / n_features;
    for (features, dout) in features.chunks_exact(n_features).zip(dout.chunks_exact(width)) {
        let places = features.iter().zip(total.chunks_exact_mut(width));
        for (feature, total) in places.filter(|(feature, _)| **feature != 0.0) {
            add_scaled(s, total, s.splat(*feature), dout);
        }
    }
}
