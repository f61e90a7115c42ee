//! Queries and answers as rows.

use std::fmt::Write;

use postgres::Row;
use serde_json::Value;

use super::connection::{Connection, reason, removed};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{History, Outcome};
use crate::token::token;

const READ_QUERIES: &str = "\
    select id, round, origin, graph, place, vector from pace.queries where study = $1 and id >= $2 order by id";
const READ_ANSWERS: &str = "\
    select id, score, failed from pace.answers where study = $1 and id = any($2) order by id";
/// Of two processes that ask, the second waits here, and then sees what the first has asked.
const LOCK: &str = "select from pace.studies where study = $1 for no key update";
/// One statement for a whole round. Vectors come as text, because an array of arrays would be taken apart.
const ASK: &str = "\
    insert into pace.queries (study, id, round, token, origin, graph, place, vector)
    select $1::bigint, $2::bigint + nth - 1, $3::bigint, $4::text, origin, graph, place, vector::double precision[]
    from unnest($5::text[], $6::text[], $7::bigint[], $8::text[]) with ordinality
        as round (origin, graph, place, vector, nth)";
/// In order, so that two processes cannot wait for each other. Waits for an answer that another one is writing.
const TELL: &str = "\
    insert into pace.answers (study, id, score, failed)
    select $1::bigint, id, score, failed
    from unnest($2::bigint[], $3::double precision[], $4::text[]) as told (id, score, failed) order by id
    on conflict (study, id) do nothing";

/// Reads what the history lacks: new rounds, and answers to what has none. Returns whether there was anything.
///
/// Rounds first: then no round is read without those answers that were there before it.
pub(super) fn read(connection: &mut Connection, key: i64, history: &mut History) -> Result<bool, Error> {
    let address = connection.address().clone();
    let first = history.n_asked() as i64;
    let pending: Vec<i64> = history.pending().map(|entry| entry.id as i64).collect();
    let (queries, answers) = connection.transact(|transaction| {
        let queries = transaction.query(READ_QUERIES, &[&key, &first])?;
        let open: Vec<i64> = pending.iter().copied().chain(queries.iter().map(|row| row.get(0))).collect();
        let answers = if open.is_empty() { Vec::new() } else { transaction.query(READ_ANSWERS, &[&key, &open])? };
        if queries.is_empty() && answers.is_empty() && !exists(transaction, key)? {
            return Err(removed(&address).into());
        }
        Ok((queries, answers))
    })?;
    for round in queries.chunk_by(|a, b| a.get::<_, i64>(1) == b.get::<_, i64>(1)) {
        let candidates = round.iter().enumerate().map(|(index, row)| {
            let (id, number): (i64, i64) = (row.get(0), row.get(1));
            let broken = |reason: String| Error::StudyRow { study: address.to_string(), id, reason };
            let (n_asked, n_rounds) = (history.n_asked() + index, history.n_rounds());
            if id != n_asked as i64 || number != n_rounds as i64 {
                let wanted =
                    format!("query {n_asked} of round {n_rounds} should come; restore pace.queries from a copy");
                return Err(broken(format!("it is of round {number}, and {wanted}")));
            }
            candidate(row).map_err(broken)
        });
        let candidates = candidates.collect::<Result<Vec<Candidate>, Error>>()?;
        history.ask(candidates);
    }
    for row in &answers {
        history.tell(row.get::<_, i64>(0) as usize, outcome(row))?;
    }
    Ok(!queries.is_empty() || !answers.is_empty())
}

fn exists(transaction: &mut postgres::Transaction<'_>, key: i64) -> Result<bool, postgres::Error> {
    Ok(transaction.query_opt("select from pace.studies where study = $1", &[&key])?.is_some())
}

