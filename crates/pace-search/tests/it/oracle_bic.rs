//! BIC against the published numbers, against plain counting, and its laws.

use std::collections::HashMap;

use pace_checkout::data_with;
use pace_graph::dataset::{Bn, DataDir, DatasetFormat};
use pace_graph::{Dag, DagSpec};
use pace_search::oracle::{Bic, MAX_VARIABLES, Observations, Optimum, Oracle};
use proptest::prelude::{Strategy, any, prop, proptest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Asia's true network, and the same without A -> T.
const TRUE_PARENTS: [u32; 8] = [0, 0, 0b1, 0b10, 0b10, 0b1100, 0b10_0000, 0b11_0000];
const WITHOUT_A_T: [u32; 8] = [0, 0, 0, 0b10, 0b10, 0b1100, 0b10_0000, 0b11_0000];

fn real_bic(dir: &DataDir) -> Bic {
    let mut text = String::new();
    dir.open("asia", "asia_5000.csv").unwrap().read_to_string(&mut text).unwrap();
    let rows = Observations::parse_csv(&text, "asia_5000.csv").unwrap();
    let start = std::time::Instant::now();
    let bic = Bic::new(&rows).unwrap();
    println!("{} rows counted in {:?}", rows.n_rows(), start.elapsed());
    bic
}

#[test]
fn real_sample_gives_the_published_scores_and_optimum() {
    let Some(dir) = data_with(&[("asia", "asia_5000.csv")]) else { return };
    let bic = real_bic(&dir);
    assert_eq!(bic.spec(), &DagSpec::bn());
    assert!((bic.score(&TRUE_PARENTS) + 11_109.741_872).abs() < 1e-6);
    assert!((bic.score(&WITHOUT_A_T) + 11_107.293_309).abs() < 1e-6);
    let optimum = Optimum::find(&bic);
    assert!((optimum.score + 11_107.293_309).abs() < 1e-6, "{}", optimum.score);
    assert_eq!(bic.evaluate(&[optimum.dag]).unwrap(), [optimum.score]);
}

#[test]
fn real_file_has_these_scores() {
    let Some(dir) = data_with(&[("asia", "asia_5000.csv"), ("bn", "asia_200k.txt")]) else { return };
    let mut text = String::new();
    let mut reader = dir.open("bn", "asia_200k.txt").unwrap();
    for _ in 0..1000 {
        reader.read_line(&mut text).unwrap();
    }
    let bn = Bn::default().read(&mut text.as_bytes(), "asia_200k.txt", &mut |_| {}).unwrap();
    assert_eq!(bn.samples.len(), 1000);
    let dags: Vec<Dag> = bn.samples.iter().map(|sample| sample.dag.clone()).collect();
    for (score, sample) in real_bic(&dir).evaluate(&dags).unwrap().into_iter().zip(&bn.samples) {
        assert!((score - sample.target.unwrap()).abs() < 1e-6, "{score} is not {:?}", sample.target);
    }
}

/// Random columns of 1 to 4 levels, each copying an earlier one now and then.
pub fn random_rows(n_variables: usize, n_rows: usize, seed: u64) -> Observations {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sizes: Vec<u8> = (0..n_variables).map(|_| rng.random_range(1..=4)).collect();
    let mut columns: Vec<Vec<u8>> = Vec::new();
    for (variable, &size) in sizes.iter().enumerate() {
        let copied = (variable > 0 && rng.random_bool(0.7)).then(|| rng.random_range(0..variable));
        let level = |row: usize| match copied {
            Some(from) if rng.random_bool(0.8) => columns[from][row] % size,
            _ => rng.random_range(0..size),
        };
        columns.push((0..n_rows).map(level).collect());
    }
    let names = (0..n_variables).map(|variable| format!("v{variable}")).collect();
    let levels = sizes.iter().map(|&size| (0..size).map(|level| level.to_string()).collect()).collect();
    Observations::new(names, levels, columns)
}

/// The definition, word by word.
fn plain_local(rows: &Observations, variable: usize, parents: u32) -> f64 {
    let parents: Vec<usize> = (0..rows.n_variables()).filter(|&parent| parents >> parent & 1 == 1).collect();
    let mut joint: HashMap<(Vec<u8>, u8), f64> = HashMap::new();
    let mut alone: HashMap<Vec<u8>, f64> = HashMap::new();
    for row in 0..rows.n_rows() {
        let configuration: Vec<u8> = parents.iter().map(|&parent| rows.column(parent)[row]).collect();
        *joint.entry((configuration.clone(), rows.column(variable)[row])).or_default() += 1.0;
        *alone.entry(configuration).or_default() += 1.0;
    }
    let log_likelihood: f64 = joint.iter().map(|((parents, _), n)| n * (n / alone[parents]).ln()).sum();
    let n_configurations: usize = parents.iter().map(|&parent| rows.n_levels(parent)).product();
    let n_parameters = (rows.n_levels(variable) - 1) * n_configurations;
    log_likelihood - 0.5 * (rows.n_rows() as f64).ln() * n_parameters as f64
}

/// Parents that respect the order of the variables.
fn ordered_parents(n_variables: usize) -> impl Strategy<Value = Vec<u32>> {
    let masks = prop::collection::vec(any::<u32>(), n_variables);
    masks.prop_map(|masks| masks.iter().enumerate().map(|(variable, mask)| mask & ((1 << variable) - 1)).collect())
}

proptest! {
    #[test]
    fn local_scores_are_those_of_plain_counting(seed in any::<u64>(), n_rows in 1usize..200, parents in 0u32..32) {
        let rows = random_rows(5, n_rows, seed);
        let bic = Bic::new(&rows).unwrap();
        for variable in 0..5 {
            let parents = parents & !(1 << variable);
            let (found, wanted) = (bic.local(variable, parents), plain_local(&rows, variable, parents));
            assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{found} is not {wanted}");
        }
    }

    /// Turning around an edge between nodes that have the same other parents keeps the Markov class (Chickering 1995).
    #[test]
    fn markov_equivalent_networks_score_the_same(seed in any::<u64>(), mut parents in ordered_parents(6), to in 1usize..6) {
        let bic = Bic::new(&random_rows(6, 100, seed)).unwrap();
        let from = to - 1;
        parents[to] = parents[from] | 1 << from;
        let before = bic.score(&parents);
        parents[to] = parents[from];
        parents[from] |= 1 << to;
        assert!(bic.network(&parents).is_ok());
        assert!((bic.score(&parents) - before).abs() < 1e-9 * before.abs().max(1.0));
    }

    #[test]
    fn score_is_a_sum_over_families_under_any_numbering(seed in any::<u64>(), parents in ordered_parents(6)) {
        let bic = Bic::new(&random_rows(6, 100, seed)).unwrap();
        let dag = bic.network(&parents).unwrap();
        assert_eq!(bic.parents(&dag).unwrap(), parents);
        let reversed: Vec<usize> = (0..dag.n_nodes()).rev().collect();
        let sum: f64 = parents.iter().enumerate().map(|(variable, &parents)| bic.local(variable, parents)).sum();
        assert_eq!(bic.evaluate(&[dag.clone(), dag.relabel(&reversed)]).unwrap(), [sum, sum]);
        assert!(Optimum::find(&bic).score >= sum - 1e-9);
    }
}

#[test]
fn bad_graphs_and_tables_are_errors() {
    let bic = Bic::new(&random_rows(2, 10, 0)).unwrap();
    let good: Dag = "0 2 3 1 : 0>1 1>2 2>3".parse().unwrap();
    let cases = [
        ("0 2 2 1 : 0>1 1>2 2>3", "graph 1: not a valid 'bn' graph: it wants exactly one 'v0' node and has 2"),
        ("0 2 1 : 0>1 1>2", "it wants exactly one 'v1' node and has 0"),
        ("0 2 9 1 : 0>1 1>2 2>3", "node 2 has operation '9'"),
        ("0 2 3 1 2 : 0>1 1>2 2>3", "5 nodes"),
    ];
    for (text, wanted) in cases {
        let found = bic.evaluate(&[good.clone(), text.parse().unwrap()]).unwrap_err().to_string();
        assert!(found.starts_with("graph 1: ") && found.contains(wanted), "{text} gives '{found}'");
    }
    let found = Bic::new(&random_rows(MAX_VARIABLES + 1, 10, 0)).unwrap_err().to_string();
    assert!(found.contains("17 variables") && found.contains("drop some columns"), "{found}");
}
