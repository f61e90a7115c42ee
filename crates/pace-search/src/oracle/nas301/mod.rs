//! NAS-Bench-301: a port of a published surrogate ([`Nas301`]), and an embedded one distilled from it.

use pace_graph::dataset::{DartsCell, DartsRecord, Genotype};
use pace_graph::{Dag, canonical};
use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::{Noisy, Oracle};
use crate::error::Error;

mod affine;
mod encoding;
mod network;
mod onnx;
mod surrogate;

pub use affine::AffineMap;
pub use network::Nas301Network;
pub use surrogate::{Nas301Features, Nas301Surrogate, Nas301SurrogateConfig, embedded_nas301};

/// A network whose predictions are mapped to the scale of NAS-Bench-301.
///
/// Scores are validation accuracies in percent. A graph is one cell that is both the normal and the reduction cell, as in the
/// authors' samples. The network reads numbered intermediate nodes, and its predictions for isomorphic cells differ a little.
/// Here each cell is numbered canonically, so that isomorphic graphs have the same score.
#[derive(Clone, Debug)]
pub struct Nas301 {
    network: Nas301Network,
    map: AffineMap,
}

impl Nas301 {
    /// A network whose predictions are mapped by `map`.
    pub fn new(network: Nas301Network, map: AffineMap) -> Nas301 {
        Nas301 { network, map }
    }

    /// Fits the map to the accuracies of these records by least squares.
    pub fn calibrated(network: Nas301Network, records: &[DartsRecord]) -> Result<Nas301, Error> {
        let mut pairs = Vec::with_capacity(records.len());
        for (graph, record) in records.iter().enumerate() {
            if let Some(accuracy) = record.accuracy {
                let predicted = network.predict(&record.genotype).map_err(|reason| Error::Graph { graph, reason })?;
                pairs.push((predicted, accuracy));
            }
        }
        let map = AffineMap::fit(&pairs)?;
        Ok(Nas301 { network, map })
    }

    /// The same oracle plus Gaussian noise, with the residual standard deviation of the map.
    pub fn with_noise(self, seed: u64) -> Noisy<Nas301> {
        let std = self.map.residual_std;
        Noisy::new(self, std, seed)
    }

    /// The map.
    pub fn map(&self) -> AffineMap {
        self.map
    }

    /// The accuracy of a pair of cells, without noise.
    pub fn predict(&self, genotype: &Genotype) -> Result<f64, pace_graph::Error> {
        Ok(self.map.apply(self.network.predict(genotype)?))
    }

    fn score(&self, dag: &Dag) -> Result<f64, pace_graph::Error> {
        let dag = canonical(dag);
        let cell = DartsCell::from_dag(&dag)?;
        self.predict(&Genotype { normal: cell, reduce: cell })
    }
}

impl Oracle for Nas301 {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        let score = |(graph, dag): (usize, &Dag)| self.score(dag).map_err(|reason| Error::Graph { graph, reason });
        // Collected first, so that the error is about the first bad graph.
        let scores: Vec<Result<f64, Error>> = dags.par_iter().enumerate().map(score).collect();
        scores.into_iter().collect()
    }
}
