//! The loop: a search asks in rounds, workers of this process and of others answer.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use pace_graph::Dag;
use pace_search::strategy::Strategy;
use pace_search::{Journal, Outcome};

use super::claim::{Claim, Claims};
use super::{Scorer, Study};

/// Between looks at a journal that others write.
const LOOK: Duration = Duration::from_millis(100);

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
/// Those of the strategy and the journal.
pub fn drive(
    strategy: &mut dyn Strategy,
    journal: &Mutex<Journal>,
    dir: &Path,
    scorer: &Scorer,
    (budget, batch, workers): (usize, usize, usize),
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<()> {
    let claims = Claims::in_folder(&Study::claims(dir))?;
    loop {
        {
            let mut journal = locked(journal);
            journal.poll()?;
            observe(progress(&journal));
            if journal.history().pending().next().is_none() {
                let left = budget.saturating_sub(journal.history().n_asked());
                let mut candidates =
                    if left == 0 { Vec::new() } else { strategy.propose(journal.history(), batch.min(left))? };
                candidates.truncate(left);
                if candidates.is_empty() {
                    return Ok(());
                }
                journal.ask(candidates)?;
            }
        }
        answer_pending(journal, &claims, scorer, workers, observe)?;
    }
}

/// Answers the queries of another process until there are no more.
///
/// # Errors
/// Those of the journal.
pub fn answer_all(
    journal: &Mutex<Journal>,
    dir: &Path,
    scorer: &Scorer,
    (budget, workers): (usize, usize),
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<()> {
    let claims = Claims::in_folder(&Study::claims(dir))?;
    loop {
        answer_pending(journal, &claims, scorer, workers, observe)?;
        let answered = {
            let mut journal = locked(journal);
            journal.poll()?;
            observe(progress(&journal));
            progress(&journal).n_answered
        };
        if answered >= budget {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Answers what is asked, and waits for the answers of others.
fn answer_pending(
    journal: &Mutex<Journal>,
    claims: &Claims,
    scorer: &Scorer,
    workers: usize,
    observe: &(dyn Fn(Progress) + Sync),
) -> Result<()> {
    let work = || -> Result<()> {
        loop {
            match next(journal, claims)? {
                Next::Query(id, dag, claim) => {
                    let outcome = scorer.score(id, &dag);
                    tell(journal, id, outcome)?;
                    claims.forget(id);
                    drop(claim);
                    observe(progress(&locked(journal)));
                }
                // Others evaluate what is left.
                Next::Taken => std::thread::sleep(LOOK),
                Next::None => return Ok(()),
            }
        }
    };
    if workers == 0 {
        loop {
            let mut journal = locked(journal);
            journal.poll()?;
            observe(progress(&journal));
            if journal.history().pending().next().is_none() {
                return Ok(());
            }
            drop(journal);
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
    Query(usize, Dag, Claim),
    /// All pending queries have a worker.
    Taken,
    /// Nothing is pending.
    None,
}

fn next(journal: &Mutex<Journal>, claims: &Claims) -> Result<Next> {
    let pending: Vec<usize> = {
        let mut journal = locked(journal);
        journal.poll()?;
        journal.history().pending().map(|entry| entry.id).collect()
    };
    if pending.is_empty() {
        return Ok(Next::None);
    }
    for id in pending {
        let Some(claim) = claims.take(id)? else { continue };
        // It may have been answered between our look and our claim.
        let mut journal = locked(journal);
        journal.poll()?;
        let entry = &journal.history().entries()[id];
        if entry.outcome.is_none() {
            return Ok(Next::Query(id, entry.candidate.dag.clone(), claim));
        }
        claims.forget(id);
    }
    Ok(Next::Taken)
}

/// The first answer holds: somebody may have answered by hand.
fn tell(journal: &Mutex<Journal>, id: usize, outcome: Outcome) -> Result<()> {
    locked(journal).tell(&[(id, outcome)])?;
    Ok(())
}

fn progress(journal: &Journal) -> Progress {
    let history = journal.history();
    Progress { n_answered: history.n_asked() - history.pending().count(), best: history.best().map(|(_, score)| score) }
}

/// A worker that panicked has told nothing, so the journal is whole.
fn locked(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
