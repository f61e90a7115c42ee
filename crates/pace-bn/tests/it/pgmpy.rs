//! Scores against pgmpy's, if Python has it: set `PACE_PGMPY` to an interpreter that does, else `python3` is asked.

use std::io::Write;
use std::process::{Command, Stdio};

use pace_bn::{RandomNetwork, ScoreKind, Scorer};
use pace_checkout::say_skipped;
use serde_json::{Value, json};

use crate::support::{KINDS, read, rng, sampled_csv};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/scores.py");

/// What the script prints; `None`, with a line that says so, if Python lacks pgmpy.
fn pgmpy(input: &Value) -> Option<Value> {
    let python = std::env::var_os("PACE_PGMPY").unwrap_or_else(|| "python3".into());
    let child =
        Command::new(python).arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        say_skipped("no python3");
        return None;
    };
    // A script that ends before it reads breaks the pipe; its status says why.
    let _ = child.stdin.take().unwrap().write_all(input.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    if output.status.code() == Some(3) {
        say_skipped("pgmpy is not installed");
        return None;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(serde_json::from_str(text.lines().last().unwrap()).unwrap())
}

#[test]
fn scores_of_random_structures_are_those_of_pgmpy() {
    let order: Vec<usize> = (0..8).collect();
    let text = sampled_csv(8, 2000, 50, &order);
    let table = read(&text).unwrap();
    let random = RandomNetwork { n_variables: 8, max_levels: 2, max_parents: 3, concentration: 1.0 };
    let structures: Vec<_> = (0..20).map(|seed| random.draw(&mut rng(seed)).unwrap().structure().clone()).collect();
    let arcs: Vec<Vec<(&str, &str)>> = structures
        .iter()
        .map(|structure| {
            let name = |variable: u16| table.names()[usize::from(variable)].as_str();
            structure.arcs().map(|(from, to)| (name(from), name(to))).collect()
        })
        .collect();
    let Some(found) = pgmpy(&json!({ "csv": text, "structures": arcs })) else { return };
    for kind in KINDS {
        let name = match kind {
            ScoreKind::LogLikelihood => "loglik",
            ScoreKind::Aic => "aic",
            ScoreKind::Bic => "bic",
            ScoreKind::Bdeu { sample_size: 1.0 } => "bdeu:1",
            _ => "bdeu:10",
        };
        let scorer = Scorer::new(&table, kind).unwrap();
        for (index, structure) in structures.iter().enumerate() {
            let (ours, theirs) = (scorer.structure(structure).nats(), found[name][index].as_f64().unwrap());
            assert!((ours - theirs).abs() < 1e-6, "{name} of structure {index}: {ours} for {theirs}");
        }
    }
}
