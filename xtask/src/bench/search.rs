//! The search bench: the sparse Gaussian process of `pace-search` against GPyTorch's SGPR on the same vectors.
//!
//! GPyTorch fits in 60 iterations on all rows. Ours learns on a part of them, on as many as it takes to predict held-out
//! rows at least as well; then the times of both fits are compared. So part of the ratio is the method (a subset, L-BFGS), not
//! the code; the time of one evaluation of bound and gradient on all rows is compared for that.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::machine::Machine;
use super::report::{self, Row};
use super::torch::{self, last_json};
use crate::cargo::{build, capture, program};
use crate::setup::Environment;

/// Our efforts, cheapest first: rows to learn on, and iterations.
const EFFORTS: [[&str; 2]; 4] = [["4000", "30"], ["4000", "60"], ["8000", "60"], ["17118", "60"]];
/// The peer's fits; the best of them counts.
const FITS: [&[&str]; 2] = [&["--threads", "1"], &["--threads", "2"]];
/// The peer in our precision, which takes twice as long: only for the time of an iteration.
const DOUBLE_STEPS: [&[&str]; 2] = [
    &["--threads", "1", "--dtype", "float64", "--iterations", "4"],
    &["--threads", "2", "--dtype", "float64", "--iterations", "4"],
];

/// Lets both sides take turns and compares the best of each.
pub fn run(root: &Path, environment: &Environment, rounds: u32, embeddings: Option<&Path>) -> Result<Vec<Row>> {
    let folder = root.join("target/bench");
    let venv = torch::ensure(&folder)?;
    let source = match embeddings {
        // Our program runs at the root of the workspace, wherever the user is.
        Some(file) => vec!["--embeddings".into(), std::path::absolute(file)?.into_os_string()],
        None => Vec::new(),
    };
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "surrogate"])?;
    let vectors = folder.join("vectors");
    capture(program(&ours).arg("dump").arg(&vectors).args(&source))?;
    let ask = |options: &[&str]| {
        let mut command = Command::new(venv.python());
        command.arg(root.join("xtask/peers/gpytorch_sgpr.py")).arg("--data").arg(&vectors);
        last_json(&capture(command.args(options))?)
    };
    let mut efforts = EFFORTS.iter();
    let mut effort = efforts.next().context("there is an effort")?;
    let (mut own, mut peers, mut doubles) = (Vec::new(), Vec::new(), Vec::new());
    let mut machine = Machine::new();
    for round in 1..=rounds {
        machine.watch();
        eprintln!("bench: round {round} of {rounds}, GPyTorch");
        for options in FITS {
            peers.push(ask(options)?);
        }
        for options in DOUBLE_STEPS {
            doubles.push(ask(options)?);
        }
        let enough = least(&peers, "nlpd")?;
        loop {
            let [subset, iterations] = *effort;
            eprintln!("bench: round {round} of {rounds}, ours with {iterations} iterations on {subset} rows");
            let fit = last_json(&capture(program(&ours).args(["fit", subset, iterations]).args(&source))?)?;
            let nlpd = least(std::slice::from_ref(&fit), "nlpd")?;
            match efforts.clone().next() {
                // All our fits that are compared are of one effort.
                Some(_) if nlpd > enough => {
                    own.clear();
                    effort = efforts.next().context("as above")?;
                }
                _ => {
                    own.push(fit);
                    break;
                }
            }
        }
    }
    let mut rows = compare(&own, &peers, &doubles, *effort)?;
    rows.extend(short_scales(&last_json(&capture(program(&ours).arg("short"))?)?)?);
    Ok(report::on(&machine, rows))
}

/// Our times at a short length-scale beside those at a long one: subnormal numbers, which are slow on many processors, would show.
fn short_scales(times: &Value) -> Result<Vec<Row>> {
    let models = times.as_object().context("the times are not an object")?;
    let row = |(model, times): (&String, &Value)| {
        let name = format!("search/sparse GP, short length-scales, {model}, 1000 x 2, M = 500, length-scale 0.02");
        let time = |field: &str| least(std::slice::from_ref(times), field);
        Ok(Row::new(&name, "ms", time("short")?, "ours at length-scale 0.1", time("long")?))
    };
    models.iter().map(row).collect()
}

