//! [`run`]: ask, evaluate, tell, until the budget is spent.

use crate::curve::Trace;
use crate::error::Error;
use crate::history::{Entry, Outcome};
use crate::journal::{Header, Journal};
use crate::oracle::Oracle;
use crate::strategy::Strategy;

/// How far a search has come.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// The query that was just answered.
    pub entry: &'a Entry,
    /// The best score so far.
    pub best: Option<f64>,
    /// How many queries were asked.
    pub n_asked: usize,
    /// How many may be.
    pub budget: usize,
}

/// Searches until `budget` queries are asked and answered, `batch` at a time, and goes on where the journal ends.
///
/// Queries of the journal without an answer come first. Each answer is written before the next evaluation begins, so a kill
/// costs one evaluation at most, and the trace after resuming is that of a search that was never killed. An error of the
/// oracle, or a score that is no number, is recorded as a failure of that one graph, and the search goes on. The search
/// ends early if the strategy has nothing left to ask.
///
/// A larger budget continues a finished search; only the last round of the smaller one may have been cut short by it.
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
            // Somebody who joined the journal may have been faster; the first answer holds.
            journal.poll()?;
            if journal.history().entries()[id].outcome.is_none() {
                journal.tell(&[(id, outcome)])?;
            }
            let history = journal.history();
            let best = history.best().map(|(_, score)| score);
            progress(Step { entry: &history.entries()[id], best, n_asked: history.n_asked(), budget });
        }
        let n_asked = journal.history().n_asked();
        // Past the budget, where a published loop goes there, it takes one query at a time.
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

/// As [`run`], without a file: for experiments over many seeds.
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
