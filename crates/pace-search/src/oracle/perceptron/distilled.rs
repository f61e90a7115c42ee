//! [`Distilled`]: an ensemble of packed networks with its scale, how good it is, and its file.
//!
//! ```text
//! magic: 8 bytes  members features width knots: u32 each
//! held-out rows: u64  rmse pearson spearman: f64 each; the same of the best tenth
//! prediction score: f64 each, of every knot; then the packed members; everything little-endian
//! ```

use pace_graph::split_reference;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::bytes::Bytes;
use super::fit::{MIN_ROWS, PerceptronConfig, mean_prediction};
use super::network::Network;
use super::packed::Packed;
use super::rows::{Entry, SparseRows};
use super::scale::{Scale, mean_std};
use crate::error::Error;
use crate::oracle::held_out::HeldOut;

const MAX_SIZE: usize = 1 << 12;
/// Share of the rows that is trained on.
const TRAIN_SHARE: f64 = 0.9;
/// Share of the held-out rows that counts as the best.
const BEST_SHARE: f64 = 0.1;

/// Which surrogate a file of weights belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::oracle) struct Kind {
    pub(in crate::oracle) name: &'static str,
    pub(in crate::oracle) magic: &'static str,
    pub(in crate::oracle) n_features: usize,
    /// By ranks, or only standardised.
    pub(in crate::oracle) ranked: bool,
}

/// See above.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::oracle) struct Distilled {
    kind: Kind,
    packed: Vec<Packed>,
    members: Vec<Network>,
    scale: Scale,
    pub(in crate::oracle) held_out: HeldOut,
    pub(in crate::oracle) held_out_best: HeldOut,
}

impl Distilled {
    /// Trains on the train part of [`split_reference`] and measures the packed networks on the other tenth.
    pub(in crate::oracle) fn fit(
        kind: Kind,
        config: &PerceptronConfig,
        rows: &SparseRows,
        scores: &[f64],
        progress: &(dyn Fn(usize, usize, f64) + Sync),
    ) -> Result<Distilled, Error> {
        if rows.len() < MIN_ROWS {
            return Err(Error::TooFewRows { n_rows: rows.len(), wanted: MIN_ROWS });
        }
        let split = split_reference(rows.len(), TRAIN_SHARE);
        let scaled = if kind.ranked { Scale::ranked } else { Scale::standardised };
        let (scale, targets) = scaled(scores, &split.train);
        let members = config.fit(kind.n_features, rows, &targets, &split.train, progress);
        let packed: Vec<Packed> = members.iter().map(Packed::new).collect();
        let members = packed.iter().map(Packed::unpack).collect();
        let [held_out, held_out_best] = [HeldOut::default(); 2];
        let mut distilled = Distilled { kind, packed, members, scale, held_out, held_out_best };
        let (mean, std) = mean_std(scores, &split.train);
        let compare = |&row: &usize| {
            let found = distilled.score(rows.row(row));
            [found, scores[row]].map(|score| (score - mean) / std)
        };
        let mut pairs: Vec<[f64; 2]> = split.test.par_iter().map(compare).collect();
        let held_out = HeldOut::of_pairs(&pairs);
        pairs.sort_by(|a, b| b[1].total_cmp(&a[1]));
        let n_best = (pairs.len() as f64 * BEST_SHARE).ceil() as usize;
        (distilled.held_out, distilled.held_out_best) = (held_out, HeldOut::of_pairs(&pairs[..n_best]));
        Ok(distilled)
    }

    /// The score of a row of features.
    pub(in crate::oracle) fn score(&self, row: &[Entry]) -> f64 {
        self.scale.score(mean_prediction(&self.members, row))
    }

    /// All there is to keep.
    pub(in crate::oracle) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.kind.magic.as_bytes().to_vec();
        let sizes = [self.members.len(), self.kind.n_features, self.members[0].width(), self.scale.knots().len()];
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
    pub(in crate::oracle) fn from_bytes(kind: Kind, bytes: &[u8]) -> Result<Distilled, Error> {
        let mut bytes = Bytes::after(bytes, kind.magic, kind.name)?;
        let [n_members, n_features, width, n_knots] = [bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?];
        if ![n_members, width, n_knots].iter().all(|size| (1..=MAX_SIZE).contains(size)) {
            return Err(bytes.wrong(format!("{n_members} networks of width {width} and {n_knots} knots make no sense")));
        }
        if n_features != kind.n_features {
            return Err(bytes.wrong(format!("they read {n_features} features where {} are known", kind.n_features)));
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
        Ok(Distilled { kind, packed, members, scale, held_out, held_out_best })
    }
}
