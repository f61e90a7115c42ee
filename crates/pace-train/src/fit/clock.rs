//! [`Clock`]: how long a training took, without the time of those who watch it.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// Time spent on a training, of all processes that worked on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// By the wall.
    pub(crate) seconds: f64,
    /// On all cores together: what a training costs on a machine that does other things, too.
    pub(crate) cpu_seconds: f64,
}

/// A stopwatch that can be held.
pub(super) struct Clock {
    start: Instant,
    cpu: ProcessTime,
    earlier: Spent,
    held: (Duration, Duration),
}

impl Clock {
    /// Starts, after what earlier processes spent.
    pub(super) fn start(earlier: Spent) -> Clock {
        Clock { start: Instant::now(), cpu: ProcessTime::now(), earlier, held: Default::default() }
    }

    /// Runs something that does not count.
    pub(super) fn hold<R>(&mut self, run: impl FnOnce() -> R) -> R {
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        let result = run();
        self.held.0 += start.elapsed();
        self.held.1 += cpu.elapsed();
        result
    }

    /// What was spent so far.
    pub(super) fn spent(&self) -> Spent {
        let since = |elapsed: Duration, held: Duration| elapsed.saturating_sub(held).as_secs_f64();
        Spent {
            seconds: self.earlier.seconds + since(self.start.elapsed(), self.held.0),
            cpu_seconds: self.earlier.cpu_seconds + since(self.cpu.elapsed(), self.held.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_does_not_count_and_sleep_costs_no_processor() {
        let mut clock = Clock::start(Spent { seconds: 100.0, cpu_seconds: 50.0 });
        clock.hold(|| std::thread::sleep(Duration::from_millis(300)));
        let spent = clock.spent();
        assert!((100.0..100.25).contains(&spent.seconds), "{spent:?}");
        std::thread::sleep(Duration::from_millis(20));
        assert!(clock.spent().seconds >= 100.02 && clock.spent().cpu_seconds >= 50.0);
    }
}
