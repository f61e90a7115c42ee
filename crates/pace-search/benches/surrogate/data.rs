//! Vectors with scores, among them some like the latents of NA that are made from a seed, the same on any machine.

use pace_graph::Dag;
use pace_search::Matrix;
use pace_search::oracle::embedded_na;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const DIMS: usize = 64;
const LAYERS: usize = 6;
const OPS: usize = 6;
/// One-hot operation of a layer, and its skips from at most 5 vertices.
const FEATURES: usize = OPS + LAYERS - 1;
/// Units of the map's hidden layer.
const HIDDEN: usize = 128;
/// Spread of the map's first weights: tanh bends, but is not a step.
const FIRST_SPREAD: f64 = 0.5;
/// Noise of a score in standard deviations, about what the embedded surrogate fails to explain of the real table.
const NOISE: f64 = 0.15;

/// Training rows and test rows. Scores are in standard deviations of the training scores.
pub struct Data {
    /// [N, D]
    pub x: Matrix,
    /// [N]
    pub y: Vec<f64>,
    /// [T, D]
    pub x_test: Matrix,
    /// [T]
    pub y_test: Vec<f64>,
}

impl Data {
    /// The first `n_train` rows of x [N + T, D] and their scores, and the rest.
    pub fn split(x: &Matrix, scores: &[f64], n_train: usize) -> Data {
        let train = &scores[..n_train];
        let mean = train.iter().sum::<f64>() / n_train as f64;
        let std = (train.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n_train as f64).sqrt();
        let y: Vec<f64> = scores.iter().map(|y| (y - mean) / std).collect();
        let (n_test, y_test) = (x.nrows() - n_train, y[n_train..].to_vec());
        let (x, x_test) = (x.subrows(0, n_train).to_owned(), x.subrows(n_train, n_test).to_owned());
        Data { x, y: y[..n_train].to_vec(), x_test, y_test }
    }

    /// Architectures of the ENAS space, scored by the embedded surrogate with some noise, as vectors z of a random network:
    ///
    /// ```text
    /// z_d = w_d tanh(V f_l) / sqrt(H),   l = d mod 6        f_l [11] operation and skips of layer l; V [H, 11], W [64, H]
    /// ```
    ///
    /// Each layer has its own axes, as in our encoder. With one map of all features no axis has a meaning, and ARD predicts
    /// much worse from it than from the real latents.
    pub fn like_na(n_train: usize, n_test: usize, seed: u64) -> Data {
        let na = embedded_na(n_train + n_test, seed).expect("draws of the space are valid");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let first = Matrix::from_fn(FEATURES, HIDDEN, |_, _| FIRST_SPREAD * normal());
        let second = Matrix::from_fn(HIDDEN, DIMS, |_, _| normal() / (HIDDEN as f64).sqrt());
        let scores: Vec<f64> = na.samples.iter().filter_map(|sample| sample.target).collect();
        let mut data = Data::split(&Matrix::zeros(scores.len(), DIMS), &scores, n_train);
        for (x, y, from) in [(&mut data.x, &mut data.y, 0), (&mut data.x_test, &mut data.y_test, n_train)] {
            for (i, y) in y.iter_mut().enumerate() {
                let hidden = hidden(&na.samples[from + i].dag, &first);
                for d in 0..DIMS {
                    let z = hidden[d % LAYERS].iter().zip(second.col_as_slice(d)).map(|(h, w)| h * w).sum::<f64>();
                    // Single precision, as embeddings are stored.
                    x[(i, d)] = f64::from(z as f32);
                }
                *y += NOISE * normal();
            }
        }
        data
    }
}

/// tanh(V f_l) [H] of every layer l, given V^T [11, H].
fn hidden(dag: &Dag, first: &Matrix) -> Vec<Vec<f64>> {
    let unit = |active: &[usize], column: &[f64]| {
        // Not the standard library's, whose last digits depend on the system.
        libm::tanh(active.iter().map(|&feature| column[feature]).sum())
    };
    let layer = |node: usize| {
        let mut active = vec![usize::from(dag.op(node)) - 2];
        active.extend((0..node - 1).filter(|&from| dag.has_edge(from, node)).map(|from| OPS + from));
        (0..HIDDEN).map(|h| unit(&active, first.col_as_slice(h))).collect()
    };
    (1..=LAYERS).map(layer).collect()
}
