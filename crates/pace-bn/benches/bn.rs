//! Learns networks from samples of known ones, and prints what that took as one line of JSON. `cargo xtask bench bn` runs it
//! beside pgmpy.
//!
//! ```text
//! bn sample <network> <rows> <file.csv>         rows from a network of the data folder, e.g. alarm
//! bn learn <network> <file.csv> <seconds>       climb, tabu, orders, then a certificate within so many seconds
//! bn random <variables> <rows> <seconds>        the same for a random network, without a certificate
//! bn count <variables> <rows>                   how many families per second are scored
//! ```

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use pace_bn::{
    CandidateConfig, Candidates, ClimbConfig, Cpdag, CsvOptions, ExactConfig, Found, Limits, NearConfig, Network,
    RandomNetwork, ScoreKind, Scorer, Structure, Table, certify, climb, parse_bif, read_csv, search_near, shd,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Samples and random networks are the same in every run.
const SEED: u64 = 1;
/// The limit of parents of certificates and of the search over orders.
const MAX_PARENTS: usize = 3;

fn main() {
    // `cargo bench` and `cargo test --benches` add options of their own; without a verb there is nothing to do.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args[..] {
        ["sample", name, rows, file] => sample(name, number(rows), Path::new(file)),
        ["learn", name, file, seconds] => learn(name, Path::new(file), number(seconds)),
        ["random", variables, rows, seconds] => random(number(variables), number(rows), number(seconds)),
        ["count", variables, rows] => count(number(variables), number(rows)),
        _ => json!({ "verbs": ["sample", "learn", "random", "count"] }),
    };
    println!("{result}");
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is no number"))
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(SEED)
}

fn network(name: &str) -> Network {
    let (dir, file) = (pace_checkout::data_dir(None), format!("{name}.bif.gz"));
    let path = dir.find("bif", &file).unwrap_or_else(|| panic!("no bif/{file} in {dir:?}"));
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("a file that was found")).read_to_string(&mut text).expect("gzipped text");
    parse_bif(&text, &file).unwrap_or_else(|error| panic!("{error}"))
}

fn sample(name: &str, n_rows: usize, file: &Path) -> Value {
    let network = network(name);
    let order: Vec<usize> = (0..network.n_variables()).collect();
    std::fs::write(file, network.sample(n_rows, &mut rng()).csv(&order)).expect("a file that can be written");
    json!({ "variables": network.n_variables(), "rows": n_rows, "arcs": network.structure().n_arcs() })
}

