//! [`Connection`]: transactions that outlive restarts of the server.

use std::error::Error as _;
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, IsolationLevel, NoTls, Transaction};

use super::Address;
use crate::error::Error;

/// How long to try before the first connection: an address may be wrong.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// How long to try once it has worked: a server that restarts, or a network that fails.
const PATIENCE: Duration = Duration::from_secs(600);
/// The first pause between attempts. Each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The server ends a transaction whose client vanished with its host, so that nobody waits for its locks. And a commit that we
/// report must be on the disk, whatever the server's default.
const SESSION: &str = "set idle_in_transaction_session_timeout = '60s'; \
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

/// Why a transaction failed.
pub(super) enum Failure {
    /// The server or the way to it.
    Server(postgres::Error),
    /// What the transaction found.
    Ours(Error),
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Failure {
        Failure::Server(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Ours(error)
    }
}

/// A connection that is made again when it breaks.
pub(super) struct Connection {
    address: Address,
    client: Option<Client>,
    has_worked: bool,
}

impl Connection {
    /// Connects with the first transaction.
    pub(super) fn to(address: Address) -> Connection {
        Connection { address, client: None, has_worked: false }
    }

    /// Where this connection leads.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Runs a transaction until it is committed or there is no hope.
    ///
    /// If the connection breaks during the commit, nobody knows whether it happened. So `act` must be something that may happen
    /// twice: that is what tokens and keys of the tables are for.
    pub(super) fn transact<T>(
        &mut self,
        mut act: impl FnMut(&mut Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let (start, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            let error = match self.attempt(&mut act) {
                Ok(result) => return Ok(result),
                Err(Failure::Ours(error)) => return Err(error),
                Err(Failure::Server(error)) => error,
            };
            let patience = if self.has_worked { PATIENCE } else { FIRST_PATIENCE };
            if error.code() == Some(&SqlState::FOREIGN_KEY_VIOLATION) {
                // All rows hang on that of their study.
                return Err(removed(&self.address));
            }
            if !passes(&error) || start.elapsed() + pause > patience {
                return Err(Error::Database { study: self.address.to_string(), reason: reason(&error) });
            }
            if !is_conflict(&error) {
                self.client = None;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    fn attempt<T>(&mut self, act: &mut impl FnMut(&mut Transaction<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let client = match &mut self.client {
            Some(client) => client,
            none => {
                let mut client = self.address.config.connect(NoTls)?;
                client.batch_execute(SESSION)?;
                self.has_worked = true;
                none.insert(client)
            }
        };
        // Each statement sees what others committed before it, whatever the server's default: see the statements.
        let level = IsolationLevel::ReadCommitted;
        let mut transaction = client.build_transaction().isolation_level(level).start()?;
        let result = act(&mut transaction)?;
        transaction.commit()?;
        Ok(result)
    }
}

/// The error of whoever works on a study that is gone.
pub(super) fn removed(address: &Address) -> Error {
    Error::NoStudy { study: address.to_string(), others: "there was one, which somebody removed".to_owned() }
}

/// Whether two transactions were in each other's way.
fn is_conflict(error: &postgres::Error) -> bool {
    [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].iter().any(|code| error.code() == Some(code))
}

/// Whether another attempt may succeed.
fn passes(error: &postgres::Error) -> bool {
    const PASSING: [SqlState; 6] = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::CONNECTION_FAILURE,
    ];
    match error.code() {
        Some(code) => is_conflict(error) || PASSING.contains(code),
        // No answer of the server: the way to it is broken.
        None => error.is_closed() || causes(error).any(|cause| cause.is::<std::io::Error>()),
    }
}

/// What was behind an error, from the outside in.
fn causes(error: &postgres::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

/// An error in words, with what was behind it.
pub(super) fn reason(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => causes(error).fold(error.to_string(), |text, cause| format!("{text}: {cause}")),
    }
}
