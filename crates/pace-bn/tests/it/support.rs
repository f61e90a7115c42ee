//! Tables, networks and slow oracles for the tests.

use std::collections::HashMap;

use pace_bn::{CsvOptions, Network, RandomNetwork, ScoreKind, Structure, Table, read_csv};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A generator.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A random network of small families.
pub fn network(n_variables: usize, seed: u64) -> Network {
    let random = RandomNetwork { n_variables, max_levels: 3, max_parents: 3, concentration: 0.5 };
    random.draw(&mut rng(seed)).unwrap()
}

/// Rows of a random network, as CSV with columns in the given order.
pub fn sampled_csv(n_variables: usize, n_rows: usize, seed: u64, order: &[usize]) -> String {
    network(n_variables, seed).sample(n_rows, &mut rng(seed + 1)).csv(order)
}

/// Rows of a random network as a table of the levels that occur. The seed is moved until no column is constant.
pub fn sampled(n_variables: usize, n_rows: usize, seed: u64) -> Table {
    let order: Vec<usize> = (0..n_variables).collect();
    (0..100)
        .find_map(|attempt| read(&sampled_csv(n_variables, n_rows, seed + 1000 * attempt, &order)).ok())
        .expect("a sample without constant columns")
}

/// Reads CSV text.
pub fn read(text: &str) -> Result<Table, pace_bn::Error> {
    read_csv(text.as_bytes(), "my.csv", &CsvOptions::default())
}

/// The score of a family by its definition, counted row by row.
pub fn slow_family(table: &Table, kind: ScoreKind, variable: u16, parents: &[u16]) -> f64 {
    let mut joint: HashMap<(Vec<u16>, u16), f64> = HashMap::new();
    let mut marginal: HashMap<Vec<u16>, f64> = HashMap::new();
    for (row, &weight) in table.weights().iter().enumerate() {
        let configuration: Vec<u16> = parents.iter().map(|&parent| table.column(parent.into())[row]).collect();
        *joint.entry((configuration.clone(), table.column(variable.into())[row])).or_default() += f64::from(weight);
        *marginal.entry(configuration).or_default() += f64::from(weight);
    }
    let r = table.n_levels(variable.into()) as f64;
    let q: f64 = parents.iter().map(|&parent| table.n_levels(parent.into()) as f64).product();
    let log_likelihood: f64 = joint.iter().map(|((j, _), n)| n * (n / marginal[j]).ln()).sum();
    match kind {
        ScoreKind::LogLikelihood => log_likelihood,
        ScoreKind::Aic => log_likelihood - (r - 1.0) * q,
        ScoreKind::Bic => log_likelihood - (table.n_rows() as f64).ln() / 2.0 * (r - 1.0) * q,
        ScoreKind::Bdeu { sample_size } => {
            let (a_j, a_jk) = (sample_size / q, sample_size / (q * r));
            let rows: f64 = marginal.values().map(|n| libm::lgamma(a_j) - libm::lgamma(n + a_j)).sum();
            rows + joint.values().map(|n| libm::lgamma(n + a_jk) - libm::lgamma(a_jk)).sum::<f64>()
        }
    }
}

/// All sets of variables without one of them, by size.
pub fn subsets(n_variables: usize, without: u16, max: usize) -> Vec<Vec<u16>> {
    let mut sets: Vec<Vec<u16>> = (0..1_u32 << n_variables)
        .filter(|set| set >> without & 1 == 0 && set.count_ones() as usize <= max)
        .map(|set| (0..n_variables as u16).filter(|bit| set >> bit & 1 == 1).collect())
        .collect();
    sets.sort_by_key(Vec::len);
    sets
}

/// All structures over some variables, by all choices of parents.
pub fn all_structures(n_variables: usize) -> Vec<Structure> {
    let choices: Vec<Vec<Vec<u16>>> =
        (0..n_variables as u16).map(|variable| subsets(n_variables, variable, n_variables)).collect();
    let mut found: Vec<Vec<Vec<u16>>> = vec![Vec::new()];
    for choices in &choices {
        found = found
            .into_iter()
            .flat_map(|start| choices.iter().map(move |parents| [start.clone(), vec![parents.clone()]].concat()))
            .collect();
    }
    found.into_iter().filter_map(|parents| Structure::new(parents).ok()).collect()
}

/// The score kinds, all of them.
pub const KINDS: [ScoreKind; 5] = [
    ScoreKind::LogLikelihood,
    ScoreKind::Aic,
    ScoreKind::Bic,
    ScoreKind::Bdeu { sample_size: 1.0 },
    ScoreKind::Bdeu { sample_size: 10.0 },
];
