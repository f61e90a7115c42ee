//! [`Distilled`]: an ensemble of packed networks, with its scale, its quality and its file format.
//!
//! ```text
//! magic: 8 bytes  members features width knots: u32 each
//! held-out rows: u64  rmse pearson spearman: f64 each; the same of the best tenth
//! prediction score: f64 each, of every knot; then the packed members; everything little-endian
//! ```

use std::fmt::Debug;
use std::marker::PhantomData;

use pace_graph::{Dag, split_reference};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::bytes::Bytes;
use super::fit::{MIN_ROWS, PerceptronConfig, mean_prediction};
use super::held_out::HeldOut;
use super::network::Network;
use super::packed::Packed;
use super::rows::{Entry, SparseRows};
use super::scale::{Scale, mean_std};
use crate::error::Error;
use crate::oracle::{Oracle, score_each};

const MAX_SIZE: usize = 1 << 12;
/// Share of the rows in the training part.
const TRAIN_SHARE: f64 = 0.9;
/// Share of the held-out rows that counts as the best.
const BEST_SHARE: f64 = 0.1;

/// How a [`Distilled`] oracle reads graphs and its file of weights.
pub trait GraphFeatures: Clone + Debug + PartialEq + Send + Sync + Sized + 'static {
    /// The name in error messages.
    const NAME: &'static str;
    /// The first bytes of a file of weights.
    const MAGIC: &'static str;
    /// The number of features.
    const N_FEATURES: usize;
    /// Whether the networks learn the ranks of scores. Otherwise they learn standardised scores.
    const IS_RANKED: bool;

    /// The features of a graph that are not zero; the same for isomorphic graphs.
    fn features(dag: &Dag) -> Result<Vec<Entry>, pace_graph::Error>;

    /// A predicted score, limited to the range of scores.
    fn limit(score: f64) -> f64 {
        score
    }

    /// The weights that come with this crate.
    fn embedded() -> &'static Distilled<Self>;
}

/// An oracle learnt from a table or from another oracle: the mean of small perceptrons on features of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Distilled<F> {
    features: PhantomData<F>,
    packed: Vec<Packed>,
    members: Vec<Network>,
    scale: Scale,
    held_out: HeldOut,
    held_out_best: HeldOut,
}

impl<F: GraphFeatures> Distilled<F> {
    /// The weights that come with this crate.
    pub fn embedded() -> &'static Distilled<F> {
        F::embedded()
    }

    /// How good it is on the tenth of the graphs that was held out.
    pub fn held_out(&self) -> HeldOut {
        self.held_out
    }

    /// How good it is on the best tenth of these graphs, by their true score.
    pub fn held_out_best(&self) -> HeldOut {
        self.held_out_best
    }

    /// Trains on the train part of [`split_reference`] and measures the packed networks on the other tenth.
    pub(crate) fn fit(
        config: &PerceptronConfig,
        rows: &SparseRows,
        scores: &[f64],
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Result<Distilled<F>, Error> {
        if rows.len() < MIN_ROWS {
            return Err(Error::TooFewRows { n_rows: rows.len(), wanted: MIN_ROWS });
        }
        let split = split_reference(rows.len(), TRAIN_SHARE);
        let scaled = if F::IS_RANKED { Scale::ranked } else { Scale::standardised };
        let (scale, targets) = scaled(scores, &split.train);
        let members = config.fit(F::N_FEATURES, rows, &targets, &split.train, progress);
        let packed: Vec<Packed> = members.iter().map(Packed::new).collect();
        let members = packed.iter().map(Packed::unpack).collect();
        let [held_out, held_out_best] = [HeldOut::default(); 2];
        let mut distilled = Distilled { features: PhantomData, packed, members, scale, held_out, held_out_best };
        let (mean, std) = mean_std(scores, &split.train);
        let compare = |&row: &usize| {
            let found = distilled.score_row(rows.row(row));
            [found, scores[row]].map(|score| (score - mean) / std)
        };
        let mut pairs: Vec<[f64; 2]> = split.test.par_iter().map(compare).collect();
        let held_out = HeldOut::of_pairs(&pairs);
        pairs.sort_by(|a, b| b[1].total_cmp(&a[1]));
        let n_best = (pairs.len() as f64 * BEST_SHARE).ceil() as usize;
        (distilled.held_out, distilled.held_out_best) = (held_out, HeldOut::of_pairs(&pairs[..n_best]));
        Ok(distilled)
    }

    /// The score of one graph.
    pub(crate) fn score(&self, dag: &Dag) -> Result<f64, pace_graph::Error> {
        Ok(F::limit(self.score_row(&F::features(dag)?)))
    }

    fn score_row(&self, row: &[Entry]) -> f64 {
        self.scale.score(mean_prediction(&self.members, row))
    }

    /// The oracle as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = F::MAGIC.as_bytes().to_vec();
        let sizes = [self.members.len(), F::N_FEATURES, self.members[0].width(), self.scale.knots().len()];
        bytes.extend(sizes.iter().flat_map(|&size| (size as u32).to_le_bytes()));
        for HeldOut { n_rows, rmse, pearson, spearman } in [self.held_out, self.held_out_best] {
            bytes.extend((n_rows as u64).to_le_bytes());
            bytes.extend([rmse, pearson, spearman].iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes.extend(self.scale.knots().iter().flat_map(|&(x, y)| [x, y]).flat_map(f64::to_le_bytes));
        self.packed.iter().for_each(|member| member.write(&mut bytes));
        bytes
    }

    /// Reads what [`Distilled::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Distilled<F>, Error> {
        let mut bytes = Bytes::after(bytes, F::MAGIC, F::NAME)?;
        let [n_members, n_features, width, n_knots] = [bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?];
        if ![n_members, width, n_knots].iter().all(|size| (1..=MAX_SIZE).contains(size)) {
            return Err(bytes.wrong(format!("{n_members} networks of width {width} and {n_knots} knots make no sense")));
        }
        if n_features != F::N_FEATURES {
            return Err(bytes.wrong(format!("they read {n_features} features where {} are known", F::N_FEATURES)));
        }
        let mut held_out = [HeldOut::default(); 2];
        for part in &mut held_out {
            let n_rows = bytes.u64()?;
            *part = HeldOut { n_rows, rmse: bytes.f64()?, pearson: bytes.f64()?, spearman: bytes.f64()? };
        }
        let knots = (0..n_knots).map(|_| Ok((bytes.f64()?, bytes.f64()?))).collect::<Result<Vec<_>, Error>>()?;
        let finite = knots.iter().all(|(x, y)| x.is_finite() && y.is_finite());
        let scale = Scale::from_knots(knots).filter(|_| finite);
        let scale = scale.ok_or_else(|| bytes.wrong("their scale does not rise"))?;
        bytes.expect_left(n_members * Packed::n_bytes(n_features, width))?;
        let packed = (0..n_members).map(|_| Packed::read(&mut bytes, n_features, width));
        let packed = packed.collect::<Result<Vec<Packed>, Error>>()?;
        let members = packed.iter().map(Packed::unpack).collect();
        let [held_out, held_out_best] = held_out;
        Ok(Distilled { features: PhantomData, packed, members, scale, held_out, held_out_best })
    }
}

impl<F: GraphFeatures> Oracle for Distilled<F> {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        score_each(dags, |dag| self.score(dag))
    }
}
