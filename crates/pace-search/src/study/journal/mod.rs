//! [`Journal`]: the history of a search in an append-only file. It survives a crash, and any program can answer its queries.
//!
//! A text file, one JSON object per line. The header says which search it is; then come queries and answers:
//!
//! ```text
//! {"pace_journal":1,"search":"evolution","seed":7,"config":{"population":50,"tournament":10}}
//! {"ask":0,"round":0,"left":1,"by":"random","graph":"0 2 3 1 : 0>1 1>2 2>3","place":17}
//! {"ask":1,"round":0,"left":0,"by":"random","graph":"0 3 3 1 : 0>1 1>2 0>2 2>3","vector":[0.25,-1.5]}
//! {"tell":1,"score":0.93}
//! {"tell":0,"failed":"out of memory"}
//! ```
//!
//! - `ask`: a query. Queries are numbered from 0. A round is a batch of lines with `left` counting down to 0. It is valid
//!   once its last line is there. A round that a crash cut short was never asked, and its numbers are used again. `graph` is
//!   the text form of a [`Dag`](pace_graph::Dag). `place` is its row in a pool, `vector` its vector in a latent space.
//! - `tell`: an answer, in any order: `score` (higher is better), or `failed` with a reason. A score of `null` or `NaN` is a
//!   failure. More keys are allowed. The first answer to a query holds; later ones are listed by [`Journal::late`].
//!
//! To answer from any language, read the file and append one line per answer, each with a single write:
//!
//! ```text
//! echo '{"tell": 7, "score": 0.93}' >> search.jsonl
//! ```
//!
//! Every batch is on the disk before [`Journal::ask`] and [`Journal::tell`] return. If a crash left the last line
//! unfinished, it is blanked out. A broken line elsewhere is an error that names the line.
//!
//! One process at a time may ask. It holds the lock file `search.jsonl.lock`, which says its number. Others
//! [`join`](Journal::join). Everybody locks the journal itself for each append and reads what is new before it writes. A
//! shell's `>>` needs no lock if it writes a whole line at once; a script that writes in pieces locks the file, as
//! `flock search.jsonl script` does.
//!
//! Workers that share the queries among them [`claim`](Journal::claim) one at a time. A claim is a lock on the file
//! `search.jsonl.claims/<id>`, which the system releases when its process ends. Whoever answers by hand needs none.
//!
//! ```
//! use pace_search::{Candidate, Header, Journal, Origin, Outcome};
//! let mut journal = Journal::in_memory(Header::new("mine", 0, serde_json::json!({})));
//! journal.ask(vec![Candidate::new("0 1 : 0>1".parse()?, Origin::Random)])?;
//! journal.tell(&[(0, Outcome::of(0.5))])?;
//! assert_eq!(journal.history().best().map(|(entry, score)| (entry.id, score)), Some((0, 0.5)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::{Claim, Header, Study};
use crate::answers::Answers;
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::{History, Outcome};

mod claims;
mod line;
mod tape;

use claims::Claims;
use line::Line;
use tape::{N_WAITS, Tape};

/// A [`History`] that is written to a file as it grows.
#[derive(Debug)]
pub struct Journal {
    header: Header,
    history: History,
    /// A round whose last line was not read yet.
    staged: Vec<Candidate>,
    late: Vec<(usize, Outcome)>,
    tape: Option<Tape>,
    claims: Claims,
    may_ask: bool,
}

impl Journal {
    /// A journal without a file, for short searches.
    pub fn in_memory(header: Header) -> Journal {
        let (history, staged, late) = Default::default();
        Journal { header, history, staged, late, tape: None, claims: Claims::default(), may_ask: true }
    }

    /// Opens the journal of a search, or creates it if there is no file. The journal of another search is an error.
    pub fn open(path: &Path, header: Header) -> Result<Journal, Error> {
        let text = serde_json::to_string(&header).expect("a header is plain data");
        let tape = Tape::open(path, &text)?;
        let mut journal = Journal { tape: Some(tape), claims: Claims::beside(path), ..Journal::in_memory(header) };
        // Nothing is written before the header has shown that this is our file.
        journal.read_header(true)?;
        // A line that is unfinished now was cut short by whatever ended the search before.
        journal.locked(0, |_| Ok(Vec::new()))?;
        Ok(journal)
    }

