//! [`copy`]: a search moves from one study to another, e.g. from a file to a database or back.

use crate::error::Error;
use crate::history::{Entry, History, Outcome};
use crate::study::Study;

/// Asks and answers in a study what a history holds and the study lacks.
///
/// The study must have the header of the search, which is up to the caller, and hold nothing else: queries and answers that it
/// has already must be the same. A copy that was interrupted is completed by another one.
///
/// # Errors
/// If a query or an answer differs, or the study cannot be written.
pub fn copy(from: &History, to: &mut dyn Study) -> Result<(), Error> {
    to.poll()?;
    let differs = |what, id| Err(Error::CopyDiffers { what, id });
    let same = |(a, b): (&Entry, &Entry)| a.round == b.round && a.candidate == b.candidate;
    let n_common = from.n_asked().min(to.history().n_asked());
    if let Some(id) = from.entries().iter().zip(to.history().entries()).position(|pair| !same(pair)) {
        return differs("query", id);
    }
    for round in from.entries()[n_common..].chunk_by(|a, b| a.round == b.round) {
        // Rounds are never split, so a study that ends within one holds other rounds.
        let asked = round[0].round == to.history().n_rounds()
            && to.ask(round.iter().map(|entry| entry.candidate.clone()).collect())?;
        if !asked {
            return differs("query", round[0].id);
        }
    }
    let answers = from.entries().iter().filter_map(|entry| entry.outcome.clone().map(|outcome| (entry.id, outcome)));
    let answers: Vec<(usize, Outcome)> = answers.collect();
    let late = to.tell(&answers)?;
    late.first().map_or(Ok(()), |(id, _)| differs("answer", *id))
}
