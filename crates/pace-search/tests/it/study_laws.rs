//! What every study obeys, wherever it stands: files here, a database in `study_postgres`.

use std::time::Duration;

use pace_search::{Candidate, Error, Header, History, Journal, Origin, Outcome, Study, Trace, copy, run};
use serde_json::json;
use tempfile::TempDir;

use crate::search_replay::before_round;
use crate::search_sample::{Fragile, chains, strategies, with_strategy};

const LEASE: Duration = Duration::from_secs(600);

/// Where studies are opened by their name.
pub trait Place {
    /// Opens the study of a search, or creates it.
    fn open(&self, name: &str, header: Header) -> Result<Box<dyn Study>, Error>;
    /// Opens it to answer.
    fn join(&self, name: &str) -> Result<Box<dyn Study>, Error>;
}

/// Journals in a folder.
struct Files(TempDir);

impl Place for Files {
    fn open(&self, name: &str, header: Header) -> Result<Box<dyn Study>, Error> {
        Ok(Box::new(Journal::open(&self.0.path().join(name), header)?))
    }

    fn join(&self, name: &str) -> Result<Box<dyn Study>, Error> {
        Ok(Box::new(Journal::join(&self.0.path().join(name))?))
    }
}

#[test]
fn journals_obey_the_laws() {
    check(&Files(TempDir::new().unwrap()));
}

/// All laws.
pub fn check(place: &dyn Place) {
    what_is_read_is_what_was_written(place);
    the_first_answer_holds(place);
    another_search_is_refused(place);
    a_query_has_one_worker_at_a_time(place);
    every_strategy_leaves_the_trace_of_a_search_in_memory(place);
    a_copy_is_the_same_search(place);
}

pub fn header() -> Header {
    Header::new("laws", u64::MAX, json!({"population": 5, "rate": 0.1, "name": "a\u{0}b"}))
}

pub fn candidate(op: usize) -> Candidate {
    Candidate::at(format!("0 {op} 1 : 0>1 1>2").parse().unwrap(), op, Origin::Random)
}

/// Places, vectors, scores, failures, and queries without an answer.
fn live(study: &mut dyn Study) -> History {
    let latent = Candidate::decoded(candidate(9).dag, vec![0.1, -1e-300, 1.0 / 3.0, -0.0, 1e300], Origin::Acquisition);
    let bare = Candidate { vector: Some(vec![]), ..Candidate::new(candidate(10).dag, Origin::Neighbour) };
    assert!(study.ask(vec![candidate(2), candidate(3), latent]).unwrap());
    let failed = Outcome::Failed("no \"memory\"\n'left' \\ {},␀".to_owned());
    assert_eq!(study.tell(&[(1, Outcome::of(0.1 + 0.2)), (0, failed)]).unwrap(), []);
    assert!(study.ask(vec![]).unwrap());
    assert!(study.ask(vec![candidate(4), bare]).unwrap());
    assert_eq!(study.tell(&[(4, Outcome::of(-7e-310))]).unwrap(), []);
    study.history().clone()
}

fn what_is_read_is_what_was_written(place: &dyn Place) {
    let history = live(&mut *place.open("written", header()).unwrap());
    assert_eq!((history.n_asked(), history.n_rounds(), history.n_answered()), (5, 2, 3));
    for study in [place.open("written", header()).unwrap(), place.join("written").unwrap()] {
        assert_eq!((study.header(), study.history()), (&header(), &history));
    }
    assert!(place.join("nothing").is_err());
}

fn the_first_answer_holds(place: &dyn Place) {
    let mut asker = place.open("first", header()).unwrap();
    let mut worker = place.join("first").unwrap_or_else(|error| panic!("{error}"));
    asker.ask((2..12).map(candidate).collect()).unwrap();
    assert!(worker.poll().unwrap() && !worker.poll().unwrap());
    // The worker answers behind the back of the asker.
    assert_eq!(worker.tell(&[(3, Outcome::of(1.0)), (2, Outcome::Score(f64::NAN))]).unwrap(), []);
    let late = [(3, Outcome::of(2.0))];
    assert_eq!(asker.tell(&[(3, Outcome::of(2.0)), (4, Outcome::of(3.0))]).unwrap(), late);
    assert_eq!(asker.tell(&late).unwrap(), late);
    // The same again is nothing new, from whomever it comes.
    assert_eq!(asker.tell(&[(3, Outcome::of(1.0)), (4, Outcome::of(3.0))]).unwrap(), []);
    let nan = Outcome::Failed("the score is NaN".to_owned());
    assert_eq!(worker.tell(&[(2, nan.clone()), (4, Outcome::of(3.0))]).unwrap(), []);
    worker.poll().unwrap();
    for study in [&asker, &worker] {
        let outcomes: Vec<Option<Outcome>> =
            study.history().entries()[2..5].iter().map(|entry| entry.outcome.clone()).collect();
        assert_eq!(outcomes, [Some(nan.clone()), Some(Outcome::Score(1.0)), Some(Outcome::Score(3.0))]);
    }
    // Of answers that cannot be taken, nothing is.
    for broken in [[(5, Outcome::of(1.0)), (10, Outcome::of(1.0))], [(5, Outcome::of(1.0)), (5, Outcome::of(2.0))]] {
        assert!(worker.tell(&broken).is_err());
    }
    asker.poll().unwrap();
    assert_eq!(asker.history().pending().map(|entry| entry.id).collect::<Vec<_>>(), [0, 1, 5, 6, 7, 8, 9]);
}

