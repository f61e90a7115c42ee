//! Residual, dropout and layer norm by themselves: for models that build their own blocks.

use burn::backend::TensorMetadata;
use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice, ParallelSliceMut};

use super::autodiff::{Op, Primitive, gradient, primitive, values};
use super::buffer::Buffer;
use super::named::{Named, named};
use super::rows;
use crate::kernel::dropout::Site;

named! {
    /// The inputs. Shapes: residual and x [rows, D]; gamma and beta `[D]`.
    AddNormView { residual, x, gamma, beta }
}

/// LN(residual + drop(x)) as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct AddNormOp {
    pub(crate) epsilon: f32,
    pub(crate) site: Site,
}

impl Op for AddNormOp {
    type Inputs<T> = AddNormView<T>;
    type Kept = Normed;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> AddNormView<T> {
        AddNormView::take(list)
    }

    fn listed<T>(inputs: AddNormView<T>) -> Vec<T> {
        inputs.list()
    }

    fn forward(&self, inputs: AddNormView<&Primitive>, _keep: bool) -> (Primitive, Normed) {
        let (y, normed) = add_norm(inputs.map(values), self.epsilon, self.site);
        (primitive(y, inputs.residual.shape()), normed)
    }

    fn backward(&self, inputs: AddNormView<&Primitive>, kept: &Normed, dy: &[f32]) -> AddNormView<Primitive> {
        let (dsum, dx, [dgamma, dbeta]) = add_norm_grad(dy, kept, values(inputs.gamma), self.site);
        let residual = gradient(dsum);
        let x = dx.map_or_else(|| residual.clone(), gradient);
        AddNormView { residual, x, gamma: gradient(dgamma), beta: gradient(dbeta) }
    }
}

/// What [`add_norm`] keeps: xhat [rows, D] and rstd `[rows]`.
pub(crate) type Normed = (Buffer, Buffer);

/// Rows per task of [`add_norm`]. Fixed, so that sums have a fixed order.
const NORM_ROWS: usize = 512;

/// LN(residual + drop(x)) over rows of D.
fn add_norm(inputs: AddNormView<&[f32]>, epsilon: f32, site: Site) -> (Vec<f32>, Normed) {
    let AddNormView { residual, x, gamma, beta } = inputs;
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

/// The gradients of [`add_norm`]: of the residual, of x if dropout makes it differ from that, of gamma and of beta.
fn add_norm_grad(
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
