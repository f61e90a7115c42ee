//! The journal: crashes at every byte, answers from outside, and what is refused.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use pace_search::{Candidate, Error, Header, History, Journal, Origin, Outcome};
use serde_json::json;
use tempfile::TempDir;

fn header() -> Header {
    Header::new("test", 3, json!({"population": 5}))
}

fn candidate(op: usize) -> Candidate {
    Candidate::at(format!("0 {op} 1 : 0>1 1>2").parse().unwrap(), op, Origin::Random)
}

/// A journal with a whole life: places, vectors, scores, failures.
fn written(folder: &TempDir, name: &str) -> (PathBuf, History) {
    let path = folder.path().join(name);
    let mut journal = Journal::open(&path, header()).unwrap();
    let dag = candidate(9).dag;
    let latent = Candidate::decoded(dag, vec![0.1, -1e-300, 1.0 / 3.0], Origin::Acquisition);
    journal.ask(vec![candidate(2), candidate(3), latent]).unwrap();
    journal.tell(&[(1, Outcome::of(0.1 + 0.2)), (0, Outcome::Failed("no \"memory\"\nleft".to_owned()))]).unwrap();
    journal.ask(vec![candidate(4), candidate(5)]).unwrap();
    journal.tell(&[(4, Outcome::of(-7.0))]).unwrap();
    (path, journal.history().clone())
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn reopened(path: &Path) -> Result<Journal, Error> {
    Journal::open(path, header())
}

#[test]
fn what_is_read_is_what_was_written() {
    let folder = TempDir::new().unwrap();
    let (path, history) = written(&folder, "a");
    let journal = reopened(&path).unwrap();
    assert_eq!(*journal.history(), history);
    assert_eq!(history.entries()[1].outcome, Some(Outcome::Score(0.1 + 0.2)));
    assert_eq!(history.pending().map(|entry| entry.id).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((history.n_asked(), history.n_rounds()), (5, 2));
    assert!(history.contains(&candidate(4).key()) && history.contains_place(4) && !history.contains_place(6));
}

#[test]
fn a_last_line_torn_at_any_byte_costs_that_line_only() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, "a");
    let text = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    for (n_whole, torn) in lines.iter().enumerate() {
        let whole = lines[..n_whole].concat();
        let before = folder.path().join("before");
        fs::write(&before, &whole).unwrap();
        let history = reopened(&before).unwrap().history().clone();
        fs::write(&before, [&whole[..], torn].concat()).unwrap();
        let with_line = reopened(&before).unwrap().history().clone();
        for n_bytes in 0..torn.len() {
            let path = folder.path().join("torn");
            fs::write(&path, [&whole[..], &torn[..n_bytes]].concat()).unwrap();
            let journal = reopened(&path).unwrap();
            // All but the line break is the line.
            let wanted = if n_bytes + 1 == torn.len() { &with_line } else { &history };
            assert_eq!(journal.history(), wanted, "line {}, byte {n_bytes}", n_whole + 1);
            // The search continues: the file is whole again.
            let mut journal = journal;
            journal.ask(vec![candidate(11), candidate(12)]).unwrap();
            let grown = journal.history().clone();
            drop(journal);
            assert_eq!(*reopened(&path).unwrap().history(), grown);
        }
    }
}

#[test]
fn a_round_cut_short_was_never_asked() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, "a");
    let text = fs::read_to_string(&path).unwrap();
    let first_two: String = text.split_inclusive('\n').take(3).collect();
    fs::write(&path, first_two).unwrap();
    let mut journal = reopened(&path).unwrap();
    assert_eq!(journal.history().n_asked(), 0);
    journal.ask(vec![candidate(7)]).unwrap();
    assert_eq!(journal.history().n_asked(), 1);
    drop(journal);
    assert_eq!(reopened(&path).unwrap().history().entries()[0].candidate, candidate(7));
}

