//! Functions whose vectors are close.

use pace_graph::Vectors;

/// The `k` rows whose vectors have the smallest angles to that of `row`, and the cosines, nearest first.
pub fn nearest(vectors: &Vectors, row: usize, k: usize) -> Vec<(usize, f64)> {
    let norm = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let own = vectors.row(row);
    let cosine = |other: &[f32]| {
        let dot: f64 = own.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        dot / (norm(own) * norm(other))
    };
    let others = (0..vectors.len()).filter(|&other| other != row);
    let mut found: Vec<(usize, f64)> = others.map(|other| (other, cosine(vectors.row(other)))).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(k);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_does_not_matter() {
        let vectors = Vectors::new(vec![1.0, 0.0, 5.0, 1.0, 0.0, 1.0, -1.0, 0.0], 2);
        let found = nearest(&vectors, 0, 2);
        assert_eq!((found[0].0, found[1].0), (1, 2));
        assert!((found[0].1 - 5.0 / 26.0_f64.sqrt()).abs() < 1e-9);
    }
}
