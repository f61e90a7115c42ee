//! [`run`]: ask, evaluate, tell, until the budget is spent.

use crate::curve::Trace;
use crate::error::Error;
use crate::history::{Entry, Outcome};
use crate::journal::{Header, Journal};
use crate::oracle::Oracle;
use crate::strategy::Strategy;

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

/// Asks and answers `budget` queries, `batch` at a time. A journal that holds queries already is resumed.
///
/// Queries without an answer come first. Each answer is written before the next evaluation begins. So a kill costs one
/// evaluation at most, and a resumed search has the trace of a search that was never killed. If the oracle returns an error,
/// or a score that is not finite, the query counts as failed and the search continues. The search ends early if the strategy
/// has nothing left to ask.
///
/// A larger budget continues a finished search. Only the last round of the finished search may be shorter than it would
/// have been.
pub fn run(
    strategy: &mut dyn Strategy,
    oracle: &dyn Oracle,
    journal: &mut Journal,
    budget: usize,
    batch: usize,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Trace, Error> {
    if batch == 0 {
        return Err(Error::BadSetting { name: "batch", value: "0".to_owned(), range: "a round asks at least 1 query" });
    }
    loop {
        journal.poll()?;
        loop {
            let next = journal.history().pending().next().map(|entry| (entry.id, evaluate(oracle, entry)));
            let Some((id, outcome)) = next else { break };
            // Another process may have answered meanwhile. The first answer holds, and the search continues with it.
            journal.tell(&[(id, outcome)])?;
            let history = journal.history();
            let best = history.best().map(|(_, score)| score);
            progress(Step { entry: &history.entries()[id], best, n_asked: history.n_asked(), budget });
        }
        let n_asked = journal.history().n_asked();
        // Published loops exceed the budget, one query at a time.
        let left = match budget.saturating_sub(n_asked) {
            0 if n_asked < budget + strategy.overrun() => 1,
            left => left,
        };
        if left == 0 {
            break;
        }
        let mut candidates = strategy.propose(journal.history(), batch.min(left))?;
        candidates.truncate(left);
        if candidates.is_empty() {
            break;
        }
        journal.ask(candidates)?;
    }
    Ok(journal.history().trace())
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

fn evaluate(oracle: &dyn Oracle, entry: &Entry) -> Outcome {
    match oracle.evaluate(std::slice::from_ref(&entry.candidate.dag)) {
        Ok(scores) if scores.len() == 1 => Outcome::of(scores[0]),
        Ok(scores) => Outcome::Failed(format!("the oracle gave {} scores for one graph", scores.len())),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
