//! A linear map of all or some rows, with its gradient.

use std::sync::Arc;

use burn::backend::TensorMetadata;

use super::autodiff::{Op, Primitive, gradient, primitive, values};
use super::buffer::Buffer;
use super::products::{Finish, Into, PLAIN, Panels, input_grad};
use super::rows;
use super::tasks::{share, task_rows, weight_grad};
use crate::kernel::dropout::Dropout;

/// The inputs. Shapes: x [R, D], weight [D, F], bias `[F]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearView<T> {
    pub(crate) x: T,
    pub(crate) weight: T,
    pub(crate) bias: Option<T>,
}

/// [`linear`](crate::kernel::linear) as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct LinearOp {
    /// `None`: all rows.
    pub(crate) rows: Option<Arc<[u32]>>,
    pub(crate) relu: bool,
}

/// What forward keeps.
pub(crate) struct Kept {
    /// The rows of x, if they are some.
    x: Buffer,
    /// The result, if ReLU made it.
    y: Option<Primitive>,
}

impl LinearOp {
    /// The rows of x that are mapped, gathered if they are some.
    fn picked(&self, x: &[f32], d: usize) -> Buffer {
        let Some(rows) = &self.rows else { return Buffer::default() };
        let mut picked = Buffer::stale(rows.len() * d);
        for (picked, &row) in picked.chunks_exact_mut(d).zip(rows.iter()) {
            picked.copy_from_slice(&x[row as usize * d..][..d]);
        }
        picked
    }
}

impl Op for LinearOp {
    type Inputs<T> = LinearView<T>;
    type Kept = Kept;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> LinearView<T> {
        let mut next = || list.next().expect("an item for every field");
        LinearView { x: next(), weight: next(), bias: list.next() }
    }

    fn listed<T>(inputs: LinearView<T>) -> Vec<T> {
        [inputs.x, inputs.weight].into_iter().chain(inputs.bias).collect()
    }

    fn forward(&self, inputs: LinearView<&Primitive>, keep: bool) -> (Primitive, Kept) {
        let (d, f) = (inputs.weight.shape()[0], inputs.weight.shape()[1]);
        let all = values(inputs.x);
        let picked = self.picked(all, d);
        let x = if self.rows.is_some() { &picked[..] } else { all };
        let map = Panels::new(values(inputs.weight), d);
        let finish = Finish { bias: inputs.bias.map_or(&[], values), relu: self.relu, ..PLAIN };
        let n_rows = x.len() / d;
        let mut y = vec![0.0; n_rows * f];
        let task = task_rows(n_rows, d * f);
        share(x.chunks(task * d).zip(y.chunks_mut(task * f)).collect(), |(x, y): (&[f32], &mut [f32])| {
            map.product(x, y, f, finish);
        });
        let y = primitive(y, [n_rows, f]);
        let kept = Kept { x: picked, y: (keep && self.relu).then(|| y.clone()) };
        (y, kept)
    }

    fn backward(&self, inputs: LinearView<&Primitive>, kept: &Kept, dy: &[f32]) -> LinearView<Primitive> {
        let (d, f) = (inputs.weight.shape()[0], inputs.weight.shape()[1]);
        let all = values(inputs.x);
        let x = if self.rows.is_some() { &kept.x[..] } else { all };
        let passed = kept.y.as_ref().map(|y| {
            let mut passed = Buffer::copy_of(dy);
            rows::relu_dropped_grad(&mut passed, values(y), Dropout::NONE.site(0));
            passed
        });
        let dy = passed.as_deref().unwrap_or(dy);
        let weight = weight_grad(x, dy, d, f);
        let bias = inputs.bias.map(|_| {
            let mut bias = vec![0.0; f];
            rows::add_rows(&mut bias, dy);
            gradient(bias)
        });
        let map = Panels::transposed(values(inputs.weight), d);
        let task = task_rows(x.len() / d, d * f);
        let back = |dx: &mut [f32]| {
            share(dx.chunks_mut(task * d).zip(dy.chunks(task * f)).collect(), |(dx, dy): (&mut [f32], &[f32])| {
                input_grad(dx, Into::Replace, dy, &map);
            });
        };
        let mut dx = vec![0.0; all.len()];
        match &self.rows {
            None => back(&mut dx),
            Some(rows) => {
                let mut some = Buffer::stale(x.len());
                back(&mut some);
                for (some, &row) in some.chunks_exact(d).zip(rows.iter()) {
                    rows::add(&mut dx[row as usize * d..][..d], some);
                }
            }
        }
        LinearView { x: gradient(dx), weight: gradient(weight), bias }
    }
}