/// Appends a round, unless there are queries that the history does not know. Returns whether it is there.
pub(super) fn ask(
    connection: &mut Connection,
    key: i64,
    history: &History,
    candidates: &[Candidate],
) -> Result<bool, Error> {
    if candidates.is_empty() {
        return Ok(true);
    }
    let (address, token) = (connection.address().clone(), token());
    let (first, round) = (history.n_asked() as i64, history.n_rounds() as i64);
    let origins: Vec<String> = candidates.iter().map(|candidate| origin_name(candidate.origin)).collect();
    let graphs: Vec<String> = candidates.iter().map(|candidate| candidate.dag.to_string()).collect();
    let places: Vec<Option<i64>> =
        candidates.iter().map(|candidate| candidate.place.map(|place| place as i64)).collect();
    let vectors: Vec<Option<String>> =
        candidates.iter().map(|candidate| candidate.vector.as_deref().map(array)).collect();
    connection.transact(|transaction| {
        if transaction.query_opt(LOCK, &[&key])?.is_none() {
            return Err(removed(&address).into());
        }
        let same_number = "select token from pace.queries where study = $1 and id = $2";
        if let Some(row) = transaction.query_opt(same_number, &[&key, &first])? {
            // Ours, if the acknowledgement of its commit was lost.
            return Ok(row.get::<_, String>(0) == token);
        }
        transaction.execute(ASK, &[&key, &first, &round, &token, &origins, &graphs, &places, &vectors])?;
        Ok(true)
    })
}

/// Writes answers to queries that were asked. Where another one came first, it stays.
pub(super) fn tell(connection: &mut Connection, key: i64, answers: &[(usize, Outcome)]) -> Result<(), Error> {
    if answers.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = answers.iter().map(|(id, _)| *id as i64).collect();
    let scores: Vec<Option<f64>> = answers.iter().map(|(_, outcome)| outcome.score()).collect();
    let reasons = answers.iter().map(|(_, outcome)| match outcome {
        Outcome::Score(_) => None,
        Outcome::Failed(reason) => Some(reason.as_str()),
    });
    let reasons: Vec<Option<&str>> = reasons.collect();
    connection.transact(|transaction| {
        transaction.execute(TELL, &[&key, &ids, &scores, &reasons])?;
        transaction.execute("delete from pace.claims where study = $1 and id = any($2)", &[&key, &ids])?;
        Ok(())
    })
}

/// The outcome as the database can hold it.
pub(super) fn storable(outcome: &Outcome) -> Outcome {
    match outcome {
        Outcome::Failed(reason) => Outcome::Failed(reason.replace('\0', "␀")),
        score => score.clone(),
    }
}

/// The name of an origin, as in a journal.
fn origin_name(origin: Origin) -> String {
    match serde_json::to_value(origin) {
        Ok(Value::String(name)) => name,
        other => unreachable!("an origin is a word, not {other:?}"),
    }
}

/// An array as PostgreSQL reads it. Rust's shortest digits are read back to the same bits.
fn array(vector: &[f64]) -> String {
    let mut text = String::from("{");
    for (index, value) in vector.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(text, "{comma}{value:e}").expect("memory takes any text");
    }
    text + "}"
}

fn candidate(row: &Row) -> Result<Candidate, String> {
    let (origin, graph): (String, String) = (row.get(2), row.get(3));
    let origin = serde_json::from_value(Value::String(origin)).map_err(|error| format!("{error}; mend the row"))?;
    let dag = graph.parse().map_err(|error| format!("the graph cannot be read: {error}; mend the row"))?;
    let place = row
        .get::<_, Option<i64>>(4)
        .map(|place| place.try_into().map_err(|_| format!("place is {place}; mend the row")));
    // An array may hold nulls.
    let vector =
        row.try_get(5).map_err(|error| format!("the vector cannot be read: {}; mend the row", reason(&error)))?;
    Ok(Candidate { dag, place: place.transpose()?, vector, origin })
}

fn outcome(row: &Row) -> Outcome {
    match (row.get(1), row.get(2)) {
        (_, Some(reason)) => Outcome::Failed(reason),
        (Some(score), None) => Outcome::of(score),
        // The table forbids it.
        (None, None) => Outcome::of(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_arrays() {
        assert_eq!(origin_name(Origin::Acquisition), "acquisition");
        assert_eq!(array(&[0.1, -1e-300, 2.0]), "{1e-1,-1e-300,2e0}");
        assert_eq!(array(&[]), "{}");
        assert_eq!(storable(&Outcome::Failed("a\0b".to_owned())), Outcome::Failed("a␀b".to_owned()));
    }
}
