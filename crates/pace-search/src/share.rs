//! [`run_shared`] and [`answer`]: one search by any number of processes, on any number of hosts.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::curve::Trace;
use crate::error::Error;
use crate::oracle::Oracle;
use crate::run::{Step, check_batch, evaluate, next_round};
use crate::strategy::Strategy;
use crate::study::{Claim, Study};

/// A lease is renewed so many times before it would end, so that a slow network costs no claim.
const RENEWALS: u32 = 3;
/// Between two renewals, however short the lease.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Who evaluates, and how patiently.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its name, for people who look at the claims.
    pub name: String,
    /// How long a claim outlives a worker that died.
    pub lease: Duration,
    /// The time between two looks at queries that others evaluate.
    pub look: Duration,
}

impl Worker {
    /// A worker whose claims outlive it by a minute, and which looks ten times a second.
    pub fn new(name: &str) -> Worker {
        Worker { name: name.to_owned(), lease: Duration::from_secs(60), look: Duration::from_millis(100) }
    }
}

/// As [`run`](crate::run), but each query is evaluated by the one process that claims it.
///
/// Every process runs the same strategy with the same seed on the same study. When all queries are answered, they all propose
/// the same round, because a strategy follows from the history; the first one asks it. So the trace is that of a search by a
/// single process, whichever of them die.
///
/// On a file only one process can open the journal to ask; the others [`join`](crate::Journal::join) it and call
/// [`answer`].
pub fn run_shared(
    strategy: &mut dyn Strategy,
    oracle: &dyn Oracle,
    study: &mut dyn Study,
    (budget, batch): (usize, usize),
    worker: &Worker,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Trace, Error> {
    check_batch(batch)?;
    let study = Mutex::new(study);
    loop {
        while let Some(id) = answer_next(&study, oracle, worker)? {
            progress(Step::of(locked(&study).history(), id, budget));
        }
        // Whoever finds nothing to claim has read everything.
        let mut study = locked(&study);
        if study.history().pending().next().is_some() {
            drop(study);
            std::thread::sleep(worker.look);
            continue;
        }
        let candidates = next_round(strategy, study.history(), budget, batch)?;
        if candidates.is_empty() {
            return Ok(study.history().trace());
        }
        study.ask(candidates)?;
    }
}

/// Answers queries that another process asks, until `budget` of them have an answer.
pub fn answer(
    oracle: &dyn Oracle,
    study: &mut dyn Study,
    budget: usize,
    worker: &Worker,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<(), Error> {
    let study = Mutex::new(study);
    loop {
        while let Some(id) = answer_next(&study, oracle, worker)? {
            progress(Step::of(locked(&study).history(), id, budget));
        }
        let n_answered = locked(&study).history().n_answered();
        if n_answered >= budget {
            return Ok(());
        }
        std::thread::sleep(worker.look);
    }
}

/// Claims a query, evaluates it and tells the answer. Returns its number; `None` if there was nothing to claim.
fn answer_next(study: &Mutex<impl Study>, oracle: &dyn Oracle, worker: &Worker) -> Result<Option<usize>, Error> {
    let claimed = {
        let mut study = locked(study);
        let claim = study.claim(&worker.name, worker.lease)?;
        claim.map(|claim| (study.history().entries()[claim.id].candidate.dag.clone(), claim))
    };
    let Some((dag, claim)) = claimed else { return Ok(None) };
    let outcome = keep(study, &claim, worker.lease, || evaluate(oracle, &dag));
    // If the lease ended all the same, the first answer holds.
    locked(study).tell(&[(claim.id, outcome)])?;
    Ok(Some(claim.id))
}

/// Works on a query, and renews the lease of its claim as long as that takes.
///
/// A claim that ended all the same does not end the work: its answer may still be the first one.
pub fn keep<T>(study: &Mutex<impl Study>, claim: &Claim, lease: Duration, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        // Dropped when the work has ended, even by a panic.
        let (_working, ended) = channel::<()>();
        let pause = (lease / RENEWALS).max(SHORTEST_PAUSE);
        scope.spawn(move || {
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // What prevents a renewal will prevent the answer, too, and is reported then.
                if matches!(locked(study).renew(claim, lease), Ok(false)) {
                    return;
                }
            }
        });
        work()
    })
}

/// A thread that panicked has told nothing, so the study is whole.
fn locked<S>(study: &Mutex<S>) -> MutexGuard<'_, S> {
    study.lock().unwrap_or_else(PoisonError::into_inner)
}
