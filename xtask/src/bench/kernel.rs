//! The kernel bench: the fused kernels of `pace-model` against their plain twins, and our matrix product against gemm's.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::machine::Machine;
use super::report::{self, Row};
use crate::cargo::{build, capture, program};
use crate::setup::Environment;

/// A kernel is slower than its peer if it reaches less than this share of the peer's speed: timings on a shared machine
/// differ by about the rest, even the best of several rounds.
const TOLERANCE: f64 = 0.95;

/// One line of the bench: an operation on a shape, in microseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Time {
    op: String,
    shape: Vec<usize>,
    fused_us: f64,
    plain_us: Option<f64>,
    gemm_us: Option<f64>,
}

impl Time {
    /// What tells it from the others.
    fn title(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!("{} {}", self.op, shape.join("x"))
    }

    /// Keeps the best time of each side: noise only ever adds.
    fn keep_best(&mut self, other: &Time) {
        let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        self.fused_us = self.fused_us.min(other.fused_us);
        self.plain_us = least(self.plain_us, other.plain_us);
        self.gemm_us = least(self.gemm_us, other.gemm_us);
    }

    fn row(&self) -> Result<Row> {
        let title = self.title();
        let (peer, time) = match (self.plain_us, self.gemm_us) {
            (Some(plain), None) => ("plain twin", plain),
            (None, Some(gemm)) => ("gemm", gemm),
            _ => bail!("the kernel bench gave {title} both or neither of plain_us and gemm_us; it must be one of them"),
        };
        ensure!(self.fused_us > 0.0 && time > 0.0, "the kernel bench measured no time for {title}; give it more work");
        Ok(Row::new(&format!("kernel/{title}"), "us", self.fused_us, peer, time))
    }
}

/// Runs the bench `rounds` times; with `check`, once more the operations that look slower than their peers.
pub fn run(environment: &Environment, rounds: u32, check: bool) -> Result<Vec<Row>> {
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "kernel"])?;
    let (mut best, mut machine) = (Vec::new(), Machine::new());
    for round in 1..=rounds {
        eprintln!("bench: kernels, round {round} of {rounds}");
        machine.watch();
        keep_best(&mut best, ask(&ours, None)?);
    }
    let mut rows = rows(&best)?;
    if check {
        let again: BTreeSet<&str> =
            best.iter().zip(&rows).filter(|(_, row)| is_slow(row)).map(|(time, _)| time.op.as_str()).collect();
        let mut more = Vec::new();
        for op in again {
            eprintln!("bench: {op} looks slow, once more");
            machine.watch();
            more.extend(ask(&ours, Some(op))?);
        }
        keep_best(&mut best, more);
        rows = self::rows(&best)?;
    }
    Ok(report::on(&machine, rows))
}

/// Fails if a kernel is slower than its peer, and names all that are.
pub fn check(rows: &[Row]) -> Result<()> {
    let slow = rows.iter().filter(|row| is_slow(row));
    let slow: Vec<String> = slow.map(|row| format!("{} ({:.2}x of {})", row.name, row.ratio, row.peer)).collect();
    ensure!(slow.is_empty(), "slower than the peer: {}; on a busy machine, run again", slow.join(", "));
    Ok(())
}

fn is_slow(row: &Row) -> bool {
    row.ratio < TOLERANCE
}

fn rows(times: &[Time]) -> Result<Vec<Row>> {
    times.iter().map(Time::row).collect()
}

/// One run of the bench; of the operations whose name contains `only`, if given.
fn ask(ours: &Path, only: Option<&str>) -> Result<Vec<Time>> {
    parse(&capture(program(ours).args(only))?)
}

/// Reads the lines of the bench; others may stand between them.
fn parse(text: &str) -> Result<Vec<Time>> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let times: Vec<Time> = lines
        .map(|line| serde_json::from_str(line).with_context(|| format!("the kernel bench printed '{line}'")))
        .collect::<Result<_>>()?;
    ensure!(!times.is_empty(), "the kernel bench printed no result");
    Ok(times)
}

/// Merges new times into the best so far, by operation and shape.
fn keep_best(best: &mut Vec<Time>, new: Vec<Time>) {
    for time in new {
        match best.iter_mut().find(|known| known.op == time.op && known.shape == time.shape) {
            Some(known) => known.keep_best(&time),
            None => best.push(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"warming up
{"op": "encoder", "shape": [32, 9, 64, 8, 64], "threads": 2, "fused_us": 100.0, "plain_us": 400.0, "speed_up": 4.0}
{"op": "product", "shape": [256, 64, 64], "fused_us": 20.0, "gemm_us": 18.0, "speed_up": 0.9}
"#;

    #[test]
    fn lines_become_rows() {
        let rows = rows(&parse(TEXT).unwrap()).unwrap();
        let (encoder, product) = (&rows[0], &rows[1]);
        assert_eq!((encoder.name.as_str(), encoder.peer.as_str()), ("kernel/encoder 32x9x64x8x64", "plain twin"));
        assert_eq!((encoder.value, encoder.peer_value, encoder.ratio), (100.0, 400.0, 4.0));
        assert_eq!((product.name.as_str(), product.peer.as_str()), ("kernel/product 256x64x64", "gemm"));
        let message = check(&rows).unwrap_err().to_string();
        assert!(message.starts_with("slower than the peer: kernel/product 256x64x64 (0.90x of gemm);"), "{message}");
        check(&rows[..1]).unwrap();
    }

    #[test]
    fn the_best_of_all_rounds_counts() {
        let mut best = parse(TEXT).unwrap();
        let round = TEXT.replace("20.0", "19.0").replace("100.0", "120.0").replace("400.0", "390.0");
        keep_best(&mut best, parse(&round).unwrap());
        assert_eq!(best.len(), 2);
        assert_eq!((best[0].fused_us, best[0].plain_us, best[1].fused_us), (100.0, Some(390.0), 19.0));
        check(&rows(&best).unwrap()).unwrap_err();
        keep_best(&mut best, parse(&TEXT.replace("20.0", "18.5")).unwrap());
        check(&rows(&best).unwrap()).unwrap();
    }

    #[test]
    fn lines_without_a_peer_are_refused() {
        for fields in
            [r#""fused_us": 1.0"#, r#""fused_us": 1.0, "plain_us": null"#, r#""fused_us": 0.0, "gemm_us": 1.0"#]
        {
            let times = parse(&format!(r#"{{"op": "a", "shape": [1], {fields}}}"#)).unwrap();
            assert!(rows(&times).unwrap_err().to_string().contains("a 1"), "{fields}");
        }
        assert!(parse("").is_err() && parse("{}").is_err());
    }
}
