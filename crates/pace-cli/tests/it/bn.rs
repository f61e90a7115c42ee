//! Bayesian networks: from rows to a network and back.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::{fails, json, ok};

/// Whether the grass is wet (Pearl): three binary variables, two arcs into one.
const SPRINKLER: &str = "network sprinkler { }
variable rain { type discrete [ 2 ] { no, yes }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable grass { type discrete [ 2 ] { dry, wet }; }
probability ( rain ) { table 0.7, 0.3; }
probability ( sprinkler ) { table 0.6, 0.4; }
probability ( grass | rain, sprinkler ) { (no, off) 0.95, 0.05; (no, on) 0.15, 0.85; (yes, off) 0.2, 0.8; (yes, on) 0.01, 0.99; }
";

fn rows(dir: &Path) {
    fs::write(dir.join("true.bif"), SPRINKLER).unwrap();
    ok(dir, "bn sample true.bif -n 2000 --out data.csv");
}

#[test]
fn rows_become_the_network_that_they_came_from() {
    let dir = tempdir().unwrap();
    rows(dir.path());
    let learnt = json(dir.path(), "bn learn data.csv --bootstrap 20 --out network");
    let summary = &learnt["summary"];
    assert!(summary["is_proven"] == true && summary["arcs"] == 2 && summary["rows"] == 2000, "{learnt}");
    let apart = json(dir.path(), "bn compare network/network.bif true.bif");
    assert_eq!((&apart["shd"], &apart["shd_dags"]), (&0.into(), &0.into()), "{apart}");
    let scores = json(dir.path(), "bn score data.csv network/network.bif");
    assert!((scores["bic"].as_f64().unwrap() - summary["score"].as_f64().unwrap()).abs() < 1e-6, "{scores} {summary}");
    assert!(scores["loglik"].as_f64() > scores["aic"].as_f64() && scores["bdeu:1"].is_f64(), "{scores}");
    let page = fs::read_to_string(dir.path().join("network/report.html")).unwrap();
    assert!(page.contains("<svg class=\"dag\"") && page.contains("sprinkler") && page.contains("told by the data"));
    for name in ["network.json", "network.dot", "network.graphml", "summary.json"] {
        assert!(dir.path().join("network").join(name).exists(), "{name}");
    }
}

#[test]
fn the_order_of_columns_changes_nothing() {
    let dir = tempdir().unwrap();
    rows(dir.path());
    let text = fs::read_to_string(dir.path().join("data.csv")).unwrap();
    let turned: Vec<String> = text.lines().map(|line| line.split(',').rev().collect::<Vec<_>>().join(",")).collect();
    fs::write(dir.path().join("turned.csv"), turned.join("\n")).unwrap();
    for method in ["exact", "orders", "tabu", "climb"] {
        ok(dir.path(), &format!("bn learn data.csv --method {method} --out a"));
        ok(dir.path(), &format!("bn learn turned.csv --method {method} --out b"));
        let read = |name: &str| fs::read(dir.path().join(name).join("network.bif")).unwrap();
        assert_eq!(read("a"), read("b"), "{method}");
    }
}

#[test]
fn bad_tables_are_refused_with_the_place() {
    let dir = tempdir().unwrap();
    rows(dir.path());
    for (text, expected) in [
        ("a,b\n1,2\n1\n", "line 3"),
        ("a,b\n1,2\n3,\n", "line 3"),
        ("a,a\n1,2\n3,4\n", "'a'"),
        ("a,b\n1,2\n", "row"),
        ("a,b\n1,2\n1,3\n", "column 'a'"),
        ("", "header"),
    ] {
        fs::write(dir.path().join("bad.csv"), text).unwrap();
        let message = fails(dir.path(), "bn learn bad.csv --out network");
        assert!(message.contains("bad.csv") && message.contains(expected), "{text:?}: {message}");
    }
    fs::write(dir.path().join("other.csv"), "rain,snow\nyes,no\nno,yes\n").unwrap();
    assert!(fails(dir.path(), "bn score other.csv true.bif").contains("no column 'grass'"));
    assert!(fails(dir.path(), "bn learn data.csv --out network --minutes 0").contains("--minutes"));
}
