//! [`SearchOutcome`]: what the searches found.

use anyhow::Result;
use pace_search::{Curve, Trace};
use pace_train::record::{Metric, MetricSpec, Run};

use super::method::MethodId;
use super::start::StartId;
use crate::report::{Line, Report, band_line, line_chart};

/// The searches of one kind, one trace per seed. A search ends with the optimum.
#[derive(Clone, Debug)]
pub struct Searches {
    /// What it knew before.
    pub start: StartId,
    /// Queries per round.
    pub batch: usize,
    /// The method.
    pub method: MethodId,
    /// What it asked.
    pub traces: Vec<Trace>,
}

/// What all searches found.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// The comparison of methods.
    pub searches: Vec<Searches>,
    /// The best score so far after each query of the searches that decode vectors.
    pub latent: Vec<Curve>,
    /// The best score among the graphs that these and the searches from the best graphs start from.
    pub start_best: f64,
    /// The best score there is, if it is known.
    pub optimum: Option<f64>,
    /// Queries that a search may ask.
    pub budget: usize,
    /// Graphs that are known at the start, unless it is the empty graph.
    pub n_known: usize,
}

impl Searches {
    /// The end of the ids of its numbers, e.g. `hill_empty_5`; the plain name from the best graphs, one query at a time.
    fn suffix(&self) -> String {
        let start = if self.start == StartId::Best { String::new() } else { format!("_{}", self.start.name()) };
        let batch = if self.batch == 1 { String::new() } else { format!("_{}", self.batch) };
        format!("{}{start}{batch}", self.method.name())
    }

    /// In words.
    fn title(&self, n_known: usize) -> String {
        let batch = if self.batch == 1 { "one at a time".to_owned() } else { format!("{} at a time", self.batch) };
        format!("{}, from {}, {batch}", self.method.title(), self.start.title(n_known))
    }

    /// The best score of each search, the known ones included.
    pub fn finals(&self, known: f64) -> Vec<f64> {
        self.traces.iter().map(|trace| trace.best().map_or(known, |best| best.max(known))).collect()
    }

    /// The share of searches that reach the optimum, in percent, and the median number of queries until then; a search that does
    /// not reach it counts as the whole budget and one more.
    pub fn until(&self, optimum: f64, budget: usize) -> (f64, f64) {
        let mut queries: Vec<usize> =
            self.traces.iter().map(|trace| trace.queries_until(optimum).unwrap_or(budget + 1)).collect();
        queries.sort_unstable();
        let n = queries.len();
        let reached = queries.iter().filter(|&&queries| queries <= budget).count();
        let median = 0.5 * (queries[(n - 1) / 2] + queries[n / 2]) as f64;
        (100.0 * reached as f64 / n as f64, median)
    }
}

impl SearchOutcome {
    /// The searches on PACE vectors from the best graphs, one query at a time.
    fn ours(&self) -> Option<&Searches> {
        self.searches.iter().find(|s| (s.method, s.start, s.batch) == (MethodId::Pace, StartId::Best, 1))
    }

    /// The best score that each of them found.
    pub fn finals(&self) -> Vec<f64> {
        self.ours().map_or_else(Vec::new, |ours| ours.finals(self.start_best))
    }

    /// How far below the optimum each of them ended; empty if the optimum is not known.
    pub fn regrets(&self) -> Vec<f64> {
        self.optimum.map_or_else(Vec::new, |optimum| self.finals().iter().map(|best| optimum - best).collect())
    }

    /// What each search that decodes vectors ended with.
    pub fn latent_finals(&self) -> Vec<f64> {
        self.latent.iter().filter_map(|curve| curve.values.last().copied()).collect()
    }

    /// Records the comparison of methods, from the best start to the hardest.
    pub fn record(&self, run: &mut Run) {
        for searches in &self.searches {
            let (suffix, title) = (searches.suffix(), searches.title(self.n_known));
            let row = |id: &str, what: &str| MetricSpec {
                id: format!("{id}_{suffix}").into(),
                title: format!("{what}: {title}").into(),
                ..MetricSpec::new("", "")
            };
            match self.optimum {
                Some(optimum) => {
                    let (share, median) = searches.until(optimum, self.budget);
                    let n = searches.traces.len();
                    let once = |value: f64| Metric { n, ..Metric::once(value) };
                    let queries = row(
                        "queries_to_optimum",
                        &format!(
                            "median queries until the proven optimum ({} if most do not reach it)",
                            self.budget + 1
                        ),
                    )
                    .decimals(1);
                    run.metric(&queries.lower(), once(median));
                    let reached = row("share_at_optimum", "searches that reach it").unit("%").decimals(0);
                    run.metric(&reached.higher(), once(share));
                }
                None => {
                    let known = if searches.start == StartId::Best { self.start_best } else { f64::NEG_INFINITY };
                    let found = row("best_of", "best score after all queries").decimals(5);
                    run.metric(&found.higher(), Metric::over(&searches.finals(known)));
                }
            }
        }
    }

    /// Adds a plot for each start, one query at a time, and one of the searches that decode.
    ///
    /// # Errors
    /// If a plot cannot be drawn.
    pub fn plot(&self, page: &mut Report) -> Result<()> {
        let mut starts: Vec<StartId> = self.searches.iter().map(|searches| searches.start).collect();
        starts.dedup();
        for start in starts {
            page.heading(&format!("Search from {}", start.title(self.n_known)));
            let lines: Vec<Line> = self
                .searches
                .iter()
                .filter(|searches| (searches.start, searches.batch) == (start, 1))
                .map(|searches| {
                    let curves: Vec<Curve> = searches.traces.iter().map(Trace::best_so_far).collect();
                    band_line(searches.method.title(), &curves, 0)
                })
                .collect();
            page.plot(line_chart("best score asked so far, mean and 95 % band of the mean, by query", &lines));
        }
        if !self.latent.is_empty() {
            page.heading("Search by decoding vectors");
            let lines = [band_line("rounds of 50", &self.latent, 0)];
            page.plot(line_chart("best score asked so far, mean and 95 % band of the mean, by query", &lines));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searches(scores: &[&[f64]]) -> Searches {
        let traces = scores.iter().map(|scores| Trace::of(scores.iter().map(|&score| Some(score)))).collect();
        Searches { start: StartId::Empty, batch: 5, method: MethodId::Hill, traces }
    }

    #[test]
    fn a_search_that_misses_the_optimum_counts_as_more_than_the_budget() {
        let found = searches(&[&[-3.0, -1.0], &[-2.0, -2.0, -2.0, -2.0], &[-1.0], &[-3.0, -3.0, -1.0]]);
        assert_eq!(found.until(-1.0, 4), (75.0, 2.5));
        let found = searches(&[&[-3.0, -3.0], &[-1.0, -1.0], &[-3.0, -3.0]]);
        assert_eq!(found.until(-1.0, 2), (100.0 / 3.0, 3.0));
    }

    #[test]
    fn ids_tell_starts_and_rounds_apart() {
        let hill = searches(&[]);
        assert_eq!(hill.suffix(), "hill_empty_5");
        assert_eq!(Searches { start: StartId::Best, batch: 1, ..hill }.suffix(), "hill");
    }

    #[test]
    fn what_was_known_counts_as_found() {
        assert_eq!(searches(&[&[-3.0], &[-1.0]]).finals(-2.0), [-2.0, -1.0]);
    }
}
