//! How threads share rows, for operations whose rows do not depend on each other.

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::products::{Into, Mat, product};

/// Rows per task, of which each is so many multiply-adds of work: as many tasks as threads, unless they are not worth it. No result
/// depends on it.
pub(crate) fn task_rows(rows: usize, work: usize) -> usize {
    const LEAST: usize = 1 << 19;
    let least = LEAST.div_ceil(work.max(1));
    rows.div_ceil(rayon::current_num_threads()).max(least).max(1)
}

/// Runs tasks, on this thread if there is only one.
pub(crate) fn share<T: Send>(tasks: Vec<T>, run: impl Fn(T) + Send + Sync) {
    match tasks.len() {
        0 | 1 => tasks.into_iter().for_each(run),
        _ => tasks.into_par_iter().for_each(run),
    }
}

/// The gradient of a weight, x^T dy of all rows. Threads share the rows of the result, and every number of it is one sum in order.
///
/// Shapes: x [K, D], dy [K, W] -> [D, W].
pub(crate) fn weight_grad(x: &[f32], dy: &[f32], d: usize, width: usize) -> Vec<f32> {
    let n = x.len() / d;
    let mut dw = vec![0.0; d * width];
    if n == 0 {
        return dw;
    }
    let rows = task_rows(d, n * width);
    share(dw.chunks_mut(rows * width).enumerate().collect(), |(index, dw): (usize, &mut [f32])| {
        let left = Mat::new(&x[index * rows..], d).t();
        product([dw.len() / width, n, width], dw, width, Into::Replace, left, Mat::new(dy, width), 1.0);
    });
    dw
}
