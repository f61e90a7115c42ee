//! The journal of a search.

use pace_search::{Candidate, Header, Journal, Origin, Outcome};
use serde_json::json;

use crate::scratch;
use crate::seed;

fn header() -> Header {
    Header::new("mine", 7, json!({"a": 1}))
}

/// Journals as we write them, and one with answers of other programs.
pub fn seeds() -> Vec<Vec<u8>> {
    let path = scratch().join("seed.jsonl");
    let _ = std::fs::remove_file(&path);
    let mut journal = Journal::open(&path, header()).expect("a new journal");
    let mut seeds = vec![std::fs::read(&path).expect("just written")];
    let dags = seed::cells().into_iter().map(|cell| cell.dag);
    let candidates: Vec<Candidate> = dags.map(|dag| Candidate::new(dag, Origin::Random)).collect();
    journal.ask(candidates.clone()).expect("a round");
    journal.tell(&[(1, Outcome::of(0.5)), (0, Outcome::Failed("out of memory".to_owned()))]).expect("two answers");
    seeds.push(std::fs::read(&path).expect("just written"));
    let dag = candidates[0].dag.clone();
    journal.ask(vec![Candidate::at(dag.clone(), 17, Origin::Mutation)]).expect("a round");
    journal.ask(vec![Candidate::decoded(dag, vec![0.25, -1.5], Origin::Acquisition)]).expect("a round");
    seeds.push(std::fs::read(&path).expect("just written"));
    let foreign = b"\n{\"tell\": 2, \"score\": NaN, \"by\": \"python\"}\n{\"tell\": 3, \"score\": null}\n";
    seeds.push([seeds[2].as_slice(), foreign].concat());
    seeds
}

/// Who joins and who opens see the same history, and what is asked and answered then is there for the next one.
///
/// The input always ends with a line break: a line without one makes a reader wait for its writer.
pub fn read(input: &[u8]) {
    let path = scratch().join("journal.jsonl");
    let name = |error: &pace_search::Error| {
        assert!(error.to_string().contains("journal.jsonl"), "a message without a place: {error}");
    };
    std::fs::write(&path, [input, b"\n"].concat()).expect("the scratch folder is writable");
    let joined = match Journal::join(&path) {
        Ok(journal) => journal,
        Err(error) => return name(&error),
    };
    // A join leaves the file as it is, so that an open must agree.
    let mut opened = Journal::open(&path, joined.header().clone()).expect("what could be joined");
    assert_eq!(opened.history(), joined.history());
    drop(joined);
    let n_asked = opened.history().n_asked();
    let dag = "0 1 : 0>1".parse().expect("a graph");
    opened.ask(vec![Candidate::new(dag, Origin::Random)]).expect("an open journal takes questions");
    opened.tell(&[(n_asked, Outcome::of(0.5))]).expect("an open journal takes answers");
    let again = Journal::join(&path).expect("what was written");
    assert_eq!(again.history(), opened.history());
    assert_eq!(again.history().n_asked(), n_asked + 1);
}
