//! The weights of an [`NaSurrogate`] as bytes.
//!
//! ```text
//! "PACE-NA1"  members: u32  width: u32  held-out rows: u64  mean std rmse pearson spearman: f64 each
//! then the parameters of each member: f32 each; everything little-endian
//! ```

use super::network::Network;
use super::{HeldOut, NaSurrogate};
use crate::error::Error;

const MAGIC: &[u8; 8] = b"PACE-NA1";
const MAX_SIZE: usize = 1 << 12;

impl NaSurrogate {
    /// All there is to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
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
        let wrong = |reason: &str| Error::Weights { surrogate: "na", reason: reason.to_owned() };
        let cut = || wrong("they are cut off");
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(|| wrong("they do not start with PACE-NA1"))?;
        let n_members = u32::from_le_bytes(take(&mut rest).ok_or_else(cut)?) as usize;
        let width = u32::from_le_bytes(take(&mut rest).ok_or_else(cut)?) as usize;
        if !(1..=MAX_SIZE).contains(&n_members) || !(1..=MAX_SIZE).contains(&width) {
            return Err(wrong(&format!("{n_members} networks of width {width} make no sense")));
        }
        let n_rows = u64::from_le_bytes(take(&mut rest).ok_or_else(cut)?) as usize;
        let mut number = || take(&mut rest).map(f64::from_le_bytes).ok_or_else(cut);
        let (mean, std) = (number()?, number()?);
        let held_out = HeldOut { rmse: number()?, pearson: number()?, spearman: number()?, n_rows };
        let wanted = n_members * Network::n_parameters(width) * size_of::<f32>();
        if rest.len() != wanted {
            return Err(wrong(&format!("{} bytes of weights where {wanted} are due", rest.len())));
        }
        let weights: Vec<f32> = rest.as_chunks().0.iter().map(|&four: &[u8; 4]| f32::from_le_bytes(four)).collect();
        if !mean.is_finite() || !std.is_finite() || !weights.iter().all(|weight| weight.is_finite()) {
            return Err(wrong("some are not finite"));
        }
        let members = weights.chunks_exact(Network::n_parameters(width));
        let members = members.filter_map(|weights| Network::from_parameters(width, weights.to_vec())).collect();
        Ok(NaSurrogate { members, mean, std, held_out })
    }
}

/// The next bytes of a number.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*bytes)
}