fn compare(own: &[Value], peers: &[Value], doubles: &[Value], [subset, iterations]: [&str; 2]) -> Result<Vec<Row>> {
    let first = own.first().context("ours did not run")?;
    let size = format!("{} x {}, M = {}", first["rows"], first["dims"], first["inducing"]);
    let (nlpd, peer_nlpd) = (least(own, "nlpd")?, least(peers, "nlpd")?);
    let outcome = if nlpd <= peer_nlpd { "to the peer's NLPD" } else { "SHORT OF the peer's NLPD" };
    let fit = format!("search/fit {size}, {iterations} iterations on {subset} rows, {outcome}");
    let peer = "GPyTorch, 60 iterations, best of 1 and 2 threads";
    let times = |name: &str, field: &str| {
        Ok::<Row, anyhow::Error>(Row::new(name, "s", least(own, field)?, peer, least(peers, field)?))
    };
    let step = format!("search/bound and gradient, {size}, all rows");
    let mut rows = vec![times(&format!("{fit}, wall"), "seconds")?];
    // Where the system tells.
    if !first["cpu_seconds"].is_null() {
        rows.push(times(&format!("{fit}, CPU"), "cpu_seconds")?);
    }
    rows.push(Row::log_losses("search/held-out NLPD of these fits", "nats", nlpd, peer, peer_nlpd));
    rows.push(Row::new("search/held-out RMSE of these fits", "std", least(own, "rmse")?, peer, least(peers, "rmse")?));
    for (precision, runs) in [("double", doubles), ("single", peers)] {
        let peer = format!("GPyTorch in {precision} precision, best of 1 and 2 threads");
        let field = "seconds_per_step";
        let name = format!("{step}, ours in double and the peer in {precision} precision");
        rows.push(Row::new(&name, "s", least(own, field)?, &peer, least(runs, field)?));
    }
    Ok(rows)
}

fn least(runs: &[Value], field: &str) -> Result<f64> {
    let found = runs.iter().filter_map(|run| run[field].as_f64()).fold(f64::NAN, f64::min);
    anyhow::ensure!(found.is_finite(), "no run reported {field}");
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(seconds: f64, nlpd: f64) -> Value {
        json!({"rows": 10, "dims": 2, "inducing": 3, "seconds": seconds, "cpu_seconds": null, "seconds_per_step": 1.0,
               "nlpd": nlpd, "rmse": 0.5})
    }

    #[test]
    fn the_least_disturbed_run_of_each_side_counts() {
        let rows =
            compare(&[run(3.0, 0.1), run(2.0, 0.1)], &[run(9.0, 0.2), run(8.0, 0.2)], &[run(1.0, 0.2)], ["5", "6"]);
        let rows = rows.unwrap();
        assert_eq!(rows[0].name, "search/fit 10 x 2, M = 3, 6 iterations on 5 rows, to the peer's NLPD, wall");
        assert_eq!((rows[0].value, rows[0].peer_value, rows[0].ratio), (2.0, 8.0, 4.0));
        assert!((rows[1].ratio - 0.1_f64.exp()).abs() < 1e-12);
        assert!(rows.iter().all(|row| row.name.starts_with("search/")));
        let names: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names.len(), rows.len(), "{names:?}");
    }

    #[test]
    fn short_length_scales_are_compared_with_long_ones() {
        let rows =
            short_scales(&json!({"vfe": {"long": 3.0, "short": 6.0}, "fitc": {"long": 1.0, "short": 1.0}})).unwrap();
        let vfe = rows.iter().find(|row| row.name.contains("short length-scales, vfe,")).unwrap();
        assert_eq!((rows.len(), vfe.value, vfe.peer_value, vfe.ratio), (2, 6.0, 3.0, 0.5));
        assert!(rows.iter().all(|row| row.name.starts_with("search/")));
        assert!(short_scales(&json!({"vfe": {"long": 3.0}})).is_err());
    }

    #[test]
    fn a_worse_fit_is_called_so() {
        let rows = compare(&[run(1.0, 0.3)], &[run(9.0, 0.2)], &[run(1.0, 0.2)], ["5", "6"]).unwrap();
        assert!(rows[0].name.contains("SHORT OF"), "{}", rows[0].name);
        assert!(compare(&[], &[], &[], ["5", "6"]).is_err());
    }
}
