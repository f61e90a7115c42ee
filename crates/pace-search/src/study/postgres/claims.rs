//! Claims as rows with a lease.

use std::time::Duration;

use super::connection::Connection;
use crate::error::Error;
use crate::study::Claim;

/// The first of some queries that is free, and that nobody else is claiming at this moment. The last part of the condition is for
/// a call that is repeated: it finds what it has claimed before. `materialized` would say what is meant, that the inner part runs
/// once; before version 12 there is no such word, and it is implied.
const TAKE: &str = "\
    with free as (
        select id from pace.claims
        where study = $1 and id = any($2) and (until is null or until < clock_timestamp() or token = $3)
        order by (token is not distinct from $3) desc, id
        limit 1
        for update skip locked
    )
    update pace.claims set worker = $4, token = $3, until = clock_timestamp() + $5 * interval '1 second'
    from free where claims.study = $1 and claims.id = free.id
    returning claims.id";
/// Rows for queries that nobody has looked at before. In order, so that two processes cannot wait for each other.
const LIST: &str = "\
    insert into pace.claims (study, id)
    select $1::bigint, open.id from unnest($2::bigint[]) as open (id)
    where not exists (select from pace.claims as listed where listed.study = $1::bigint and listed.id = open.id)
    order by open.id
    on conflict do nothing";
const RENEW: &str = "\
    update pace.claims set until = clock_timestamp() + $4 * interval '1 second'
    where study = $1 and id = $2 and token = $3";
/// The longest lease, thirty years: an interval has an end.
const LONGEST: f64 = 1e9;

/// Claims the first free query of `pending`, in ascending order; `None` if there is none.
pub(super) fn take(
    connection: &mut Connection,
    key: i64,
    pending: &[i64],
    worker: &str,
    lease: Duration,
) -> Result<Option<Claim>, Error> {
    if pending.is_empty() {
        return Ok(None);
    }
    let (mut claim, worker) = (Claim::new(0), worker.replace('\0', "␀"));
    let id = connection.transact(|transaction| {
        let parameters: [&(dyn postgres::types::ToSql + Sync); 5] =
            [&key, &pending, &claim.token, &worker, &seconds(lease)];
        if let Some(row) = transaction.query_opt(TAKE, &parameters)? {
            return Ok(Some(row.get::<_, i64>(0)));
        }
        if transaction.execute(LIST, &[&key, &pending])? == 0 {
            return Ok(None);
        }
        Ok(transaction.query_opt(TAKE, &parameters)?.map(|row| row.get(0)))
    })?;
    Ok(id.map(|id| {
        claim.id = id as usize;
        claim
    }))
}

/// Lets the lease begin anew; false if the query was answered or claimed by another worker. A lease that has ended without that
/// is as good as before.
pub(super) fn renew(connection: &mut Connection, key: i64, claim: &Claim, lease: Duration) -> Result<bool, Error> {
    connection.transact(|transaction| {
        let n = transaction.execute(RENEW, &[&key, &(claim.id as i64), &claim.token, &seconds(lease)])?;
        Ok(n > 0)
    })
}

/// Makes the query free, if it is still this claim that holds it.
pub(super) fn release(connection: &mut Connection, key: i64, claim: &Claim) -> Result<(), Error> {
    end(connection, key, claim, "update pace.claims set worker = null, token = null, until = null")
}

/// Forgets a query that turned out to have an answer.
pub(super) fn forget(connection: &mut Connection, key: i64, claim: &Claim) -> Result<(), Error> {
    end(connection, key, claim, "delete from pace.claims")
}

fn end(connection: &mut Connection, key: i64, claim: &Claim, what: &str) -> Result<(), Error> {
    connection.transact(|transaction| {
        let statement = format!("{what} where study = $1 and id = $2 and token = $3");
        transaction.execute(&statement, &[&key, &(claim.id as i64), &claim.token])?;
        Ok(())
    })
}

fn seconds(lease: Duration) -> f64 {
    lease.as_secs_f64().min(LONGEST)
}