fn learn(name: &str, file: &Path, seconds: usize) -> Value {
    let truth = network(name);
    let (table, read) = timed(|| {
        let file = File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        read_csv(file, name, &CsvOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    });
    let mut found = climbs(&table, truth.structure());
    found["read_seconds"] = json!(read);
    let deadline = Instant::now() + Duration::from_secs(seconds as u64);
    let start = (Instant::now(), pace_checkout::cpu_seconds());
    let scorer = Scorer::new(&table, ScoreKind::Bic).expect("BIC");
    let config = CandidateConfig { max_parents: Some(MAX_PARENTS), ..CandidateConfig::default() };
    let candidates = Candidates::all(&scorer, &config).unwrap_or_else(|error| panic!("{error}"));
    let candidates_seconds = start.0.elapsed().as_secs_f64();
    let stop = move || Instant::now() >= deadline;
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let certificate =
        certify(&candidates, None, &ExactConfig::default(), &limits).unwrap_or_else(|error| panic!("{error}"));
    found["exact"] = json!({
        "seconds": start.0.elapsed().as_secs_f64(),
        "cpu_seconds": start.1.zip(pace_checkout::cpu_seconds()).map(|(start, end)| end - start),
        "candidates_seconds": candidates_seconds,
        "families": scorer.n_families(),
        "candidates": candidates.n_families(),
        "score": certificate.score.nats(),
        "upper_bound": certificate.upper_bound,
        "gap": certificate.gap(),
        "is_proven": certificate.is_proven(),
        "components": certificate.components,
        "nodes": certificate.n_nodes,
        "cuts": certificate.n_cuts,
        "shd": shd(&Cpdag::of(&certificate.structure), &truth.cpdag()),
    });
    found["peak_mb"] = json!(peak_mb());
    found
}

fn random(n_variables: usize, n_rows: usize, seconds: usize) -> Value {
    let random = RandomNetwork { n_variables, max_levels: 4, max_parents: MAX_PARENTS, concentration: 0.5 };
    let mut rng = rng();
    let truth = random.draw(&mut rng).unwrap_or_else(|error| panic!("{error}"));
    let order: Vec<usize> = (0..n_variables).collect();
    let text = truth.sample(n_rows, &mut rng).csv(&order);
    let table = read_csv(text.as_bytes(), "sample", &CsvOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    drop(text);
    let mut found = climbs(&table, truth.structure());
    let deadline = Instant::now() + Duration::from_secs(seconds as u64);
    let stop = move || Instant::now() >= deadline;
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let (orders, time) = timed(|| {
        let scorer = Scorer::new(&table, ScoreKind::Bic).expect("BIC");
        let config = ClimbConfig { max_parents: Some(MAX_PARENTS + 1), ..ClimbConfig::tabu() };
        let first = climb(&scorer, &Structure::empty(n_variables), &config, &limits);
        let config = CandidateConfig { max_parents: Some(MAX_PARENTS + 1), ..CandidateConfig::default() };
        search_near(
            &scorer,
            &first.structure,
            &config,
            &NearConfig { n_likely: 10, sweeps: 10, ..NearConfig::default() },
            &limits,
        )
        .unwrap_or_else(|error| panic!("{error}"))
    });
    found["orders"] = described(&orders, time, truth.structure());
    found["peak_mb"] = json!(peak_mb());
    found
}

/// Hill climbing and tabu search, each with counts of its own.
fn climbs(table: &Table, truth: &Structure) -> Value {
    let run = |config: &ClimbConfig| {
        let (found, seconds) = timed(|| {
            let scorer = Scorer::new(table, ScoreKind::Bic).expect("BIC");
            climb(&scorer, &Structure::empty(table.n_variables()), config, &Limits::default())
        });
        described(&found, seconds, truth)
    };
    let scorer = Scorer::new(table, ScoreKind::Bic).expect("BIC");
    json!({
        "variables": table.n_variables(),
        "rows": table.n_rows(),
        "distinct_rows": table.n_distinct(),
        "truth": { "score": scorer.structure(truth).nats(), "arcs": truth.n_arcs() },
        "climb": run(&ClimbConfig::default()),
        "tabu": run(&ClimbConfig::tabu()),
    })
}

fn described(found: &Found, seconds: f64, truth: &Structure) -> Value {
    json!({
        "seconds": seconds,
        "score": found.score.nats(),
        "arcs": found.structure.n_arcs(),
        "shd": shd(&Cpdag::of(&found.structure), &Cpdag::of(truth)),
        "structures": found.n_structures,
    })
}

fn count(n_variables: usize, n_rows: usize) -> Value {
    let random = RandomNetwork { n_variables, max_levels: 4, max_parents: MAX_PARENTS, concentration: 0.5 };
    let mut rng = rng();
    let truth = random.draw(&mut rng).unwrap_or_else(|error| panic!("{error}"));
    let table = truth.sample(n_rows, &mut rng).table().unwrap_or_else(|error| panic!("{error}"));
    let scorer = Scorer::new(&table, ScoreKind::Bic).expect("BIC");
    let config = CandidateConfig { max_parents: Some(MAX_PARENTS), ..CandidateConfig::default() };
    let (candidates, seconds) = timed(|| Candidates::all(&scorer, &config).unwrap_or_else(|error| panic!("{error}")));
    json!({
        "families": scorer.n_families(),
        "seconds": seconds,
        "families_per_second": scorer.n_families() as f64 / seconds,
        "candidates": candidates.n_families(),
        "distinct_rows": table.n_distinct(),
        "peak_mb": peak_mb(),
    })
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// The most memory that this process has had, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok().map(|kilobytes: f64| kilobytes / 1024.0)
}
