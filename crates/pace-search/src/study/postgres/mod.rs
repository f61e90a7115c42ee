//! [`PostgresStudy`]: a study in a PostgreSQL database, for processes on any number of hosts.
//!
//! ```text
//! postgres://ann@db.example.org/lab?study=na          a server by its name
//! postgres:///lab?host=/run/postgresql&study=na       the socket of a server on this host
//! ```
//!
//! `study` names one of the searches in the database. All else is as for PostgreSQL's own tools: user, password, port, and
//! parameters such as `connect_timeout`. Connections are not encrypted, so the way to the server should be a socket, a private
//! network or a tunnel (`ssh -L`); `sslmode=require` is an error. Any server from version 10 on will do. The first process makes
//! the tables, in the schema `pace`, for which its user needs the right `CREATE` on the database.
//!
//! # Laws
//! Those of [`Study`], by the means of the database:
//!
//! - Each operation is a transaction. A server that restarts costs nothing but time: the operation is repeated, up to ten
//!   minutes, with growing pauses. It may then happen twice, and leaves the same rows as once: rounds and claims bear a token that
//!   the caller draws, and answers have a key.
//! - Any number of processes may ask. The queries of a study are numbered from 0, and the number is the key. So of two processes
//!   that ask the same round, one succeeds, and the other one reads what the first has asked.
//! - The key of an answer is its query. So the first one holds, whatever wrote it.
//! - A claim ends when its lease does, by the clock of the server. Workers skip the rows that others are claiming, so nobody waits.
//!
//! A text in the database holds no NUL, so NUL in the reason of a failure becomes the sign `␀`.
//!
//! # In other languages
//! An answer is one statement, and a second answer is refused by the key:
//!
//! ```sql
//! insert into pace.answers (study, id, score) select study, 7, 0.93 from pace.studies where name = 'na';
//! ```
//!
//! # Panics
//! The client runs its own small event loop. Call nothing of this from within another one, such as an `async fn` on tokio.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::{Claim, Header, Study};
use crate::answers::Answers;
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::{History, Outcome};

mod address;
mod claims;
mod connection;
mod entries;
mod migrations;
mod registry;

pub use address::Address;
use connection::Connection;

/// A [`History`] that stands in a database.
pub struct PostgresStudy {
    header: Header,
    history: History,
    /// The key of the study in the database.
    key: i64,
    connection: Connection,
    may_ask: bool,
}

impl PostgresStudy {
    /// Opens the study of a search, or creates it if there is none. The study of another search is an error.
    pub fn open(address: Address, header: Header) -> Result<PostgresStudy, Error> {
        let mut connection = Connection::to(address);
        let (key, header) = registry::find(&mut connection, Some(&header))?;
        PostgresStudy::read(header, key, connection, true)
    }

    /// Opens a study of any search, to read it and to answer its queries. It cannot ask.
    pub fn join(address: Address) -> Result<PostgresStudy, Error> {
        let mut connection = Connection::to(address);
        let (key, header) = registry::find(&mut connection, None)?;
        PostgresStudy::read(header, key, connection, false)
    }

    /// Removes a study with all its queries and answers. Returns whether there was one.
    pub fn remove(address: Address) -> Result<bool, Error> {
        registry::remove(&mut Connection::to(address))
    }

    fn read(header: Header, key: i64, connection: Connection, may_ask: bool) -> Result<PostgresStudy, Error> {
        let mut study = PostgresStudy { header, history: History::default(), key, connection, may_ask };
        study.poll()?;
        Ok(study)
    }

    /// Where the study stands, without user and password.
    pub fn address(&self) -> String {
        self.connection.address().to_string()
    }

    /// What those who answer should know, e.g. what the graphs look like; `None` if nobody has said.
    pub fn about(&mut self) -> Result<Option<Value>, Error> {
        registry::about(&mut self.connection, self.key)
    }

    /// Says what those who answer should know.
    pub fn set_about(&mut self, about: &Value) -> Result<(), Error> {
        registry::set_about(&mut self.connection, self.key, about)
    }
}

impl fmt::Debug for PostgresStudy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.connection.address();
        f.debug_struct("PostgresStudy").field("header", &self.header).field("address", address).finish_non_exhaustive()
    }
}

impl Study for PostgresStudy {
    fn header(&self) -> &Header {
        &self.header
    }

    fn history(&self) -> &History {
        &self.history
    }

    fn poll(&mut self) -> Result<bool, Error> {
        entries::read(&mut self.connection, self.key, &mut self.history)
    }

    fn ask(&mut self, candidates: Vec<Candidate>) -> Result<bool, Error> {
        assert!(self.may_ask, "a joined study only answers");
        let asked = entries::ask(&mut self.connection, self.key, &self.history, &candidates)?;
        // Read back like the queries of any other process, so that memory and database cannot differ.
        self.poll()?;
        Ok(asked)
    }

    fn tell(&mut self, answers: &[(usize, Outcome)]) -> Result<Vec<(usize, Outcome)>, Error> {
        let storable: Vec<(usize, Outcome)> =
            answers.iter().map(|(id, outcome)| (*id, entries::storable(outcome))).collect();
        let answers = Answers::new(&storable)?;
        if answers.ids().any(|id| id >= self.history.n_asked()) {
            self.poll()?;
        }
        // Compared before anything is written: a written answer cannot be removed.
        let sorted = answers.sort(&self.history)?;
        entries::tell(&mut self.connection, self.key, &sorted.fresh)?;
        self.poll()?;
        // Of the fresh ones, too, some may have come too late.
        Ok(answers.sort(&self.history)?.late)
    }

    fn claim(&mut self, worker: &str, lease: Duration) -> Result<Option<Claim>, Error> {
        self.poll()?;
        loop {
            let pending: Vec<i64> = self.history.pending().map(|entry| entry.id as i64).collect();
            let Some(claim) = claims::take(&mut self.connection, self.key, &pending, worker, lease)? else {
                return Ok(None);
            };
            // It may have been answered between our look and our claim.
            self.poll()?;
            if self.history.answer(claim.id).is_none() {
                return Ok(Some(claim));
            }
            claims::forget(&mut self.connection, self.key, &claim)?;
        }
    }

    fn renew(&mut self, claim: &Claim, lease: Duration) -> Result<bool, Error> {
        claims::renew(&mut self.connection, self.key, claim, lease)
    }

    fn release(&mut self, claim: &Claim) -> Result<(), Error> {
        claims::release(&mut self.connection, self.key, claim)
    }
}
