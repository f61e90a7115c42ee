//! Where the queries and answers of a search stand: a journal in its folder, or a database that many hosts reach.

use std::path::Path;

use anyhow::{Context, Result};
use pace_search::study::postgres::Address;
use pace_search::{Header, Journal, PostgresStudy};

use super::Study;

/// Holds the password for addresses without one, as for PostgreSQL's own tools.
const PASSWORD: &str = "PGPASSWORD";

/// An address of a database, as written after `--study`.
///
/// # Errors
/// If it is none.
pub fn address(text: &str) -> Result<Address> {
    let password = std::env::var(PASSWORD).ok();
    Ok(Address::parse(text)?.or_password(password.as_deref()))
}

/// Opens what the search of a folder asks, or creates it. Those who answer learn from it what the search is about.
///
/// # Errors
/// If it belongs to another search, or cannot be opened.
pub fn open(
    address: Option<Address>,
    dir: &Path,
    header: Header,
    about: &Study,
) -> Result<Box<dyn pace_search::Study>> {
    let Some(address) = address else {
        return Ok(Box::new(Journal::open(&Study::journal(dir), header)?));
    };
    let mut study = PostgresStudy::open(address, header)?;
    study.set_about(&serde_json::to_value(about)?)?;
    Ok(Box::new(study))
}

/// Opens a search in a folder or in a database, to answer its queries.
///
/// # Errors
/// If there is no such search.
pub fn join(place: &Path) -> Result<(Study, Box<dyn pace_search::Study>)> {
    let Some(text) = place.to_str().filter(|text| Address::is_one(text)) else {
        let about = Study::read(place)?;
        return Ok((about, Box::new(Journal::join(&Study::journal(place))?)));
    };
    let mut study = PostgresStudy::join(address(text)?)?;
    let unknown = format!("{} was not begun by `pace search`; answer it by the program that asks", study.address());
    let about = study.about()?.unwrap_or_default();
    Ok((serde_json::from_value(about).context(unknown)?, Box::new(study)))
}

/// Leaves a journal of a search in its folder, which then holds all that was found, wherever it was asked.
///
/// # Errors
/// If the folder has a journal of another search.
pub fn keep_journal(study: &dyn pace_search::Study, dir: &Path) -> Result<()> {
    let mut journal = Journal::open(&Study::journal(dir), study.header().clone())?;
    pace_search::copy(study.history(), &mut journal)?;
    Ok(())
}
