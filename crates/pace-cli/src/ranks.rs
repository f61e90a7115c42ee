//! The processes that work together: those that `mpirun` or `srun` started, or this one alone.

use anyhow::Result;
use pace_train::collective::{Alone, Collective};

/// Where launchers say how many processes they have started: Open MPI, MPICH and Intel, Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// How many processes the launcher of this one has started.
fn launched() -> usize {
    SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok()).unwrap_or(1)
}

/// Does `work` together with the other processes. If it fails in one, all end.
///
/// # Errors
/// Those of `work`; or if this program cannot talk to the others.
#[cfg(feature = "mpi")]
pub fn together(work: impl FnOnce(&dyn Collective) -> Result<()>) -> Result<()> {
    use pace_train::collective::Mpi;
    // Without a launcher nobody has to be asked, and nothing has to be installed.
    if launched() == 1 {
        return work(&Alone);
    }
    let ranks = Mpi::start().ok_or_else(|| anyhow::anyhow!("MPI has been started before"))?;
    let outcome = work(&ranks);
    match &outcome {
        Ok(()) => ranks.end(),
        // The others would wait for this one for ever; dropping the world ends them.
        Err(error) => {
            eprintln!("pace: rank {}: {}", ranks.rank(), pace_kit::sentence(error));
            drop(ranks);
        }
    }
    outcome
}

/// Does `work` alone.
///
/// # Errors
/// Those of `work`; or if there are others, with which this program cannot talk.
#[cfg(not(feature = "mpi"))]
pub fn together(work: impl FnOnce(&dyn Collective) -> Result<()>) -> Result<()> {
    let n_processes = launched();
    if n_processes > 1 {
        anyhow::bail!(
            "{n_processes} processes were started, and this `pace` was built without MPI: each would do the whole work; install it with \
             `cargo install --path crates/pace-cli --features mpi`"
        );
    }
    work(&Alone)
}