fn another_search_is_refused(place: &dyn Place) {
    drop(place.open("mine", header()).unwrap());
    let others = [
        ("search", Header { search: "other".to_owned(), ..header() }),
        ("seed", Header { seed: 4, ..header() }),
        ("config", Header { config: json!({"population": 6}), ..header() }),
        ("format", Header { format: 2, ..header() }),
    ];
    for (field, other) in others {
        let error = place.open("mine", other).err().unwrap().to_string();
        assert!(error.contains(&format!("its {field} is ")), "{error}");
    }
}

fn a_query_has_one_worker_at_a_time(place: &dyn Place) {
    let mut a = place.open("claims", header()).unwrap();
    let mut b = place.join("claims").unwrap();
    a.ask((2..6).map(candidate).collect()).unwrap();
    let first = a.claim("a", LEASE).unwrap().unwrap();
    let second = b.claim("b", LEASE).unwrap().unwrap();
    let third = a.claim("a", LEASE).unwrap().unwrap();
    assert_eq!([first.id, second.id, third.id], [0, 1, 2]);
    assert!(a.renew(&first, LEASE).unwrap() && b.renew(&second, LEASE).unwrap());
    // Given back, it is the next one.
    a.release(&first).unwrap();
    assert!(!a.renew(&first, LEASE).unwrap());
    let again = b.claim("b", LEASE).unwrap().unwrap();
    assert!(again.id == 0 && again != first);
    // Releasing twice does not take it from another worker.
    a.release(&first).unwrap();
    assert!(b.renew(&again, LEASE).unwrap());
    let last = a.claim("a", LEASE).unwrap().unwrap();
    assert_eq!((last.id, b.claim("b", LEASE).unwrap()), (3, None));
    // Whoever answers needs no claim, and what has an answer cannot be claimed.
    a.tell(&[(again.id, Outcome::of(0.5)), (last.id, Outcome::of(1.5))]).unwrap();
    assert!(!a.renew(&last, LEASE).unwrap());
    a.release(&last).unwrap();
    assert_eq!((a.claim("a", LEASE).unwrap(), b.claim("b", LEASE).unwrap()), (None, None));
    b.release(&second).unwrap();
    a.release(&third).unwrap();
    assert_eq!(b.claim("b", LEASE).unwrap().map(|claim| claim.id), Some(1));
    assert_eq!(b.claim("b", LEASE).unwrap().map(|claim| claim.id), Some(2));
}

fn every_strategy_leaves_the_trace_of_a_search_in_memory(place: &dyn Place) {
    let chains = chains(200, 1);
    for (number, config) in strategies().iter().enumerate() {
        let name = format!("strategy-{number}");
        let header = Header::new(config.name(), 5, serde_json::to_value(config).unwrap());
        let search = |study: &mut dyn Study| -> Trace {
            with_strategy(config, &chains, 5, |strategy| run(strategy, &Fragile, study, 14, 3, &mut |_| {}).unwrap())
        };
        let mut memory = Journal::in_memory(header.clone());
        let trace = search(&mut memory);
        // From its beginning, and from the middle, where a process left it.
        let begun = before_round(memory.history(), 2);
        copy(&begun, &mut *place.open(&format!("{name}-begun"), header.clone()).unwrap()).unwrap();
        for name in [&name, &format!("{name}-begun")] {
            let mut study = place.open(name, header.clone()).unwrap();
            assert_eq!(search(&mut *study), trace, "{name}, {}", config.name());
            assert_eq!(study.history(), memory.history());
        }
    }
}

fn a_copy_is_the_same_search(place: &dyn Place) {
    let mut memory = Journal::in_memory(header());
    let history = live(&mut memory);
    let mut study = place.open("copy", header()).unwrap();
    copy(&history, &mut *study).unwrap();
    assert_eq!(*study.history(), history);
    // Again, and with what has come meanwhile, in the other direction, too.
    copy(&history, &mut *study).unwrap();
    study.tell(&[(3, Outcome::of(8.0))]).unwrap();
    study.ask(vec![candidate(11)]).unwrap();
    copy(study.history(), &mut memory).unwrap();
    assert_eq!(study.history(), memory.history());
    // Another search is not mixed in.
    let mut other = Journal::in_memory(header());
    other.ask(vec![candidate(7)]).unwrap();
    assert!(copy(other.history(), &mut *study).unwrap_err().to_string().contains("query 0 is another one"));
    let mut other = Journal::in_memory(header());
    other.ask(history.entries()[..3].iter().map(|entry| entry.candidate.clone()).collect()).unwrap();
    other.tell(&[(0, Outcome::of(1.0))]).unwrap();
    assert!(copy(other.history(), &mut *study).unwrap_err().to_string().contains("answer 0 is another one"));
    assert_eq!(study.history(), memory.history());
}
