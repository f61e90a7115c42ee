//! The threads that compute: a pool per process, because those of a parent do not live on in a forked child.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::marker::Ungil;
use pyo3::{PyResult, Python};
use rayon::ThreadPool;

use crate::error::value;

/// How often a thread that waits looks for signals.
const LISTEN: Duration = Duration::from_millis(50);

static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Computes without the interpreter, on the threads of this process. `PACE_THREADS` says how many; without it, one per core.
pub fn compute<T: Send + Ungil>(
    py: Python<'_>,
    work: impl FnOnce() -> anyhow::Result<T> + Send + Ungil,
) -> PyResult<T> {
    let pool = pool().map_err(value)?;
    py.detach(move || pool.install(work)).map_err(value)
}

/// As [`compute`], for work that may take minutes: at Ctrl-C the flag goes up, and what Python raises for it is the error. Only the thread that
/// called hears of signals, so it listens while the others work.
pub fn compute_until<T: Send + Ungil>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> anyhow::Result<T> + Send + Ungil,
) -> PyResult<T> {
    let pool = pool().map_err(value)?;
    let (outcome, raised) = py.detach(move || {
        let (stop, (done, over)) = (AtomicBool::new(false), channel::<()>());
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let outcome = pool.install(|| work(&stop));
                drop(done);
                outcome
            });
            let mut raised = None;
            while over.recv_timeout(LISTEN) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    raised = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            (worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), raised)
        })
    });
    match raised {
        Some(error) => Err(error),
        None => outcome.map_err(value),
    }
}

fn pool() -> anyhow::Result<Arc<ThreadPool>> {
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::process::id();
    match held.take() {
        Some((process, pool)) if process == own => {
            *held = Some((own, Arc::clone(&pool)));
            return Ok(pool);
        }
        // The threads of a parent are not here: waiting for their end would never end.
        Some((_, foreign)) => std::mem::forget(foreign),
        None => {}
    }
    let n_threads = std::env::var("PACE_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?);
    *held = Some((own, Arc::clone(&pool)));
    Ok(pool)
}
