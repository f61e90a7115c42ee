//! Searches: by table, by command, killed, and answered by several processes at once.

use std::collections::HashMap;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use super::bench_space::write_graphs;
use super::{fails, json, ok, pace};

#[test]
fn a_rehearsal_on_known_scores_finds_good_graphs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 400, 5, true);
    let found = json(dir, "search graphs.jsonl --oracle table:graphs.jsonl --queries 60 --out study");
    assert_eq!((found["queries"].as_u64(), found["failed"].as_u64()), (Some(60), Some(0)));
    let best = found["best"][0]["score"].as_f64().unwrap();
    let mut scores: Vec<f64> = std::fs::read_to_string(dir.join("graphs.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["target"].as_f64().unwrap())
        .collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    assert!(best >= scores[8], "{best} is not among the best eight of 400, which begin with {:?}", &scores[..8]);
}

/// Scores by the length of the graph, and writes down which query it was asked.
const SCORER: &str = "echo $PACE_QUERY >> asked; sleep 0.03; wc -c";

#[test]
fn no_query_is_lost_or_asked_twice_by_four_workers_and_a_killed_search() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 100, 6, false);
    let search = |workers: &str| -> Child {
        let mut command = pace(dir);
        command.args(["--quiet", "search", "graphs.jsonl", "--queries", "80", "--batch", "8", "--out", "study"]);
        command.args(["--strategy", "evolution", "--workers", workers, "--oracle", &format!("cmd:{SCORER}")]);
        command.spawn().unwrap()
    };
    let answer = || -> Child {
        let mut command = pace(dir);
        command.args(["--quiet", "answer", "study", "--workers", "2", "--oracle", &format!("cmd:{SCORER}")]);
        command.spawn().unwrap()
    };
    let mut asking = search("1");
    // Until the first line, which says which search it is, is whole.
    while !std::fs::read_to_string(dir.join("study/journal.jsonl")).is_ok_and(|text| text.contains('\n')) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut workers: Vec<Child> = (0..3).map(|_| answer()).collect();
    // The search is killed several times; its workers go on.
    let mut kills = 0;
    while kills < 5 && n_tells(dir) < 80 {
        std::thread::sleep(Duration::from_millis(150 + 70 * kills));
        asking.kill().ok();
        asking.wait().unwrap();
        kills += 1;
        asking = search("1");
    }
    assert!(asking.wait().unwrap().success());
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let asked = std::fs::read_to_string(dir.join("asked")).unwrap();
    let mut times: HashMap<&str, usize> = HashMap::new();
    asked.lines().for_each(|id| *times.entry(id).or_default() += 1);
    assert_eq!((times.len(), n_tells(dir)), (80, 80), "every query is asked, and answered once");
    // A query is asked again only if the process that had it was killed.
    let again = times.values().filter(|&&n| n > 1).count() as u64;
    assert!(again <= kills, "{again} queries were asked twice by {kills} kills");
}

fn n_tells(dir: &Path) -> usize {
    let text = std::fs::read_to_string(dir.join("study/journal.jsonl")).unwrap_or_default();
    text.lines().filter(|line| line.contains("\"tell\"")).count()
}

#[test]
fn failures_of_the_command_are_told_and_the_search_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 50, 7, false);
    let mut command = pace(dir);
    command.args(["--json", "search", "graphs.jsonl", "--queries", "20", "--out", "study", "--oracle"]);
    command.arg("cmd:test $((PACE_QUERY % 4)) != 0 || exit 3; wc -c");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["failed"].as_u64(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("5 of 20 queries failed"));
    assert!(fails(dir, "answer nowhere --oracle cmd:true").contains("not the folder of a search"));
    assert!(fails(dir, "answer postgres://db.example.org/lab --oracle cmd:true").contains("?study=NAME"));
}

/// At most two pools: no spec says that.
const FEW_POOLS: &str =
    r#"cmd:while read line; do test $(echo "$line" | grep -o pool | wc -l) -le 2 && echo yes || echo no; done"#;

#[test]
fn a_rule_of_the_users_holds_for_everything_that_is_asked_or_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_graphs(&dir.join("graphs.jsonl"), 50, 7, false);
    let run = |args: &[&str]| pace(dir).args(args).output().unwrap();
    let search =
        ["search", "graphs.jsonl", "--queries", "12", "--strategy", "random", "--oracle", "cmd:wc -c", "--out"];
    let output = run(&[&search[..], &["study", "--allow", FEW_POOLS]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ok(dir, "inspect graphs.jsonl --write-spec spec.json");
    let output = run(&["sample", "spec.json", "-n", "40", "--out", "drawn.jsonl", "--allow", FEW_POOLS]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (file, n) in [("study/found.jsonl", 12), ("drawn.jsonl", 40)] {
        let text = std::fs::read_to_string(dir.join(file)).unwrap();
        assert_eq!(text.lines().count(), n);
        assert!(text.lines().all(|line| line.matches("pool").count() <= 2), "{text}");
    }
    // A list allows what is in it.
    let output = run(&[&search[..], &["listed", "--allow", "list:drawn.jsonl"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A program that gives up ends the search with its reason.
    let output = run(&[&search[..], &["broken", "--allow", "cmd:exit 3"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("exit status: 3"), "{said}");
}
