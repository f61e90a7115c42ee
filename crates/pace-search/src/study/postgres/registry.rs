//! The studies of a database, by name.

use postgres::Transaction;
use serde_json::Value;

use super::connection::{Connection, Failure, removed};
use super::migrations::migrate;
use crate::error::Error;
use crate::study::Header;

/// The key and the header of the study; makes it if a header is given and there is none.
pub(super) fn find(connection: &mut Connection, wanted: Option<&Header>) -> Result<(i64, Header), Error> {
    let address = connection.address().clone();
    let shown = address.to_string();
    connection.transact(|transaction| {
        migrate(transaction, &shown)?;
        if let Some(header) = wanted {
            let text = serde_json::to_string(header).expect("a header is plain data");
            let insert = "insert into pace.studies (name, header) values ($1, $2) on conflict (name) do nothing";
            transaction.execute(insert, &[&address.study, &text])?;
        }
        let select = "select study, header from pace.studies where name = $1";
        let Some(row) = transaction.query_opt(select, &[&address.study])? else {
            return Err(Error::NoStudy { study: shown.clone(), others: others(transaction)? }.into());
        };
        let (key, text): (i64, String) = (row.get(0), row.get(1));
        let header: Header = serde_json::from_str(&text).map_err(|error| Error::Database {
            study: shown.clone(),
            reason: format!("the header in pace.studies cannot be read ({error})"),
        })?;
        match header.difference(wanted) {
            None => Ok((key, header)),
            Some((field, found, wanted)) => {
                Err(Error::StudyHeader { study: shown.clone(), field, found, wanted }.into())
            }
        }
    })
}

/// The names of some studies, in words.
fn others(transaction: &mut Transaction<'_>) -> Result<String, Failure> {
    let rows = transaction.query("select name from pace.studies order by begun desc limit 10", &[])?;
    let names: Vec<String> = rows.iter().map(|row| format!("'{}'", row.get::<_, String>(0))).collect();
    Ok(if names.is_empty() { "none at all".to_owned() } else { format!("there are {}", names.join(", ")) })
}

/// Removes the study with everything that hangs on it. Returns whether there was one.
pub(super) fn remove(connection: &mut Connection) -> Result<bool, Error> {
    let address = connection.address().clone();
    let shown = address.to_string();
    // A commit of which we never heard may have removed it already.
    let mut has_been = false;
    connection.transact(|transaction| {
        migrate(transaction, &shown)?;
        has_been |= transaction.execute("delete from pace.studies where name = $1", &[&address.study])? > 0;
        Ok(has_been)
    })
}

/// What those who answer should know.
pub(super) fn about(connection: &mut Connection, key: i64) -> Result<Option<Value>, Error> {
    let address = connection.address().clone();
    connection.transact(|transaction| {
        let row = transaction.query_opt("select about from pace.studies where study = $1", &[&key])?;
        let text: Option<String> = row.ok_or_else(|| removed(&address))?.get(0);
        let parsed = text.map(|text| serde_json::from_str(&text)).transpose();
        Ok(parsed.map_err(|error| Error::Database {
            study: address.to_string(),
            reason: format!("the column 'about' in pace.studies is not JSON ({error})"),
        })?)
    })
}

/// Says what those who answer should know.
pub(super) fn set_about(connection: &mut Connection, key: i64, about: &Value) -> Result<(), Error> {
    let (address, text) = (connection.address().clone(), about.to_string());
    connection.transact(|transaction| {
        match transaction.execute("update pace.studies set about = $2 where study = $1", &[&key, &text])? {
            0 => Err(removed(&address).into()),
            _ => Ok(()),
        }
    })
}