    /// Opens the journal of any search, to read it and to answer its queries. It cannot ask.
    pub fn join(path: &Path) -> Result<Journal, Error> {
        let header = Header::new("", 0, Value::Null);
        let (tape, claims) = (Some(Tape::join(path)?), Claims::beside(path));
        let mut journal = Journal { tape, claims, may_ask: false, ..Journal::in_memory(header) };
        journal.read_header(false)?;
        journal.poll()?;
        Ok(journal)
    }

    /// The search that this journal belongs to.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All queries and answers read so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Asks a round. When this returns, the round is on the disk: a crash cannot lose a query that an evaluator has seen.
    ///
    /// # Panics
    /// If this journal was joined. Another process asks then.
    pub fn ask(&mut self, candidates: Vec<Candidate>) -> Result<(), Error> {
        assert!(self.may_ask, "a joined journal only answers");
        if self.tape.is_none() {
            self.history.ask(candidates);
            return Ok(());
        }
        self.locked(N_WAITS, |history| {
            let (first, round, n) = (history.n_asked(), history.n_rounds(), candidates.len());
            let numbered = candidates.iter().enumerate();
            let lines = numbered.map(|(index, candidate)| line::ask(candidate, first + index, round, n - 1 - index));
            Ok(lines.collect())
        })
    }

    /// Answers queries. When this returns, the answers are on the disk, but for those that it returns: another process gave
    /// another answer first, and that one holds.
    ///
    /// # Errors
    /// If a query was never asked, if `answers` holds two different ones to the same query, or if the file cannot be written.
    pub fn tell(&mut self, answers: &[(usize, Outcome)]) -> Result<Vec<(usize, Outcome)>, Error> {
        let answers = Answers::new(answers)?;
        let mut late = Vec::new();
        // Compared before anything is written: a written answer cannot be removed.
        let mut fresh = |history: &History| -> Result<Vec<(usize, Outcome)>, Error> {
            let sorted = answers.sort(history)?;
            late = sorted.late;
            Ok(sorted.fresh)
        };
        if self.tape.is_none() {
            let fresh = fresh(&self.history)?;
            fresh.into_iter().try_for_each(|(id, outcome)| self.history.tell(id, outcome))?;
        } else {
            self.locked(N_WAITS, |history| {
                Ok(fresh(history)?.iter().map(|(id, outcome)| line::tell(*id, outcome)).collect())
            })?;
        }
        answers.ids().for_each(|id| self.claims.forget(id));
        Ok(late)
    }

    /// Claims the first query that has neither an answer nor a claim. A claim lasts until its answer, until it is released, or
    /// until this process ends, however it ends: the system notices that, so that no lease is needed.
    pub fn claim(&mut self, worker: &str) -> Result<Option<Claim>, Error> {
        self.poll()?;
        let pending: Vec<usize> = self.history.pending().map(|entry| entry.id).collect();
        for id in pending {
            let Some(claim) = self.claims.take(id, worker)? else { continue };
            // It may have been answered between our look and our claim.
            self.poll()?;
            if self.history.answer(id).is_none() {
                return Ok(Some(claim));
            }
            self.claims.forget(id);
        }
        Ok(None)
    }

    /// The answers in the file that came after others and differ from them, e.g. of a script that does not look first.
    pub fn late(&self) -> &[(usize, Outcome)] {
        &self.late
    }

