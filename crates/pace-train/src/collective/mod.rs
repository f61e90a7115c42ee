//! [`Collective`]: the processes that train one model together.
//!
//! Every process ("rank") has the whole model, computes the gradients of its part of each batch, and takes the same step. What
//! they do with each other is [`sum`], and rank 0 telling where the training starts. [`Alone`] is one process, [`Mpi`] an MPI
//! world (feature `mpi`).

mod alone;
#[cfg(feature = "mpi")]
mod mpi;

use std::fmt::Debug;

pub use alone::Alone;
#[cfg(feature = "mpi")]
pub use mpi::Mpi;

/// Processes with the same program, numbered from 0. What fails ends all of them, so no call returns an error.
pub trait Collective: Debug {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends to the process `with` while it sends to us; what arrives fills `receive`.
    fn exchange(&self, with: usize, send: &[f32], receive: &mut [f32]);

    /// Replaces the bytes of all others by those of rank 0.
    fn share(&self, bytes: &mut Vec<u8>);
}

/// Replaces `values` by their sum over all processes, element by element, with the same bits whatever their number.
///
/// The sum is that of a binary tree: rank 0 and 1, rank 2 and 3, then these two sums, and so on. A rank that holds the sum of the
/// left half of a larger tree continues it, so 1, 2, 4, ... ranks with equal leaves end with equal sums. (An `MPI_Allreduce` may
/// add in any order.) Each of the log2 R levels halves what a rank is responsible for; then the sums travel back. A rank sends
/// 2 n (R - 1) / R numbers for n values, which is the least there is: Thakur, Rabenseifner, Gropp, *Optimization of Collective
/// Communication Operations in MPICH*, 2005.
///
/// # Panics
/// If the number of processes is no power of two.
pub fn sum(ranks: &dyn Collective, values: &mut [f32]) {
    let (rank, size) = (ranks.rank(), ranks.size());
    assert!(size.is_power_of_two(), "{size} processes have no binary tree");
    let mut inbox = vec![0.0; if size == 1 { 0 } else { values.len().div_ceil(2) }];
    let (mut own, mut path) = (0..values.len(), Vec::new());
    for level in 0..size.ilog2() {
        let partner = rank ^ (1 << level);
        let middle = own.start + own.len() / 2;
        let (left, right) = (own.start..middle, middle..own.end);
        let (kept, sent) = if rank < partner { (left, right) } else { (right, left) };
        let inbox = &mut inbox[..kept.len()];
        ranks.exchange(partner, &values[sent.clone()], inbox);
        add(&mut values[kept.clone()], inbox);
        path.push((partner, sent));
        own = kept;
    }
    for (partner, sent) in path.into_iter().rev() {
        let inbox = &mut inbox[..sent.len()];
        ranks.exchange(partner, &values[own.clone()], inbox);
        values[sent.clone()].copy_from_slice(inbox);
        own = own.start.min(sent.start)..own.end.max(sent.end);
    }
}

/// Returns when all processes have come here.
pub fn wait(ranks: &dyn Collective) {
    any(ranks, false);
}

/// Whether anyone says so.
pub(crate) fn any(ranks: &dyn Collective, own: bool) -> bool {
    if ranks.size() == 1 {
        return own;
    }
    let mut votes = [f32::from(u8::from(own))];
    sum(ranks, &mut votes);
    votes[0] > 0.0
}

/// `to += from`.
pub(crate) fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
