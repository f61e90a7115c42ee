//! Laplacian spectrum of the underlying undirected graph, for the positional encodings of graph Transformers and SAN.

use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

use super::degree::{in_degrees, out_degrees};
use crate::dag::Dag;

/// Which Laplacian, with `A` the undirected adjacency matrix and `D` the diagonal of its degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Laplacian {
    /// `L = D - A`.
    Combinatorial,
    /// `L = I - D^(-1/2) A D^(-1/2)` with a zero row for isolated nodes (Dwivedi and Bresson 2020; SAN). Eigenvalues lie
    /// in `0..=2`.
    #[default]
    Normalised,
}

/// Eigenvalues, ascending, and an orthonormal eigenvector for each.
///
/// Every eigenvector has a fixed sign: its entry of largest magnitude is positive; among entries that tie up to
/// rounding, the first. The zero eigenvalues number the connected components. Eigenvectors of a repeated eigenvalue span the
/// right space but are one basis of many: renumbering the graph may rotate them, so they are no isomorphism invariant.
#[derive(Clone, Debug)]
pub struct Spectrum {
    eigenvalues: Vec<f64>,
    /// Column `i` belongs to eigenvalue `i`.
    eigenvectors: Mat<f64>,
}

impl Spectrum {
    /// The eigenvalues, ascending, all at least 0.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The eigenvector of eigenvalue `index`, one entry per node.
    pub fn eigenvector(&self, index: usize) -> &[f64] {
        self.eigenvectors.col_as_slice(index)
    }
}

/// The Laplacian as a dense matrix. O(n^2).
pub fn laplacian(dag: &Dag, kind: Laplacian) -> Mat<f64> {
    let degrees: Vec<f64> =
        in_degrees(dag).iter().zip(out_degrees(dag)).map(|(incoming, outgoing)| (incoming + outgoing) as f64).collect();
    let mut matrix = Mat::zeros(dag.n_nodes(), dag.n_nodes());
    for (node, &degree) in degrees.iter().enumerate() {
        matrix[(node, node)] = match kind {
            Laplacian::Combinatorial => degree,
            Laplacian::Normalised => f64::from(degree > 0.0),
        };
    }
    for (from, to) in dag.edges() {
        let entry = match kind {
            Laplacian::Combinatorial => -1.0,
            Laplacian::Normalised => -1.0 / (degrees[from] * degrees[to]).sqrt(),
        };
        matrix[(from, to)] = entry;
        matrix[(to, from)] = entry;
    }
    matrix
}

/// The spectrum of [`laplacian`], by faer's self-adjoint eigendecomposition. O(n^3).
///
/// # Panics
/// If the iteration does not converge, which it does for every finite symmetric matrix.
pub fn spectrum(dag: &Dag, kind: Laplacian) -> Spectrum {
    let matrix = laplacian(dag, kind);
    let eigen = matrix.self_adjoint_eigen(Side::Lower).expect("a finite symmetric matrix has a spectrum");
    // A Laplacian is positive semi-definite: what is below 0 is rounding.
    let eigenvalues = eigen.S().column_vector().iter().map(|value| value.max(0.0)).collect();
    let mut eigenvectors = eigen.U().to_owned();
    for index in 0..dag.n_nodes() {
        fix_sign(eigenvectors.col_as_slice_mut(index));
    }
    Spectrum { eigenvalues, eigenvectors }
}

fn fix_sign(vector: &mut [f64]) {
    // Entries that tie exactly may differ in the last bits; without the tolerance rounding would pick the sign.
    const TIE: f64 = 1e-9;
    let largest = vector.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let leading = vector.iter().find(|entry| entry.abs() >= largest - TIE);
    if leading.is_some_and(|&entry| entry < 0.0) {
        vector.iter_mut().for_each(|entry| *entry = -*entry);
    }
}
