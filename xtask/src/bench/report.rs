//! Rows of a bench: as a table and in `runs/bench.json`.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::rates::Rates;
use crate::root::write_atomically;

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `<bench>/<what>`.
    pub name: String,
    /// Ours.
    pub value: f64,
    /// Unit of both values.
    pub unit: String,
    /// What the peer is.
    pub peer: String,
    /// The peer's.
    pub peer_value: f64,
    /// How many times faster we are, or better.
    pub ratio: f64,
    /// Where it was measured; older files do not say.
    #[serde(default)]
    pub machine: Option<Machine>,
    /// All runs of ours and of the peer, if the bench keeps them. The two values are their medians then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<[Rates; 2]>,
}

impl Row {
    /// Compares two times.
    pub fn new(name: &str, unit: &str, value: f64, peer: &str, peer_value: f64) -> Row {
        let (name, unit, peer) = (name.to_owned(), unit.to_owned(), peer.to_owned());
        Row { name, value, unit, peer, peer_value, ratio: peer_value / value, machine: None, runs: None }
    }

    /// Compares two rates.
    pub fn rates(name: &str, unit: &str, value: f64, peer: &str, peer_value: f64) -> Row {
        Row { ratio: value / peer_value, ..Row::new(name, unit, value, peer, peer_value) }
    }

    /// Compares the medians of two sets of rates.
    pub fn spreads(name: &str, unit: &str, ours: Rates, peer: &str, theirs: Rates) -> Row {
        Row { runs: Some([ours, theirs]), ..Row::rates(name, unit, ours.median, peer, theirs.median) }
    }

    /// Compares two negative log densities; the ratio is that of the densities.
    pub fn log_losses(name: &str, unit: &str, value: f64, peer: &str, peer_value: f64) -> Row {
        Row { ratio: (peer_value - value).exp(), ..Row::new(name, unit, value, peer, peer_value) }
    }
}

/// The rows, all of them measured on `machine`.
pub fn on(machine: &Machine, mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().for_each(|row| row.machine = Some(machine.clone()));
    rows
}

/// The most cores that others kept busy before a row, if that was too much for a fair measurement.
pub fn loaded(rows: &[Row]) -> Option<f64> {
    rows.iter().filter_map(|row| row.machine.as_ref()?.loaded()).reduce(f64::max)
}

/// The machine, then the rows as an aligned table; rows from a loaded machine say so.
pub fn table(rows: &[Row]) -> String {
    let width = |text: fn(&Row) -> &str| rows.iter().map(|row| text(row).len()).max().unwrap_or(0);
    let (names, peers) = (width(|row| &row.name), width(|row| &row.peer));
    let machine = rows.iter().find_map(|row| row.machine.as_ref());
    let mut table = machine.map_or_else(String::new, |machine| format!("{machine}\n"));
    table += &format!("{:names$}  {:>10}      {:peers$}  {:>10}       ratio\n", "what", "ours", "peer", "theirs");
    for Row { name, value, unit, peer, peer_value, ratio, machine, runs } in rows {
        let loaded = machine.as_ref().and_then(Machine::loaded);
        let note = loaded.map_or_else(String::new, |busy| format!("  (loaded: {busy:.1})"));
        table += &format!(
            "{name:names$}  {value:>10.3} {unit}   {peer:peers$}  {peer_value:>10.3} {unit}  {ratio:>8.1}x{note}\n"
        );
        if let Some([ours, theirs]) = runs {
            let shown = |rates: &Rates| format!("{:.3} to {:.3} in {} runs", rates.low, rates.high, rates.n);
            table += &format!(
                "{:names$}  medians; ours {}, theirs {}, best against best {:.1}x\n",
                "",
                shown(ours),
                shown(theirs),
                ours.high / theirs.high
            );
        }
    }
    table
}

/// Puts `rows` in place of those whose name starts with `prefix`; rows of other benches stay.
pub fn merge(path: &Path, prefix: &str, rows: &[Row]) -> Result<()> {
    let mut all: Vec<Row> = match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .with_context(|| format!("{} is not a list of bench rows; delete it and run again", path.display()))?,
        Err(_) => Vec::new(),
    };
    all.retain(|row| !row.name.starts_with(prefix));
    all.extend_from_slice(rows);
    let text = serde_json::to_string_pretty(&all)? + "\n";
    write_atomically(path, &text).with_context(|| format!("could not write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    #[test]
    fn merging_replaces_one_bench_and_keeps_the_others() {
        let path = test_dir("bench-merge").join("runs/bench.json");
        let row = |name: &str, value: f64| Row::new(name, "us", value, "peer", 10.0);
        merge(&path, "graph/", &[row("graph/a", 1.0), row("graph/b", 2.0)]).unwrap();
        merge(&path, "model/", &[row("model/a", 5.0)]).unwrap();
        merge(&path, "graph/", &[row("graph/a", 4.0)]).unwrap();
        let rows: Vec<Row> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(rows, [row("model/a", 5.0), row("graph/a", 4.0)]);
        assert_eq!(rows[1].ratio, 2.5);
    }

    #[test]
    fn rows_say_where_they_were_measured() {
        let machine = |busy: f64| Machine { busy: Some(busy), load: Some(0.5), ..Machine::new() };
        let row = |name: &str| Row::new(name, "us", 1.0, "peer", 10.0);
        let (quiet, busy) = (on(&machine(0.02), vec![row("a")]), on(&machine(1.66), vec![row("b")]));
        assert_eq!((loaded(&quiet), loaded(&busy)), (None, Some(1.66)));
        let shown = table(&[quiet, busy.clone()].concat());
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].contains("load average 0.50"), "{shown}");
        assert!(lines[2].ends_with("10.0x") && lines[3].ends_with("10.0x  (loaded: 1.7)"), "{shown}");
        let read: Row = serde_json::from_str(&serde_json::to_string(&busy[0]).unwrap()).unwrap();
        assert_eq!(read, busy[0]);
    }

    #[test]
    fn medians_are_compared_and_the_spread_is_shown() {
        let rates = |runs: &[f64]| Rates::of(runs).unwrap();
        let row = Row::spreads("model/a", "graphs/s", rates(&[10.0, 30.0, 20.0]), "peer", rates(&[5.0, 4.0, 15.0]));
        assert_eq!((row.value, row.peer_value, row.ratio), (20.0, 5.0, 4.0));
        let shown = table(std::slice::from_ref(&row));
        assert!(
            shown.contains("ours 10.000 to 30.000 in 3 runs, theirs 4.000 to 15.000 in 3 runs, best against best 2.0x"),
            "{shown}"
        );
        assert_eq!(serde_json::from_str::<Row>(&serde_json::to_string(&row).unwrap()).unwrap(), row);
    }

    #[test]
    fn files_from_before_machines_can_be_read() {
        let old = r#"{"name": "a", "value": 1.0, "unit": "us", "peer": "peer", "peer_value": 10.0, "ratio": 10.0}"#;
        assert_eq!(serde_json::from_str::<Row>(old).unwrap(), Row::new("a", "us", 1.0, "peer", 10.0));
    }

    #[test]
    fn a_damaged_file_is_not_overwritten() {
        let path = test_dir("bench-damaged").join("bench.json");
        std::fs::write(&path, "{").unwrap();
        let message = format!("{:#}", merge(&path, "graph/", &[]).unwrap_err());
        assert!(message.contains("delete it"), "{message}");
    }
}
