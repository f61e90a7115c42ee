//! [`Segments`]: messages grouped by who hears them.

use std::sync::OnceLock;

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor};

use crate::batch::{floats, ints};

/// E messages to R rows. Index tensors are made once.
#[derive(Clone, Debug)]
pub struct Segments {
    targets: Vec<u32>,
    n_rows: usize,
    device: Device,
    /// The row that hears each message, `[E]`.
    heard_by: Tensor<1, Int>,
    maxima: OnceLock<Maxima>,
    mean: OnceLock<Tensor<2>>,
}

/// The messages of each row as a matrix of indices, filled up by repetition.
#[derive(Clone, Debug)]
struct Maxima {
    /// `[R*K]`.
    messages: Tensor<1, Int>,
    /// K: most messages of a row, at least 1.
    width: usize,
}

impl Segments {
    /// Messages to the rows `targets`, each below `n_rows`.
    pub(crate) fn new(targets: Vec<u32>, n_rows: usize, device: &Device) -> Segments {
        let indices = targets.iter().map(|&row| row as i32).collect();
        let heard_by = ints(indices, [targets.len()], device);
        Segments { targets, n_rows, device: device.clone(), heard_by, maxima: OnceLock::new(), mean: OnceLock::new() }
    }

    /// How many messages, E.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether nobody hears anything.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// How many messages each row hears.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_rows];
        self.targets.iter().for_each(|&row| counts[row as usize] += 1);
        counts
    }

    /// What each message's hearer has. Shapes: [R, D] -> [E, D].
    pub fn of_targets(&self, x: Tensor<2>) -> Tensor<2> {
        x.select(0, self.heard_by.clone())
    }

    /// The sum of what each row hears; 0 if it hears nothing. Shapes: [E, D] -> [R, D].
    pub fn sum(&self, messages: Tensor<2>) -> Tensor<2> {
        let [_, d] = messages.dims();
        let zeros = Tensor::zeros([self.n_rows, d], &self.device);
        if self.is_empty() {
            return zeros;
        }
        zeros.select_assign(0, self.heard_by.clone(), messages, IndexingUpdateOp::Add)
    }

    /// The mean of what each row hears; 0 if it hears nothing. Shapes: [E, D] -> [R, D].
    pub fn mean(&self, messages: Tensor<2>) -> Tensor<2> {
        let make = || {
            let shares = self.counts().into_iter().map(|count| 1.0 / count.max(1) as f32).collect();
            floats(shares, [self.n_rows, 1], &self.device)
        };
        self.sum(messages) * self.mean.get_or_init(make).clone()
    }

    /// Scores as weights that add up to 1 over what each row hears:
    ///
    /// ```text
    /// w_e = exp(s_e) / sum over messages f to the same row of exp(s_f)
    /// ```
    ///
    /// Shapes: [E, H] -> [E, H], each column by itself.
    pub fn softmax(&self, scores: Tensor<2>) -> Tensor<2> {
        if self.is_empty() {
            return scores;
        }
        let [_, h] = scores.dims();
        let maxima = self.maxima.get_or_init(|| self.maxima());
        // A constant per row cancels, so no gradient has to pass through it.
        let all = scores.clone().detach().select(0, maxima.messages.clone());
        let largest = all.reshape([self.n_rows, maxima.width, h]).max_dim(1).reshape([self.n_rows, h]);
        let weights = (scores - self.of_targets(largest)).exp();
        weights.clone() / self.of_targets(self.sum(weights))
    }

    fn maxima(&self) -> Maxima {
        let width = self.counts().into_iter().max().unwrap_or(0).max(1);
        // Rows that hear nothing get message 0, and nobody reads their maximum.
        let mut messages = vec![0; self.n_rows * width];
        let mut filled = vec![0; self.n_rows];
        for (message, &row) in self.targets.iter().enumerate() {
            let (row, filled) = (row as usize, &mut filled[row as usize]);
            messages[row * width + *filled..(row + 1) * width].fill(message as i32);
            *filled += 1;
        }
        Maxima { messages: ints(messages, [self.n_rows * width], &self.device), width }
    }
}
