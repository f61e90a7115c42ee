//! Features of cells: vectors of an encoder, or what is computed without one.

use pace_graph::enumerate::nas101_parameters;
use pace_graph::{Dag, DagSpec, PathEncoding, Properties, Vectors, canonical};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// The longest path of a cell has five inner nodes.
const MAX_PATH: usize = 5;

/// Features of several kinds side by side.
#[derive(Clone, Debug)]
pub struct Features {
    /// A row per cell.
    pub vectors: Vectors,
    /// Columns of each kind.
    pub parts: Vec<usize>,
}

impl Features {
    /// Features of one kind.
    pub fn new(vectors: Vectors) -> Features {
        let parts = vec![vectors.width()];
        Features { vectors, parts }
    }

    /// Every column with mean 0 and spread 1 over all cells, for which no label is needed.
    pub fn standardised(mut self) -> Features {
        self.vectors = self.vectors.standardised();
        self
    }

    /// These, then the others.
    pub fn beside(&self, other: &Features) -> Features {
        let rows = (0..self.vectors.len()).map(|row| [self.vectors.row(row), other.vectors.row(row)].concat());
        let width = self.vectors.width() + other.vectors.width();
        let vectors = Vectors::from_rows(rows.collect::<Vec<_>>(), width);
        Features { vectors, parts: [&self.parts[..], &other.parts[..]].concat() }
    }
}

/// The paths of BANANAS.
pub fn paths(dags: &[Dag]) -> Features {
    let paths = PathEncoding::new(&DagSpec::nas101(), MAX_PATH).expect("cells have an input and an output");
    rows(dags, paths.width(), |dag| paths.encode(dag))
}

/// Depths, paths and counts, and the logarithm of the number of parameters.
pub fn properties(dags: &[Dag]) -> Features {
    let properties = Properties::new(&DagSpec::nas101());
    rows(dags, properties.width() + 1, |dag| {
        let mut numbers = properties.of(dag);
        // Which node gets an odd channel depends on their order.
        numbers.push((nas101_parameters(&canonical(dag)) as f32).ln());
        numbers
    })
}

fn rows(dags: &[Dag], width: usize, row: impl Fn(&Dag) -> Vec<f32> + Sync + Send) -> Features {
    Features::new(Vectors::from_rows(dags.par_iter().map(row).collect::<Vec<_>>(), width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_standardised_and_put_side_by_side() {
        let one = Features::new(Vectors::new(vec![1.0, 7.0, 3.0, 7.0], 2)).standardised();
        assert_eq!(one.vectors.values(), [-1.0, 0.0, 1.0, 0.0]);
        let both = one.beside(&Features::new(Vectors::new(vec![5.0, 6.0], 1)));
        assert_eq!((both.vectors.row(1), &both.parts[..]), (&[1.0, 0.0, 6.0][..], &[2, 1][..]));
    }
}
