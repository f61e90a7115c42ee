//! The growth bench: what one syntax tree of N nodes costs `pace-model`, in time and memory, and how that grows with N.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::machine::Machine;
use super::report::{self, Row};
use super::torch::last_json;
use crate::cargo::{build, capture, program};
use crate::setup::Environment;

/// Nodes per tree.
const SIZES: [usize; 10] = [8, 32, 128, 512, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
/// From this size on, the fixed costs of a step no longer show: where a growth is fitted, and what linear is measured from.
const SETTLED: usize = 512;
/// What the largest tree may cost to encode.
const LIMITS: [(&str, f64); 2] = [("s", 2.0), ("MB", 1_000.0)];

/// What is done with a tree.
struct Work {
    name: &'static str,
    task: &'static str,
    /// Deepest node; real code has a mean of 5 to 6 allowed pairs per node, which this exceeds.
    depth: &'static str,
    sizes: &'static [usize],
}

/// Deep trees have pairs in proportion to their depth; only the smaller ones, for they are not what code looks like.
const WORKS: [Work; 3] = [
    Work { name: "encode", task: "encode-growth", depth: "20", sizes: &SIZES },
    Work { name: "train", task: "train-growth", depth: "20", sizes: &SIZES },
    Work { name: "encode, up to 200 deep", task: "encode-growth", depth: "200", sizes: &[512, 2_000, 8_000, 30_000] },
];

/// Costs per tree, as the program prints them.
#[derive(Clone, Debug, Deserialize)]
struct Cost {
    nodes: usize,
    /// Allowed pairs per node.
    pairs: f64,
    seconds: f64,
    cpu_seconds: Option<f64>,
    /// What one tree adds to the memory of the process.
    tree_bytes: Option<u64>,
    /// Of the whole process, with at least 4,000 nodes in a step.
    peak_bytes: Option<u64>,
}

impl Cost {
    /// Of one tree; at least a page, for there is no logarithm of 0.
    fn tree_megabytes(&self) -> Option<f64> {
        self.tree_bytes.map(|bytes| bytes.max(4096) as f64 / 1e6)
    }

    fn megabytes(&self) -> Option<f64> {
        self.peak_bytes.map(|bytes| bytes as f64 / 1e6)
    }

    /// The less disturbed of two runs: noise only ever adds.
    fn best(self, other: Cost) -> Cost {
        let least = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a.min(b));
        Cost {
            seconds: self.seconds.min(other.seconds),
            cpu_seconds: least(self.cpu_seconds, other.cpu_seconds),
            tree_bytes: self.tree_bytes.zip(other.tree_bytes).map(|(a, b)| a.min(b)),
            peak_bytes: self.peak_bytes.zip(other.peak_bytes).map(|(a, b)| a.min(b)),
            ..self
        }
    }
}

/// One process per size and work, `rounds` times; prints the costs and their exponents.
pub fn run(environment: &Environment, rounds: u32) -> Result<Vec<Row>> {
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "model"])?;
    let mut rows = Vec::new();
    for Work { name, task, depth, sizes } in WORKS {
        let (mut costs, mut machine) = (Vec::<Cost>::new(), Machine::new());
        for nodes in sizes {
            eprintln!("bench: {name}, {nodes} nodes");
            machine.watch();
            let mut runs =
                (0..rounds).map(|_| ask(&ours, task, *nodes, depth)).collect::<Result<Vec<_>>>()?.into_iter();
            let first = runs.next().context("there is a round")?;
            costs.push(runs.fold(first, Cost::best));
        }
        print!("{}", table(name, &costs));
        rows.extend(report::on(&machine, compare(name, &costs)?));
    }
    Ok(rows)
}

fn ask(ours: &Path, task: &str, nodes: usize, depth: &str) -> Result<Cost> {
    let nodes = nodes.to_string();
    let line = last_json(&capture(program(ours).args(["--task", task, "--nodes", &nodes, "--depth", depth]))?)?;
    serde_json::from_value(line).context("the bench printed other fields than the costs of a tree")
}

/// The costs of one kind of work, and how they grow.
fn table(name: &str, costs: &[Cost]) -> String {
    let mut table = format!("{name}, per tree\n   nodes  pairs/node  wall ms  CPU ms  us/node  tree MB  peak MB\n");
    let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    for cost in costs {
        let Cost { nodes, pairs, seconds, cpu_seconds, .. } = cost;
        let (wall, each) = (seconds * 1e3, seconds * 1e6 / *nodes as f64);
        let cpu = or_dash(cpu_seconds.map(|cpu| cpu * 1e3));
        let (tree, peak) = (or_dash(cost.tree_megabytes()), or_dash(cost.megabytes()));
        table += &format!("{nodes:>8}  {pairs:>10.1}  {wall:>7.1}  {cpu:>6}  {each:>7.1}  {tree:>7}  {peak:>7}\n");
    }
    for (what, values) in measures(costs) {
        match values {
            Some(values) => {
                let settled: Vec<_> = values.iter().copied().filter(|(nodes, _)| *nodes >= SETTLED as f64).collect();
                let (all, settled) = (exponent(&values), exponent(&settled));
                table += &format!("{what} ~ N^{settled:.2} from {SETTLED} nodes on, N^{all:.2} over all\n");
            }
            None => table += &format!("{what}: not measured, this system has no /proc\n"),
        }
    }
    table + "\n"
}

