//! The loop: a search asks in rounds, workers of this process and of others answer.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use pace_graph::Dag;
use pace_search::strategy::Strategy;
use pace_search::{Claim, Study, keep};

use super::Scorer;

/// Between looks at a study that others write.
const LOOK: Duration = Duration::from_millis(100);
/// How long a claim outlives its worker, where nobody notices a death. It is renewed as long as the worker lives.
const LEASE: Duration = Duration::from_secs(60);

/// What a search asks and what was answered, for all workers of this process.
pub type Shared = Mutex<Box<dyn Study>>;

/// What happened, for a progress bar.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Queries that have an answer.
    pub n_answered: usize,
    /// The best score so far.
    pub best: Option<f64>,
}

/// Asks `budget` queries, `batch` at a time, and answers them by `workers` threads of this process, unless others are faster.
///
/// # Errors
/// Those of the strategy and the study.
pub fn drive(
    strategy: &mut dyn Strategy,
    study: &Shared,
    scorer: &Scorer,
    (budget, batch, workers): (usize, usize, usize),
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<()> {
    loop {
        {
            let mut study = locked(study);
            study.poll()?;
            observe(progress(&**study));
            if study.history().pending().next().is_none() {
                let left = budget.saturating_sub(study.history().n_asked());
                let mut candidates =
                    if left == 0 { Vec::new() } else { strategy.propose(study.history(), batch.min(left))? };
                candidates.truncate(left);
                if candidates.is_empty() {
                    return Ok(());
                }
                // If another host has asked meanwhile, its queries are there now.
                study.ask(candidates)?;
            }
        }
        answer_pending(study, scorer, workers, observe)?;
    }
}

/// Answers the queries of another process until there are no more.
///
/// # Errors
/// Those of the study.
pub fn answer_all(
    study: &Shared,
    scorer: &Scorer,
    (budget, workers): (usize, usize),
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<()> {
    loop {
        answer_pending(study, scorer, workers, observe)?;
        let answered = {
            let mut study = locked(study);
            study.poll()?;
            observe(progress(&**study));
            progress(&**study).n_answered
        };
        if answered >= budget {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Answers what is asked, and waits for the answers of others.
fn answer_pending(study: &Shared, scorer: &Scorer, workers: usize, observe: &(dyn Fn(Progress) + Sync)) -> Result<()> {
    let worker = worker();
    let work = || -> Result<()> {
        loop {
            match next(study, &worker)? {
                Next::Query(claim, dag) => {
                    let outcome = keep(study, &claim, LEASE, || scorer.score(claim.id, &dag));
                    let mut study = locked(study);
                    // The first answer holds: somebody may have answered by hand.
                    study.tell(&[(claim.id, outcome)])?;
                    observe(progress(&**study));
                }
                // Others evaluate what is left.
                Next::Taken => std::thread::sleep(LOOK),
                Next::None => return Ok(()),
            }
        }
    };
    if workers == 0 {
        loop {
            let mut study = locked(study);
            study.poll()?;
            observe(progress(&**study));
            if study.history().pending().next().is_none() {
                return Ok(());
            }
            drop(study);
            std::thread::sleep(LOOK);
        }
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

enum Next {
    /// A query that is ours.
    Query(Claim, Dag),
    /// All pending queries have a worker.
    Taken,
    /// Nothing is pending.
    None,
}

fn next(study: &Shared, worker: &str) -> Result<Next> {
    let mut study = locked(study);
    Ok(match study.claim(worker, LEASE)? {
        Some(claim) => {
            let dag = study.history().entries()[claim.id].candidate.dag.clone();
            Next::Query(claim, dag)
        }
        None if study.history().pending().next().is_some() => Next::Taken,
        None => Next::None,
    })
}

/// The name of this process among those of all hosts.
fn worker() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "some host" } else { host.trim() };
    format!("process {} on {host}", std::process::id())
}

fn progress(study: &dyn Study) -> Progress {
    let history = study.history();
    Progress { n_answered: history.n_answered(), best: history.best().map(|(_, score)| score) }
}

/// A worker that panicked has told nothing, so the study is whole.
fn locked(study: &Shared) -> MutexGuard<'_, Box<dyn Study>> {
    study.lock().unwrap_or_else(PoisonError::into_inner)
}
