//! [`run`]: ask, evaluate, tell, until the budget is spent.

use pace_graph::Dag;

use crate::candidate::Candidate;
use crate::curve::Trace;
use crate::error::Error;
use crate::history::{Entry, History, Outcome};
use crate::oracle::Oracle;
use crate::strategy::Strategy;
use crate::study::{Header, Journal, Study};

/// One step of a search: a query and its answer.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// The query that was just answered.
    pub entry: &'a Entry,
    /// The best score so far.
    pub best: Option<f64>,
    /// How many queries were asked.
    pub n_asked: usize,
    /// How many queries the search may ask.
    pub budget: usize,
}

impl<'a> Step<'a> {
    /// The step that answered a query.
    pub(crate) fn of(history: &'a History, id: usize, budget: usize) -> Step<'a> {
        let best = history.best().map(|(_, score)| score);
        Step { entry: &history.entries()[id], best, n_asked: history.n_asked(), budget }
    }
}

/// Asks and answers `budget` queries, `batch` at a time. A study that holds queries already is resumed.
///
/// Queries without an answer come first. Each answer is written before the next evaluation begins. So a kill costs one
/// evaluation at most, and a resumed search has the trace of a search that was never killed. If the oracle returns an error,
/// or a score that is not finite, the query counts as failed and the search continues. The search ends early if the strategy
/// has nothing left to ask.
///
/// A larger budget continues a finished search. Only the last round of the finished search may be shorter than it would
/// have been.
///
/// This process evaluates every query that others have not answered. [`run_shared`](crate::run_shared) divides the queries
/// among processes.
pub fn run(
    strategy: &mut dyn Strategy,
    oracle: &dyn Oracle,
    study: &mut dyn Study,
    budget: usize,
    batch: usize,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Trace, Error> {
    check_batch(batch)?;
    loop {
        study.poll()?;
        loop {
            let next = study.history().pending().next().map(|entry| (entry.id, evaluate(oracle, &entry.candidate.dag)));
            let Some((id, outcome)) = next else { break };
            // Another process may have answered meanwhile. The first answer holds, and the search continues with it.
            study.tell(&[(id, outcome)])?;
            progress(Step::of(study.history(), id, budget));
        }
        let candidates = next_round(strategy, study.history(), budget, batch)?;
        if candidates.is_empty() {
            return Ok(study.history().trace());
        }
        study.ask(candidates)?;
    }
}

/// The queries of the next round; empty at the end of the search.
pub(crate) fn next_round(
    strategy: &mut dyn Strategy,
    history: &History,
    budget: usize,
    batch: usize,
) -> Result<Vec<Candidate>, Error> {
    let n_asked = history.n_asked();
    // Published loops exceed the budget, one query at a time.
    let left = match budget.saturating_sub(n_asked) {
        0 if n_asked < budget + strategy.overrun() => 1,
        left => left,
    };
    if left == 0 {
        return Ok(Vec::new());
    }
    let mut candidates = strategy.propose(history, batch.min(left))?;
    candidates.truncate(left);
    Ok(candidates)
}

/// Errs if rounds would be empty.
pub(crate) fn check_batch(batch: usize) -> Result<(), Error> {
    if batch == 0 {
        return Err(Error::BadSetting { name: "batch", value: "0".to_owned(), range: "a round asks at least 1 query" });
    }
    Ok(())
}

/// As [`run`], without a file. For experiments over many seeds.
pub fn run_in_memory(
    strategy: &mut dyn Strategy,
    oracle: &dyn Oracle,
    budget: usize,
    batch: usize,
) -> Result<Trace, Error> {
    let mut journal = Journal::in_memory(Header::new("in memory", 0, serde_json::Value::Null));
    run(strategy, oracle, &mut journal, budget, batch, &mut |_| {})
}

/// What an oracle says to one graph, as an answer.
pub(crate) fn evaluate(oracle: &dyn Oracle, dag: &Dag) -> Outcome {
    match oracle.evaluate(std::slice::from_ref(dag)) {
        Ok(scores) if scores.len() == 1 => Outcome::of(scores[0]),
        Ok(scores) => Outcome::Failed(format!("the oracle gave {} scores for one graph", scores.len())),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
