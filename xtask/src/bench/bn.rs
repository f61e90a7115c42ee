//! The bench of Bayesian networks: `pace-bn` against pgmpy's hill climbing with BIC, on samples of published networks.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::machine::Machine;
use super::report::{self, Row};
use super::torch::last_json;
use crate::cargo::{build, capture, program};
use crate::setup::Environment;
use crate::venv::Venv;

/// The version that the interface of our script is written for.
const PACKAGES: [&str; 1] = ["pgmpy==1.1.2"];
/// The networks whose samples both sides learn from.
const NETWORKS: [&str; 3] = ["sachs", "child", "alarm"];
const ROWS: &str = "20000";
/// Seconds after which a certificate states its gap.
const SECONDS: &str = "60";
const PEER: &str = "pgmpy's hill climbing";

/// Lets both sides take turns and compares the best of each: noise only ever adds time.
pub fn run(root: &Path, environment: &Environment, rounds: u32) -> Result<Vec<Row>> {
    let folder = root.join("target/bench");
    let venv =
        Venv::ensure(&folder.join("pgmpy"), &PACKAGES).context("the peer of this bench is the Python package pgmpy")?;
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "bn"])?;
    let mut machine = Machine::new();
    let mut rows = Vec::new();
    for network in NETWORKS {
        let csv = folder.join(format!("{network}.csv"));
        capture(program(&ours).args(["sample", network, ROWS]).arg(&csv))?;
        let (mut own, mut peers) = (Vec::new(), Vec::new());
        for round in 1..=rounds {
            machine.watch();
            eprintln!("bench: {network}, round {round} of {rounds}");
            own.push(last_json(&capture(program(&ours).args(["learn", network]).arg(&csv).arg(SECONDS))?)?);
            peers.push(last_json(&capture(venv.isolated().arg(root.join("xtask/peers/pgmpy_climb.py")).arg(&csv))?)?);
        }
        rows.extend(compare(network, &own, &peers)?);
    }
    Ok(report::on(&machine, rows))
}

/// The rows of one network. Our scores do not differ from round to round; pgmpy's do (why was not looked into), so its best
/// counts.
fn compare(network: &str, own: &[Value], peers: &[Value]) -> Result<Vec<Row>> {
    let first = own.first().context("ours did not run")?;
    let number =
        |value: &Value, path: &str| value.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"));
    let least = |runs: &[Value], path: &str| -> Result<f64> {
        let found = runs.iter().map(|run| number(run, path)).collect::<Result<Vec<f64>>>()?;
        found.into_iter().reduce(f64::min).context("no runs")
    };
    let scores = peers.iter().map(|peer| number(peer, "/score")).collect::<Result<Vec<f64>>>()?;
    let theirs = scores.into_iter().reduce(f64::max).context("the peer did not run")?;
    let their_seconds = least(peers, "/seconds")?;
    let truth = number(first, "/truth/score")?;
    let proof = match first["exact"]["is_proven"].as_bool() {
        Some(true) => "proven".to_owned(),
        _ => format!("gap {:.1}", number(first, "/exact/gap")?),
    };
    let prefix = format!("bn/{network} {ROWS} rows");
    let mut rows = Vec::new();
    for (method, shown) in [("climb", "hill climbing"), ("tabu", "tabu search"), ("exact", &format!("exact, {proof}"))]
    {
        let (seconds, score) =
            (least(own, &format!("/{method}/seconds"))?, number(first, &format!("/{method}/score"))?);
        rows.push(Row::new(&format!("{prefix}, {shown}, wall"), "s", seconds, PEER, their_seconds));
        rows.push(Row::new(&format!("{prefix}, {shown}, -BIC"), "nats", -score, PEER, -theirs));
    }
    rows.push(Row::new(&format!("{prefix}, true structure, -BIC"), "nats", -truth, PEER, -theirs));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_best_round_of_each_side_counts_and_a_gap_is_said() {
        let own = |seconds: f64| {
            let found = json!({"seconds": seconds, "score": -100.0});
            json!({"truth": {"score": -101.0}, "climb": found, "tabu": found,
                   "exact": {"seconds": seconds, "score": -99.0, "is_proven": false, "gap": 2.5}})
        };
        let peer = |seconds: f64| json!({"seconds": seconds, "score": -120.0});
        let rows = compare("alarm", &[own(2.0), own(1.0)], &[peer(300.0), peer(100.0)]).unwrap();
        assert_eq!(rows[0].name, "bn/alarm 20000 rows, hill climbing, wall");
        assert_eq!((rows[0].value, rows[0].peer_value, rows[0].ratio), (1.0, 100.0, 100.0));
        assert_eq!(rows[5].name, "bn/alarm 20000 rows, exact, gap 2.5, -BIC");
        assert!((rows[5].ratio - 120.0 / 99.0).abs() < 1e-12 && rows.len() == 7);
        assert!(compare("alarm", &[], &[]).is_err());
    }
}
