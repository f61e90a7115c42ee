//! The study joint: where the queries and the answers of a search stand.
//!
//! A [`Study`] holds the [`History`] of one search for everybody who takes part in it. [`Journal`] is a file, for the processes of
//! one file system. `PostgresStudy` (feature `postgres`) is a database, for any number of hosts. Both obey the same laws:
//!
//! - A round of queries is there as a whole or not at all, and each query is asked once.
//! - The first answer to a query holds. The same answer again changes nothing; another one is late.
//! - A query has at most one [`Claim`] at a time. The claim of a dead worker ends, and another worker gets the query.
//! - What was asked or told is on the disk when the call returns.
//!
//! [`copy`](fn@crate::copy) moves a search from one study to another.
//!
//! ```
//! use std::time::Duration;
//! use pace_search::{Candidate, Header, Journal, Origin, Outcome, Study};
//! let mut study: Box<dyn Study> = Box::new(Journal::in_memory(Header::new("mine", 0, serde_json::json!({}))));
//! study.ask(vec![Candidate::new("0 1 : 0>1".parse()?, Origin::Random)])?;
//! let claim = study.claim("host-7", Duration::from_secs(60))?.expect("nobody else has it");
//! assert!(study.claim("host-8", Duration::from_secs(60))?.is_none());
//! study.tell(&[(claim.id, Outcome::of(0.5))])?;
//! assert_eq!(study.history().pending().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::{History, Outcome};
use crate::token::token;

pub mod journal;
#[cfg(feature = "postgres")]
pub mod postgres;

pub use journal::Journal;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStudy;

/// Version of what a study holds.
const FORMAT: u32 = 1;

/// The search that a study belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    #[serde(rename = "pace_journal")]
    pub format: u32,
    /// Name of the search.
    pub search: String,
    /// Its seed.
    pub seed: u64,
    /// Everything else that determines the queries.
    pub config: Value,
}

impl Header {
    /// A header of the current format.
    pub fn new(search: &str, seed: u64, config: Value) -> Header {
        Header { format: FORMAT, search: search.to_owned(), seed, config }
    }

    /// The first field in which the header of a study differs from the wanted one; only the format counts if none is wanted.
    fn difference(&self, wanted: Option<&Header>) -> Option<(&'static str, String, String)> {
        let any = Header { format: FORMAT, ..self.clone() };
        let wanted = wanted.unwrap_or(&any);
        let fields = [
            ("format", self.format.to_string(), wanted.format.to_string()),
            ("search", format!("'{}'", self.search), format!("'{}'", wanted.search)),
            ("seed", self.seed.to_string(), wanted.seed.to_string()),
            ("config", self.config.to_string(), wanted.config.to_string()),
        ];
        fields.into_iter().find(|(_, found, wanted)| found != wanted)
    }
}

/// The right to evaluate a query, until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The query.
    pub id: usize,
    /// Tells this claim from others to the same query.
    token: String,
}

impl Claim {
    fn new(id: usize) -> Claim {
        Claim { id, token: token() }
    }
}

/// The queries and answers of one search, for everybody who asks or answers.
pub trait Study: Send {
    /// The search that this study belongs to.
    fn header(&self) -> &Header;

    /// All queries and answers read so far.
    fn history(&self) -> &History;

    /// Reads what others have written. Returns whether there was anything.
    fn poll(&mut self) -> Result<bool, Error>;

    /// Asks a round. The candidates must follow from [`history`](Self::history): if another process has asked meanwhile, nothing
    /// is asked, and the result is false.
    ///
    /// # Panics
    /// If this study was joined. Others ask then.
    fn ask(&mut self, candidates: Vec<Candidate>) -> Result<bool, Error>;

    /// Answers queries, with or without a claim. Returns the answers that came too late: another one, given first, holds.
    ///
    /// # Errors
    /// If a query was never asked, if `answers` holds two different ones to the same query, or if they cannot be written.
    fn tell(&mut self, answers: &[(usize, Outcome)]) -> Result<Vec<(usize, Outcome)>, Error>;

    /// Claims the first query that has neither an answer nor a claim; `None` if there is none. The claim ends with its answer,
    /// with [`release`](Self::release), with the process, or with the lease, whichever the study notices first. `worker` is
    /// for people who look.
    fn claim(&mut self, worker: &str, lease: Duration) -> Result<Option<Claim>, Error>;

    /// Lets the lease of a claim begin anew; false if the claim has ended.
    fn renew(&mut self, claim: &Claim, lease: Duration) -> Result<bool, Error>;

    /// Gives a query back, for another worker to claim.
    fn release(&mut self, claim: &Claim) -> Result<(), Error>;
}

/// Hands every call on.
macro_rules! forward {
    ($($holder:ty),*) => {$(
        impl<S: Study + ?Sized> Study for $holder {
            fn header(&self) -> &Header {
                (**self).header()
            }

            fn history(&self) -> &History {
                (**self).history()
            }

            fn poll(&mut self) -> Result<bool, Error> {
                (**self).poll()
            }

            fn ask(&mut self, candidates: Vec<Candidate>) -> Result<bool, Error> {
                (**self).ask(candidates)
            }

            fn tell(&mut self, answers: &[(usize, Outcome)]) -> Result<Vec<(usize, Outcome)>, Error> {
                (**self).tell(answers)
            }

            fn claim(&mut self, worker: &str, lease: Duration) -> Result<Option<Claim>, Error> {
                (**self).claim(worker, lease)
            }

            fn renew(&mut self, claim: &Claim, lease: Duration) -> Result<bool, Error> {
                (**self).renew(claim, lease)
            }

            fn release(&mut self, claim: &Claim) -> Result<(), Error> {
                (**self).release(claim)
            }
        }
    )*};
}

forward!(&mut S, Box<S>);
