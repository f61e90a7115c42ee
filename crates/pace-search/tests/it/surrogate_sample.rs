//! Random data for surrogates, and an exact Gaussian process in the plainest possible code to compare with.

use pace_search::Matrix;
use pace_search::surrogate::{Hyperparameters, Kernel};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub fn normal(rows: usize, columns: usize, seed: u64) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Matrix::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
}

pub fn normal_vec(n: usize, seed: u64) -> Vec<f64> {
    normal(n, 1, seed).col_as_slice(0).to_vec()
}

/// k(x_i, z_j), entry by entry.
pub fn covariance(kernel: Kernel, hyper: &Hyperparameters, x: &Matrix, z: &Matrix) -> Matrix {
    Matrix::from_fn(x.nrows(), z.nrows(), |i, j| {
        let r2: f64 = (0..x.ncols()).map(|d| ((x[(i, d)] - z[(j, d)]) / hyper.log_lengths[d].exp()).powi(2)).sum();
        let r = (5.0 * r2).sqrt();
        hyper.log_variance.exp()
            * match kernel {
                Kernel::Rbf => (-0.5 * r2).exp(),
                Kernel::Matern52 => (1.0 + r + 5.0 / 3.0 * r2) * (-r).exp(),
            }
    })
}

/// L of A = L L^T, row by row.
pub fn cholesky(a: &Matrix) -> Matrix {
    let n = a.nrows();
    let mut l = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = a[(i, j)] - (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum::<f64>();
            l[(i, j)] = if i == j { sum.sqrt() } else { sum / l[(j, j)] };
        }
    }
    l
}

/// L^-1 b.
pub fn forward_solve(l: &Matrix, b: &[f64]) -> Vec<f64> {
    let mut solution: Vec<f64> = Vec::new();
    for i in 0..b.len() {
        let sum: f64 = (0..i).map(|k| l[(i, k)] * solution[k]).sum();
        solution.push((b[i] - sum) / l[(i, i)]);
    }
    solution
}

pub struct Exact {
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    pub log_evidence: f64,
}

/// The exact posterior at `at`: with K + v I = L L^T, mean k^T L^-T L^-1 y and variance s - |L^-1 k|^2.
pub fn exact(kernel: Kernel, hyper: &Hyperparameters, x: &Matrix, y: &[f64], at: &Matrix) -> Exact {
    let mut k = covariance(kernel, hyper, x, x);
    (0..x.nrows()).for_each(|i| k[(i, i)] += hyper.log_noise.exp());
    let l = cholesky(&k);
    let white_y = forward_solve(&l, y);
    let log_det: f64 = (0..x.nrows()).map(|i| 2.0 * l[(i, i)].ln()).sum();
    let square: f64 = white_y.iter().map(|v| v * v).sum();
    let log_evidence = -0.5 * (square + log_det + x.nrows() as f64 * (2.0 * std::f64::consts::PI).ln());
    let cross = covariance(kernel, hyper, x, at);
    let (mut mean, mut variance) = (Vec::new(), Vec::new());
    for i in 0..at.nrows() {
        let white_k = forward_solve(&l, cross.col_as_slice(i));
        mean.push(white_k.iter().zip(&white_y).map(|(k, y)| k * y).sum());
        variance.push(hyper.log_variance.exp() - white_k.iter().map(|k| k * k).sum::<f64>());
    }
    Exact { mean, variance, log_evidence }
}

/// A draw of a Gaussian process at x, with noise.
pub fn draw(kernel: Kernel, hyper: &Hyperparameters, x: &Matrix, seed: u64) -> Vec<f64> {
    let mut k = covariance(kernel, hyper, x, x);
    (0..x.nrows()).for_each(|i| k[(i, i)] += hyper.log_noise.exp());
    let (l, white) = (cholesky(&k), normal_vec(x.nrows(), seed));
    (0..x.nrows()).map(|i| (0..=i).map(|j| l[(i, j)] * white[j]).sum()).collect()
}

pub fn rmse(a: &[f64], b: &[f64]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / a.len() as f64).sqrt()
}

#[track_caller]
pub fn assert_close(ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "entry {i}: {a} where {b} is expected");
    }
}