/// What is fitted: (nodes, value), or nothing if the system does not say.
type Points = Vec<(f64, f64)>;

fn measures(costs: &[Cost]) -> [(&'static str, Option<Points>); 3] {
    let points = |value: fn(&Cost) -> Option<f64>| {
        costs.iter().map(|cost| Some((cost.nodes as f64, value(cost)?))).collect::<Option<Points>>()
    };
    [
        ("wall time", points(|cost| Some(cost.seconds))),
        ("CPU time", points(|cost| cost.cpu_seconds)),
        ("memory", points(Cost::tree_megabytes)),
    ]
}

/// b of y = a x^b by least squares on the logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = || points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (x_mean, y_mean) = logs().fold((0.0, 0.0), |(x, y), (log_x, log_y)| (x + log_x / n, y + log_y / n));
    let covariance: f64 = logs().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    covariance / logs().map(|(x, _)| (x - x_mean).powi(2)).sum::<f64>()
}

/// Each size against linear growth from the first settled one, the exponents against a dense mask's, and the limits.
fn compare(name: &str, costs: &[Cost]) -> Result<Vec<Row>> {
    let settled: Vec<&Cost> = costs.iter().filter(|cost| cost.nodes >= SETTLED).collect();
    let [base, .., largest] = settled[..] else { anyhow::bail!("an exponent needs two sizes from {SETTLED} nodes on") };
    let peer = format!("{SETTLED} nodes, scaled linearly");
    let mut rows = Vec::new();
    for cost in costs {
        let linear = base.seconds * cost.nodes as f64 / base.nodes as f64;
        rows.push(Row::new(&format!("growth/{name}, {} nodes", cost.nodes), "s", cost.seconds, &peer, linear));
    }
    for (what, points) in measures(costs) {
        let Some(mut points) = points else { continue };
        points.retain(|(nodes, _)| *nodes >= SETTLED as f64);
        let row = format!("growth/{name}, exponent of {what} from {SETTLED} nodes on");
        rows.push(Row::new(&row, "", exponent(&points), "a dense mask", 2.0));
    }
    if name == WORKS[0].name {
        for ((unit, limit), value) in LIMITS.into_iter().zip([Some(largest.seconds), largest.megabytes()]) {
            let row = format!("growth/{name}, {} nodes, {unit} of the limit", largest.nodes);
            rows.extend(value.map(|value| Row::new(&row, unit, value, "the limit", limit)));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(nodes: usize, seconds: f64, peak_bytes: Option<u64>) -> Cost {
        Cost { nodes, pairs: 10.0, seconds, cpu_seconds: Some(seconds), tree_bytes: peak_bytes, peak_bytes }
    }

    #[test]
    fn exponents_of_powers_are_exact() {
        for power in [0.5, 1.0, 2.0] {
            let points: Points = [8.0, 100.0, 3e4].iter().map(|x: &f64| (*x, 3.0 * x.powf(power))).collect();
            assert!((exponent(&points) - power).abs() < 1e-12);
        }
    }

    #[test]
    fn linear_growth_is_a_ratio_of_one() {
        let costs =
            [cost(8, 1.0, Some(1)), cost(512, 0.1, Some(100_000_000)), cost(30_000, 5.859_375, Some(500_000_000))];
        let rows = compare("encode", &costs).unwrap();
        let ratio = |name: &str| rows.iter().find(|row| row.name.contains(name)).unwrap().ratio;
        assert!((ratio("30000 nodes") - 1.0).abs() < 1e-9);
        assert!((ratio("exponent of wall") - 2.0).abs() < 1e-9);
        assert!(ratio("s of the limit") < 1.0 && ratio("MB of the limit") == 2.0);
        let names: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names.len(), rows.len(), "{names:?}");
        assert!(table("encode", &costs).contains("wall time ~ N^1.00 from 512 nodes on"));
    }

    #[test]
    fn memory_is_left_out_where_the_system_does_not_say() {
        let costs = [cost(512, 0.1, None), cost(1_000, 0.2, None)];
        assert!(compare("encode", &costs).unwrap().iter().all(|row| row.unit != "MB" && !row.name.contains("memory")));
        assert!(table("encode", &costs).contains("memory: not measured"));
        assert!(compare("encode", &costs[..1]).is_err());
    }

    #[test]
    fn the_less_disturbed_run_counts() {
        let best = cost(512, 0.3, Some(7)).best(cost(512, 0.2, Some(9)));
        assert_eq!((best.seconds, best.cpu_seconds, best.peak_bytes), (0.2, Some(0.2), Some(7)));
    }
}
