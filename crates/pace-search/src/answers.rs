//! [`Answers`]: answers that come together, compared with each other and with a history before any of them is written.

use crate::error::Error;
use crate::history::{History, Outcome};

/// Answers that do not contradict each other, with one at most to each query.
#[derive(Debug)]
pub(crate) struct Answers(Vec<(usize, Outcome)>);

/// Answers, sorted by what a history says to them.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// To queries that have none yet.
    pub(crate) fresh: Vec<(usize, Outcome)>,
    /// To queries that have another one already.
    pub(crate) late: Vec<(usize, Outcome)>,
}

impl Answers {
    /// These answers; an error if two of them to the same query differ.
    pub(crate) fn new(answers: &[(usize, Outcome)]) -> Result<Answers, Error> {
        let mut checked: Vec<(usize, Outcome)> = Vec::with_capacity(answers.len());
        for (id, outcome) in answers {
            let outcome = outcome.clone().checked();
            match checked.iter().find(|(known, _)| known == id) {
                Some((_, other)) if *other != outcome => return Err(Error::contradiction(*id, other, &outcome)),
                Some(_) => {}
                None => checked.push((*id, outcome)),
            }
        }
        Ok(Answers(checked))
    }

    /// The queries that they answer.
    pub(crate) fn ids(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|(id, _)| *id)
    }

    /// Sorts them; an error if a query was never asked. An answer that is known already is neither fresh nor late.
    pub(crate) fn sort(&self, history: &History) -> Result<Sorted, Error> {
        let mut sorted = Sorted::default();
        for (id, outcome) in &self.0 {
            match history.answer(*id) {
                Some(first) if first != outcome => sorted.late.push((*id, outcome.clone())),
                Some(_) => {}
                None => {
                    history.check(*id, outcome)?;
                    sorted.fresh.push((*id, outcome.clone()));
                }
            }
        }
        Ok(sorted)
    }
}
