//! Figure 4 of the paper: training and encoding speed of PACE, D-VAE and DAGNN on graphs of all four datasets, and encoding
//! time against depth.
//!
//! `cargo xtask bench encoders` runs this. All systems take turns, round by round, and medians are compared. D-VAE and DAGNN take
//! all nodes of a level of the whole batch at once, on the same products as PACE: what is compared is what they compute, not
//! how well it is programmed.

mod chains;
mod measure;
mod systems;

use anyhow::Result;
use clap::Parser;
use pace_train::record::{DataKind, Metric, MetricSpec, Run, Stage};
use serde_json::json;

use crate::args::{RunArgs, count};
use crate::progress::steps_bar;
use crate::report::{Bars, Line, Report, bar_chart, finish, line_chart};
use chains::{LENGTHS, SETTLED, exponent};
use measure::{Rates, rates};
use systems::{Data, Size, System};

/// The width at which all systems are equal; the paper's PACE-VAE has it.
const WIDTH: usize = 128;
const SIZES: [Size; 2] = [Size::Equal(WIDTH), Size::Published];

/// Measures how fast PACE, D-VAE and DAGNN train and encode
#[derive(Debug, Parser)]
pub struct Args {
    /// Those of every program.
    #[command(flatten)]
    pub run: RunArgs,
    /// How often the systems take turns
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count)]
    pub rounds: usize,
}

/// What one system did, round by round.
struct Measured {
    system: System,
    size: Size,
    /// By dataset, in their order.
    rates: Vec<Vec<Rates>>,
    /// Seconds per chain, by length; at equal width only.
    chains: Vec<(f64, f64)>,
}

/// Runs the bench.
///
/// # Errors
/// Those of the trainings, or a file that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let (seconds, rounds) = if args.run.smoke { (0.05, 1) } else { (2.0, args.rounds) };
    let lengths = if args.run.smoke { &LENGTHS[..5] } else { &LENGTHS[..] };
    let mut run = args.run.start("speed", "encoders", json!({"rounds": rounds, "seconds": seconds}))?;
    run.data(DataKind::Embedded, "random graphs of the spaces of NA, BN, NAS-Bench-101 and NAS-Bench-301".to_owned());
    let mut all: Vec<Measured> = SIZES
        .iter()
        .flat_map(|&size| System::ALL.map(|system| (system, size)))
        .map(|(system, size)| Measured { system, size, rates: vec![Vec::new(); Data::ALL.len()], chains: Vec::new() })
        .collect();
    time_datasets(&mut all, rounds, seconds, &mut run)?;
    time_chains(&mut all, lengths, rounds, &mut run)?;
    print(&all);
    record(&all, &mut run);
    let mut page = Report::new("Figure 4: speed of PACE, D-VAE and DAGNN");
    plot(&all, &mut page)?;
    println!("report: {}", finish(page, run)?.display());
    Ok(())
}