    /// Reads what other processes have appended. Returns whether there was anything.
    pub fn poll(&mut self) -> Result<bool, Error> {
        let Some(tape) = &mut self.tape else { return Ok(false) };
        let lines = tape.read_on()?;
        let (path, first, n) = (tape.path(), tape.n_lines() - lines.len(), lines.len());
        for (index, text) in lines.into_iter().enumerate() {
            let broken = |reason| Error::Journal { path: path.clone(), line: first + index + 1, reason };
            match line::parse(&text).map_err(broken)? {
                Line::Blank => {}
                Line::Tell { id, outcome } => match self.history.answer(id) {
                    Some(first) if *first != outcome => self.late.push((id, outcome)),
                    Some(_) => {}
                    None => self.history.tell(id, outcome).map_err(|error| broken(error.to_string()))?,
                },
                Line::Ask { id, left, candidate } => self.stage(id, left, *candidate).map_err(broken)?,
            }
        }
        Ok(n > 0)
    }

    fn stage(&mut self, id: usize, left: usize, candidate: Candidate) -> Result<(), String> {
        let n_asked = self.history.n_asked();
        if id == n_asked {
            // The same round again, after a crash in the middle of writing it.
            self.staged.clear();
        }
        if id != n_asked + self.staged.len() {
            let wanted = n_asked + self.staged.len();
            return Err(format!("query {id} where query {wanted} should come; restore the file from a copy"));
        }
        self.staged.push(candidate);
        if left == 0 {
            self.history.ask(self.staged.drain(..));
        }
        Ok(())
    }

    /// Appends lines to the file. They are made from a history that nobody else can append to until they are written.
    fn locked(
        &mut self,
        n_waits: usize,
        lines: impl FnOnce(&History) -> Result<Vec<String>, Error>,
    ) -> Result<(), Error> {
        self.tape.as_mut().map_or(Ok(()), Tape::lock)?;
        let written = self.append(n_waits, lines);
        self.tape.iter_mut().for_each(Tape::unlock);
        written
    }

    fn append(
        &mut self,
        n_waits: usize,
        lines: impl FnOnce(&History) -> Result<Vec<String>, Error>,
    ) -> Result<(), Error> {
        self.tape.as_mut().map_or(Ok(()), |tape| tape.mend(n_waits))?;
        self.poll()?;
        let lines = lines(&self.history)?;
        self.tape.as_mut().map_or(Ok(()), |tape| tape.append(&lines))?;
        // Read back like the lines of any other process, so that memory and file cannot differ.
        self.poll().map(drop)
    }

    fn read_header(&mut self, compare: bool) -> Result<(), Error> {
        let tape = self.tape.as_mut().expect("only journals with a file have a header to read");
        let (path, text) = (tape.path(), tape.read_first()?);
        let found: Header = serde_json::from_str(&text).map_err(|error| Error::Journal {
            path: path.clone(),
            line: 1,
            reason: format!("this is not the header of a journal ({error}); take another file"),
        })?;
        let wanted = compare.then_some(&self.header);
        if let Some((field, found, wanted)) = found.difference(wanted) {
            return Err(Error::JournalHeader { path, field, found, wanted });
        }
        self.header = found;
        Ok(())
    }
}

impl Study for Journal {
    fn header(&self) -> &Header {
        Journal::header(self)
    }

    fn history(&self) -> &History {
        Journal::history(self)
    }

    fn poll(&mut self) -> Result<bool, Error> {
        Journal::poll(self)
    }

    fn ask(&mut self, candidates: Vec<Candidate>) -> Result<bool, Error> {
        // Nobody else may ask as long as this journal is open.
        Journal::ask(self, candidates).map(|()| true)
    }

    fn tell(&mut self, answers: &[(usize, Outcome)]) -> Result<Vec<(usize, Outcome)>, Error> {
        Journal::tell(self, answers)
    }

    fn claim(&mut self, worker: &str, _lease: Duration) -> Result<Option<Claim>, Error> {
        Journal::claim(self, worker)
    }

    fn renew(&mut self, claim: &Claim, _lease: Duration) -> Result<bool, Error> {
        Ok(self.claims.holds(claim))
    }

    fn release(&mut self, claim: &Claim) -> Result<(), Error> {
        self.claims.release(claim);
        Ok(())
    }
}
