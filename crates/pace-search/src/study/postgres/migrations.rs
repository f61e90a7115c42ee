//! [`migrate`]: the tables of studies, made or brought up to date.
//!
//! Versions are files of SQL, applied in order. A file that has been released is never changed; a change of the tables is
//! another file.

use postgres::Transaction;

use super::connection::Failure;
use crate::error::Error;

/// Entry i brings the tables from version i to version i + 1.
const MIGRATIONS: [&str; 2] = [include_str!("migrations/0001_history.sql"), include_str!("migrations/0002_claims.sql")];
/// The advisory lock of whoever migrates: the letters PACE.
const LOCK: i64 = 0x5041_4345;

/// Makes what is missing. Of many processes that start at once, one does it and the others wait.
pub(super) fn migrate(transaction: &mut Transaction<'_>, study: &str) -> Result<(), Failure> {
    let known = MIGRATIONS.len() as i32;
    let mut found = version(transaction)?;
    if found < known {
        transaction.execute("select pg_advisory_xact_lock($1)", &[&LOCK])?;
        // Somebody may have done it while we waited.
        found = version(transaction)?;
        for next in found.max(0)..known {
            transaction.batch_execute(MIGRATIONS[next as usize])?;
            transaction.execute("insert into pace.migrations (version) values ($1)", &[&(next + 1)])?;
        }
        found = found.max(known);
    }
    if found > known {
        return Err(Error::NewerTables { study: study.to_owned(), found, known }.into());
    }
    Ok(())
}

/// Not `to_regclass`: it may remember that there was no such table before we waited for the lock.
const EXIST: &str = "\
    select exists (
        select from pg_catalog.pg_class as t join pg_catalog.pg_namespace as s on s.oid = t.relnamespace
        where s.nspname = 'pace' and t.relname = 'migrations'
    )";

/// The version of the tables; 0 if there are none.
fn version(transaction: &mut Transaction<'_>) -> Result<i32, postgres::Error> {
    let exist: bool = transaction.query_one(EXIST, &[])?.get(0);
    if !exist {
        return Ok(0);
    }
    Ok(transaction.query_one("select coalesce(max(version), 0) from pace.migrations", &[])?.get(0))
}