/// Training and encoding, the systems in turns.
fn time_datasets(all: &mut [Measured], rounds: usize, seconds: f64, run: &mut Run) -> Result<()> {
    let bar = steps_bar("train and encode".to_owned(), (Data::ALL.len() * rounds * all.len()) as u64);
    for (place, data) in Data::ALL.into_iter().enumerate() {
        let (spec, dags) = (data.spec(), data.sample(8192));
        for round in 1..=rounds as u64 {
            for measured in &mut *all {
                let name = format!("{}-{}-{}", data.name(), measured.system.title(), measured.size.name());
                let stage = Stage::new("speed").variant(&name.to_lowercase()).seed(round);
                let model = data.model(measured.system, measured.size);
                let found = run.once(&stage, |_| rates(&model, &spec, &dags, data.batch_size(), seconds))?;
                measured.rates[place].push(found);
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Chains, the systems in turns; the best of all rounds, because other programs only ever add to a time.
fn time_chains(all: &mut [Measured], lengths: &[usize], rounds: usize, run: &mut Run) -> Result<()> {
    let bar = steps_bar("encode chains".to_owned(), (lengths.len() * rounds * System::ALL.len()) as u64);
    for &length in lengths {
        for measured in all.iter_mut().filter(|measured| measured.size == Size::Equal(WIDTH)) {
            let mut best = f64::INFINITY;
            for round in 1..=rounds as u64 {
                let name = format!("{}-{length}", measured.system.title().to_lowercase());
                let stage = Stage::new("chains").variant(&name).seed(round);
                best = best.min(run.once(&stage, |_| chains::seconds(measured.system, WIDTH, length))?);
                bar.inc(1);
            }
            measured.chains.push((length as f64, best));
        }
    }
    bar.finish_and_clear();
    Ok(())
}

impl Measured {
    fn title(&self) -> String {
        match self.size {
            Size::Equal(width) => format!("{}, {width} wide", self.system.title()),
            Size::Published => format!("{}, as published", self.system.title()),
        }
    }

    /// The middle one of all rounds.
    fn median(&self, data: usize, part: fn(&Rates) -> f64) -> f64 {
        let mut values: Vec<f64> = self.rates[data].iter().map(part).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    fn exponent(&self) -> Option<f64> {
        let settled: Vec<(f64, f64)> = self.chains.iter().copied().filter(|(n, _)| *n >= SETTLED as f64).collect();
        (settled.len() > 1).then(|| exponent(&settled))
    }
}

/// A measure by name.
type Part = (&'static str, fn(&Rates) -> f64);

/// What is compared.
const PARTS: [Part; 2] = [("train", |rates| rates.train), ("encode", |rates| rates.encode)];

/// Every number, and how many times faster PACE is.
fn print(all: &[Measured]) {
    println!("graphs per second (PACE is so many times faster)");
    for (place, data) in Data::ALL.into_iter().enumerate() {
        for measured in all {
            let pace = pace_of(all, measured);
            let cells = PARTS.map(|(name, part)| {
                let rate = measured.median(place, part);
                let all_rounds = measured.rates[place].iter().map(part);
                let (low, high) = all_rounds.fold((f64::INFINITY, 0.0_f64), |(l, h), r| (l.min(r), h.max(r)));
                format!("{name} {rate:>9.0} [{low:.0} to {high:.0}] ({:.2}x)", pace.median(place, part) / rate)
            });
            let n_parameters = measured.rates[place][0].n_parameters;
            println!("{:7} {:22} {} {n_parameters} parameters", data.title(), measured.title(), cells.join("  "));
        }
    }
    println!("milliseconds per chain of N nodes");
    for measured in all.iter().filter(|measured| !measured.chains.is_empty()) {
        let times: Vec<String> = measured.chains.iter().map(|(n, s)| format!("{n}: {:.3}", 1e3 * s)).collect();
        let exponent =
            measured.exponent().map_or_else(String::new, |b| format!("; ~ N^{b:.2} from {SETTLED} nodes on"));
        println!("{:22} {}{exponent}", measured.title(), times.join("  "));
    }
}

/// PACE at the size of another system.
fn pace_of<'a>(all: &'a [Measured], other: &Measured) -> &'a Measured {
    let is_pace = |measured: &&Measured| measured.system == System::Pace && measured.size == other.size;
    all.iter().find(is_pace).expect("PACE is measured at every size")
}

/// A row per system and size, a column per dataset and measure.
fn record(all: &[Measured], run: &mut Run) {
    let rate = |name: &str, data: Data| MetricSpec {
        id: format!("{name}_{}", data.name()).into(),
        title: format!("{name} {}", data.title()).into(),
        ..MetricSpec::new("", "").unit("graphs/s").decimals(0).higher()
    };
    let mut columns: Vec<MetricSpec> =
        PARTS.iter().flat_map(|(name, _)| Data::ALL.map(|data| rate(name, data))).collect();
    columns.push(MetricSpec::new("chain_ms", "a chain of 1,000 nodes").unit("ms").decimals(2).lower());
    columns.push(MetricSpec::new("exponent", "exponent of the depth").decimals(2).lower());
    run.columns(columns);
    for (place, measured) in all.iter().enumerate() {
        let mut metrics = serde_json::Map::new();
        let mut put = |id: String, metric: Metric| {
            metrics.insert(id, json!({"mean": metric.mean, "std": metric.std, "n": metric.n, "paper": null}));
        };
        for (name, part) in PARTS {
            for (index, data) in Data::ALL.into_iter().enumerate() {
                let spread = Metric::over(&measured.rates[index].iter().map(part).collect::<Vec<f64>>());
                put(format!("{name}_{}", data.name()), Metric { mean: measured.median(index, part), ..spread });
            }
        }
        if let (Some(exponent), Some((_, seconds))) = (measured.exponent(), measured.chains.last()) {
            put("chain_ms".to_owned(), Metric::once(1e3 * seconds));
            put("exponent".to_owned(), Metric::once(exponent));
        }
        let name = format!("{}_{}", measured.system.title().to_lowercase(), measured.size.name());
        run.encoder(
            &name,
            json!({"title": measured.title(), "place": place, "encoders": 1, "seconds": null, "metrics": metrics}),
        );
    }
}

fn plot(all: &[Measured], page: &mut Report) -> Result<()> {
    page.text(
        "Medians of all rounds. Training is forward, backward and Adam; encoding is from graphs to vectors. Times are per graph, as \
         logarithms: one step up is ten times slower.",
    );
    for size in SIZES {
        for (name, part) in PARTS {
            let mut bars = Bars::default();
            for (place, data) in Data::ALL.into_iter().enumerate() {
                for measured in all.iter().filter(|measured| measured.size == size) {
                    bars.labels.push(format!("{} {}", data.title(), measured.system.title()));
                    // Microseconds, at least one of which passes.
                    bars.heights.push((1e6 / measured.median(place, part)).max(1.0).log10());
                }
            }
            let at = if size == Size::Published { "at the published sizes" } else { "at equal width" };
            page.plot(bar_chart(&format!("{name}: log10 of microseconds per graph, {at}"), &bars));
        }
    }
    let line = |measured: &Measured| Line {
        name: measured.title(),
        points: measured.chains.iter().map(|(n, s)| (n.log10(), (1e3 * s).log10())).collect(),
        ..Line::default()
    };
    let lines: Vec<Line> = all.iter().filter(|measured| !measured.chains.is_empty()).map(line).collect();
    page.plot(line_chart("log10 of milliseconds per chain, by log10 of its nodes", &lines));
    Ok(())
}
