//! [`Mpi`].

use std::fmt;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Root};

use super::Collective;

/// The processes that `mpirun` or `srun` started. Lives as long as the program; one per process.
///
/// A program that fails drops it, and then all processes end: the others would wait for this one for ever. One that has done its
/// work calls [`end`](Mpi::end).
pub struct Mpi {
    world: SimpleCommunicator,
    /// Ends MPI when dropped.
    universe: Option<Universe>,
}

/// What the longest message holds: MPI counts in 32 bits.
const LONGEST: usize = 1 << 28;

impl Mpi {
    /// Joins the other processes; `None` if this process has done so before.
    pub fn start() -> Option<Mpi> {
        // Only the thread of the training loop talks to the others, the rest of the pool computes.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(Mpi { world: universe.world(), universe: Some(universe) })
    }

    /// Leaves the others after they have come as far, too.
    pub fn end(mut self) {
        drop(self.universe.take());
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // Nobody said that the work is done, so this is an error or a panic.
        if self.universe.is_some() && self.world.size() > 1 {
            self.world.abort(1);
        }
    }
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mpi(rank {} of {})", self.rank(), self.size())
    }
}

impl Collective for Mpi {
    fn rank(&self) -> usize {
        usize::try_from(self.world.rank()).expect("ranks count from 0")
    }

    fn size(&self) -> usize {
        usize::try_from(self.world.size()).expect("there is at least this process")
    }

    fn exchange(&self, with: usize, send: &[f32], receive: &mut [f32]) {
        let partner = self.world.process_at_rank(i32::try_from(with).expect("a rank of this world"));
        // Both sides see the longer of the two lengths, so they send equally many messages.
        let longer = send.len().max(receive.len());
        for start in (0..longer).step_by(LONGEST) {
            let part = |len: usize| start.min(len)..(start + LONGEST).min(len);
            let (out, into) = (part(send.len()), part(receive.len()));
            send_receive_into(&send[out], &partner, &mut receive[into], &partner);
        }
    }

    fn share(&self, bytes: &mut Vec<u8>) {
        let root = self.world.process_at_rank(0);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(usize::try_from(length).expect("it fits the memory of rank 0"), 0);
        bytes.chunks_mut(LONGEST).for_each(|part| root.broadcast_into(part));
    }
}