#[test]
fn a_broken_line_in_the_middle_is_named() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, "a");
    let text = fs::read_to_string(&path).unwrap();
    let cases = [
        (2, "{\"ask\":0,\"rou", "not a JSON object"),
        (3, "{\"hello\":1}", "neither 'ask' nor 'tell'"),
        (
            4,
            "{\"ask\":9,\"round\":0,\"left\":0,\"by\":\"random\",\"graph\":\"0 :\"}",
            "query 9 where query 2 should come",
        ),
        (
            3,
            "{\"ask\":1,\"round\":0,\"left\":1,\"by\":\"random\",\"graph\":\"0 0 : 0>1 1>0\"}",
            "the graph cannot be read",
        ),
        (5, "{\"tell\":1}", "either 'score' or 'failed'"),
        (5, "{\"tell\":99,\"score\":1}", "query 99 cannot be taken"),
    ];
    for (number, line, wanted) in cases {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[number - 1] = line;
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = reopened(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("line {number}: ")) && error.contains(wanted), "{line}: {error}");
    }
}

#[test]
fn another_search_is_refused_by_its_field() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, "a");
    let others = [
        ("search", Header { search: "other".to_owned(), ..header() }),
        ("seed", Header { seed: 4, ..header() }),
        ("config", Header { config: json!({"population": 6}), ..header() }),
        ("format", Header { format: 2, ..header() }),
    ];
    for (field, other) in others {
        let error = Journal::open(&path, other).unwrap_err().to_string();
        assert!(error.contains(&format!("its {field} is ")), "{error}");
    }
    // A file that is no journal is neither taken nor touched, with or without a line break.
    for text in ["precious data", "precious\ndata"] {
        fs::write(&path, text).unwrap();
        assert!(reopened(&path).unwrap_err().to_string().contains("not the header of a journal"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn anybody_may_answer() {
    let folder = TempDir::new().unwrap();
    let (path, _) = written(&folder, "a");
    let mut journal = reopened(&path).unwrap();
    // As Python writes it; half a line waits for its other half.
    append(&path, "{\"tell\": 2, \"score\": 0.93, \"seconds\": 1.5}\n\n{\"tell\": 3, \"sc");
    assert!(journal.poll().unwrap());
    assert_eq!(journal.history().entries()[2].outcome, Some(Outcome::Score(0.93)));
    assert_eq!(journal.history().entries()[3].outcome, None);
    append(&path, "ore\": NaN}\n");
    assert!(journal.poll().unwrap() && !journal.poll().unwrap());
    assert_eq!(journal.history().entries()[3].outcome, Some(Outcome::Failed("the score is NaN".to_owned())));
    // The same again is nothing new; another answer comes too late and leaves no trace.
    let length = fs::metadata(&path).unwrap().len();
    assert_eq!(journal.tell(&[(2, Outcome::of(0.93))]).unwrap(), []);
    let late = (2, Outcome::of(0.94));
    assert_eq!(journal.tell(&[(2, Outcome::of(0.94))]).unwrap(), [late]);
    assert!(journal.tell(&[(77, Outcome::of(0.94))]).is_err());
    let error = journal.tell(&[(2, Outcome::of(0.93)), (2, Outcome::of(0.94))]).unwrap_err().to_string();
    assert!(error.contains("keep one of the two"), "{error}");
    assert_eq!(fs::metadata(&path).unwrap().len(), length);
    // Only one may ask at a time, and others may join.
    let error = reopened(&path).unwrap_err();
    assert!(matches!(error, Error::JournalBusy { .. }));
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    let mut joined = Journal::join(&path).unwrap();
    assert_eq!((joined.header(), joined.history()), (&header(), journal.history()));
    journal.ask(vec![candidate(6)]).unwrap();
    joined.poll().unwrap();
    joined.tell(&[(5, Outcome::Score(f64::INFINITY))]).unwrap();
    journal.poll().unwrap();
    assert_eq!(journal.history().entries()[5].outcome, Some(Outcome::Failed("the score is inf".to_owned())));
}

#[test]
fn a_dead_evaluator_does_not_spoil_the_file() {
    let folder = TempDir::new().unwrap();
    let (path, history) = written(&folder, "a");
    let mut journal = reopened(&path).unwrap();
    append(&path, "{\"tell\": 3, \"sc");
    journal.tell(&[(2, Outcome::of(1.0))]).unwrap();
    append(&path, "{\"tell\": 3, \"score\": 0.5}");
    journal.ask(vec![candidate(6)]).unwrap();
    drop(journal);
    let read = reopened(&path).unwrap().history().clone();
    assert_eq!(read.n_asked(), history.n_asked() + 1);
    assert_eq!(read.best().map(|(entry, score)| (entry.id, score)), Some((2, 1.0)));
    assert_eq!(read.entries()[3].score(), Some(0.5));
}
