//! The threads of a training step.
//!
//! A step on small graphs is some twenty short parallel sections in a few milliseconds. A section that starts outside rayon's pool
//! puts the caller to sleep and wakes two workers. One that starts on a worker still has to wake the others, which fall asleep
//! within microseconds. The system's scheduler then takes a seventh of the step. So a step runs on a worker, and the other workers
//! keep looking for work until it is over, as those of OpenMP do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A worker that finds no work for so long goes to sleep: then the step waits for something else.
const PATIENCE: Duration = Duration::from_millis(2);

/// The most workers that stay awake: more would slow each other down while they look for work.
const MOST_AWAKE: usize = 8;

/// Runs `step` on a worker of rayon's pool while the others stay awake.
///
/// Called on a worker, it just runs `step`.
pub fn together<R: Send>(step: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() || rayon::current_num_threads() == 1 {
        return step();
    }
    let done = Done(AtomicBool::new(false));
    let (done, mut outcome) = (&done, None);
    rayon::scope(|scope| {
        let own = rayon::current_thread_index();
        scope.spawn_broadcast(move |_, worker| {
            if Some(worker.index()) != own && worker.index() < MOST_AWAKE {
                stay_awake(&done.0);
            }
        });
        // Lets them go even if the step panics.
        let _end = End(done);
        outcome = Some(step());
    });
    outcome.expect("a scope ends with its work done")
}

/// Does whatever the pool has to do until `done`.
fn stay_awake(done: &AtomicBool) {
    let (mut idle, mut rounds) = (Instant::now(), 0_u32);
    while !done.load(Ordering::Relaxed) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            (idle, rounds) = (Instant::now(), 0);
            continue;
        }
        std::hint::spin_loop();
        rounds += 1;
        // Reading the clock costs as much as looking for work.
        if rounds.is_multiple_of(256) && idle.elapsed() > PATIENCE {
            return;
        }
    }
}

/// Whether the step is over.
struct Done(AtomicBool);

/// Says so when dropped.
struct End<'a>(&'a Done);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::together;
    use rayon::prelude::{IntoParallelIterator, ParallelIterator};

    #[test]
    fn work_is_done_once_and_inside_the_pool() {
        let sum = || (0..1000_u64).into_par_iter().sum::<u64>();
        let (inside, total) = together(|| (rayon::current_thread_index().is_some(), sum()));
        assert!(inside || rayon::current_num_threads() == 1);
        assert_eq!(total, 499_500);
        // Steps inside steps, and many at a time, end too.
        assert_eq!(together(|| together(sum)), 499_500);
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(move || together(|| (0..50).map(|_| together(sum)).sum::<u64>())))
            .collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 50 * 499_500));
    }

    #[test]
    #[should_panic(expected = "no")]
    fn a_panic_comes_back() {
        together(|| panic!("no"));
    }
}
