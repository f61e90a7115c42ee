//! The weights of an [`NaSurrogate`] as bytes.
//!
//! ```text
//! "PACE-NA1"  members: u32  width: u32  held-out rows: u64  mean std rmse pearson spearman: f64 each
//! then the parameters of each member: f32 each; everything little-endian
//! ```

use super::NaSurrogate;
use super::features::N_FEATURES;
use crate::error::Error;
use crate::perceptron::{Bytes, HeldOut, Network};

const MAGIC: &str = "PACE-NA1";
const MAX_SIZE: usize = 1 << 12;

impl NaSurrogate {
    /// The weights as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend((self.members.len() as u32).to_le_bytes());
        bytes.extend((self.members[0].width() as u32).to_le_bytes());
        bytes.extend((self.held_out.n_rows as u64).to_le_bytes());
        let HeldOut { rmse, pearson, spearman, .. } = self.held_out;
        bytes.extend([self.mean, self.std, rmse, pearson, spearman].iter().flat_map(|value| value.to_le_bytes()));
        let parameters = self.members.iter().flat_map(|member| member.parameters());
        bytes.extend(parameters.flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// Reads what [`NaSurrogate::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<NaSurrogate, Error> {
        let mut bytes = Bytes::after(bytes, MAGIC, "na")?;
        let (n_members, width) = (bytes.u32()?, bytes.u32()?);
        if !(1..=MAX_SIZE).contains(&n_members) || !(1..=MAX_SIZE).contains(&width) {
            return Err(bytes.wrong(format!("{n_members} networks of width {width} make no sense")));
        }
        let n_rows = bytes.u64()?;
        let (mean, std) = (bytes.f64()?, bytes.f64()?);
        let held_out = HeldOut { rmse: bytes.f64()?, pearson: bytes.f64()?, spearman: bytes.f64()?, n_rows };
        let n_weights = Network::n_parameters(N_FEATURES, width);
        bytes.expect_left(n_members * n_weights * size_of::<f32>())?;
        let weights = bytes.f32s(n_members * n_weights)?;
        if !mean.is_finite() || !std.is_finite() || !weights.iter().all(|weight| weight.is_finite()) {
            return Err(bytes.wrong("some are not finite"));
        }
        let members = weights.chunks_exact(n_weights);
        let network = |weights: &[f32]| Network::from_parameters(N_FEATURES, width, weights.to_vec());
        Ok(NaSurrogate { members: members.filter_map(network).collect(), mean, std, held_out })
    }
}
