//! Several processes on one journal: nothing is erased, and the first answer holds.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pace_search::{Candidate, Header, Journal, Origin, Outcome};
use tempfile::TempDir;

/// Names the journal that a copy of this test binary answers.
const VARIABLE: &str = "PACE_TEST_JOURNAL";
const N_QUERIES: usize = 60;

fn header() -> Header {
    Header::new("together", 1, serde_json::Value::Null)
}

/// A journal with so many open queries.
fn asked(folder: &TempDir) -> (PathBuf, Journal) {
    let path = folder.path().join("search.jsonl");
    let mut journal = Journal::open(&path, header()).unwrap();
    let candidate = |op| Candidate::at(format!("0 {op} 1 : 0>1 1>2").parse().unwrap(), op, Origin::Random);
    journal.ask((2..N_QUERIES + 2).map(candidate).collect()).unwrap();
    (path, journal)
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Another process that runs only `answers_for_another_test`.
fn joiner(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "search_together::answers_for_another_test"])
        .env(VARIABLE, path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test by itself: as another process it answers every open query with its own number.
#[test]
fn answers_for_another_test() {
    let Some(path) = std::env::var_os(VARIABLE) else { return };
    let mut journal = Journal::join(Path::new(&path)).unwrap();
    let own = f64::from(std::process::id());
    for id in 0..N_QUERIES {
        let late = journal.tell(&[(id, Outcome::of(own))]).unwrap();
        let standing = journal.history().entries()[id].score().unwrap();
        assert_eq!(standing == own, late.is_empty(), "who came too late is told");
    }
}

#[test]
fn of_many_processes_the_first_answer_holds() {
    let folder = TempDir::new().unwrap();
    let (path, mut journal) = asked(&folder);
    let others: Vec<Child> = (0..4).map(|_| joiner(&path)).collect();
    // The process that asks answers, too, from the other end.
    for id in (0..N_QUERIES).rev() {
        journal.tell(&[(id, Outcome::of(-1.0))]).unwrap();
    }
    let answerers: Vec<f64> = others.iter().map(|child| f64::from(child.id())).chain([-1.0]).collect();
    for mut child in others {
        assert!(child.wait().unwrap().success());
    }
    journal.poll().unwrap();
    assert_eq!((journal.history().pending().count(), journal.late()), (0, &[][..]));
    assert!(journal.history().scored().all(|(_, score)| answerers.contains(&score)));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("\"tell\"").count(), N_QUERIES, "each query is answered once");
    let history = journal.history().clone();
    drop(journal);
    assert_eq!(*Journal::open(&path, header()).unwrap().history(), history);
}

#[test]
fn after_a_dead_writer_nobody_erases_an_answer() {
    for _ in 0..5 {
        let folder = TempDir::new().unwrap();
        let (path, _asker) = asked(&folder);
        append(&path, "{\"tell\": 59, \"sc");
        // Both find half a line, wait, and mend the file.
        let answers = [3, 4].map(|id| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut journal = Journal::join(&path).unwrap();
                journal.tell(&[(id, Outcome::of(id as f64))]).unwrap();
            })
        });
        answers.into_iter().for_each(|answer| answer.join().unwrap());
        let read = Journal::join(&path).unwrap();
        let scores: Vec<f64> = read.history().scored().map(|(_, score)| score).collect();
        assert_eq!(scores, [3.0, 4.0]);
    }
}

/// A shell takes no lock. Its line may land behind half a line that is about to be mended.
#[test]
fn a_line_behind_half_a_line_is_read_once_that_is_blank() {
    let folder = TempDir::new().unwrap();
    let (path, mut journal) = asked(&folder);
    append(&path, "{\"tell\": 59, \"sc");
    journal.tell(&[(0, Outcome::of(0.5))]).unwrap();
    append(&path, "{\"tell\": 1, \"score\": 0.25}\n");
    journal.poll().unwrap();
    assert_eq!(
        journal.history().scored().map(|(entry, score)| (entry.id, score)).collect::<Vec<_>>(),
        [(0, 0.5), (1, 0.25)]
    );
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "any reader can read it");
}

#[test]
fn an_answer_in_the_file_that_came_later_is_listed_and_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let (path, mut journal) = asked(&folder);
    append(&path, "{\"tell\": 7, \"score\": 1}\n{\"tell\": 7, \"score\": 2}\n{\"tell\": 7, \"score\": 1}\n");
    journal.poll().unwrap();
    assert_eq!(journal.history().entries()[7].score(), Some(1.0));
    assert_eq!(journal.late(), [(7, Outcome::of(2.0))]);
}
