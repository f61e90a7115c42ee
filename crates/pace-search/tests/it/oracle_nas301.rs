//! The published NAS-Bench-301 network, its calibration, and what was distilled from it.

use std::io::Read;

use pace_checkout::data_with;
use pace_graph::canonical;
use pace_graph::dataset::{DartsPairs, DartsRecord};
use pace_graph::enumerate::{Darts, Sampler};
use pace_search::Error;
use pace_search::oracle::{
    AffineMap, Nas301, Nas301Network, Nas301Surrogate, Nas301SurrogateConfig, Oracle, PerceptronConfig, embedded_nas301,
};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FOLDER: &str = "nasbench301";

/// The real network and pairs; `None`, with a printed reason, if a file is missing.
fn real() -> Option<(Nas301Network, Vec<DartsRecord>)> {
    let (file, encoding, pairs) = ("yahpo_nb301_v1_wide_deep.onnx", "encoding.json", "pairs_1218_naslib.csv");
    let dir = data_with(&[file, encoding, pairs].map(|file| (FOLDER, file)))?;
    let read = |file: &str| {
        let mut bytes = Vec::new();
        dir.open(FOLDER, file).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let codes = String::from_utf8(read(encoding)).unwrap();
    let network = Nas301Network::read(&read(file), file, &codes, encoding).unwrap();
    let records = DartsPairs {}.read_records(&mut *dir.open(FOLDER, pairs).unwrap(), pairs, &mut |_| {}).unwrap();
    Some((network, records))
}

#[test]
fn port_agrees_with_the_published_predictions() {
    let Some((network, records)) = real() else { return };
    assert_eq!(records.len(), 1218);
    let error = |record: &DartsRecord| (network.predict(&record.genotype).unwrap() - record.predicted.unwrap()).abs();
    let largest = records.iter().map(error).fold(0.0, f64::max);
    println!("largest difference {largest:e} %");
    assert!(largest < 1e-3, "{largest}");
}

#[test]
fn calibration_and_noise_are_those_of_the_pairs() {
    let Some((network, records)) = real() else { return };
    let oracle = Nas301::calibrated(network, &records).unwrap();
    let map = oracle.map();
    println!("{map:?}");
    // As in the notes on the data: RMSE 0.229 %.
    assert!((map.residual_std - 0.229).abs() < 0.002, "{map:?}");
    let mean = |of: &dyn Fn(&DartsRecord) -> f64| records.iter().map(of).sum::<f64>() / records.len() as f64;
    let bias = mean(&|record| oracle.predict(&record.genotype).unwrap() - record.accuracy.unwrap());
    assert!(bias.abs() < 1e-9, "{bias}");

    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let cells: Vec<_> = (0..400).map(|_| Darts.sample(&mut rng)).collect();
    let quiet = oracle.evaluate(&cells).unwrap();
    let noisy = oracle.clone().with_noise(1);
    let loud = noisy.evaluate(&cells).unwrap();
    assert_eq!(loud, noisy.evaluate(&cells).unwrap());
    assert_ne!(loud, oracle.clone().with_noise(2).evaluate(&cells).unwrap());
    // The same graph in another numbering has the same score and the same noise.
    let mut order: Vec<usize> = (0..15).collect();
    order.shuffle(&mut rng);
    assert_eq!(noisy.evaluate(&[cells[7].relabel(&order)]).unwrap(), [loud[7]]);
    assert_eq!(oracle.evaluate(&[canonical(&cells[7])]).unwrap(), [quiet[7]]);
    let squares: f64 = loud.iter().zip(&quiet).map(|(loud, quiet)| (loud - quiet).powi(2)).sum();
    let ratio = (squares / 400.0).sqrt() / map.residual_std;
    // Standard error 1 / sqrt(800).
    assert!((ratio - 1.0).abs() < 0.14, "{ratio}");
}

#[test]
fn embedded_weights_keep_their_promise_against_the_teacher() {
    let surrogate = Nas301Surrogate::embedded();
    let (held_out, best) = (surrogate.held_out(), surrogate.held_out_best());
    println!("{held_out:?}, best tenth {best:?}");
    assert!(held_out.spearman > 0.97 && held_out.n_rows >= 1000, "{held_out:?}");
    let Some((network, records)) = real() else { return };
    let teacher = Nas301::calibrated(network, &records).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(99);
    let cells: Vec<_> = (0..1500).map(|_| Darts.sample(&mut rng)).collect();
    let (wanted, found) = (teacher.evaluate(&cells).unwrap(), surrogate.evaluate(&cells).unwrap());
    let n = wanted.len() as f64;
    let mean = wanted.iter().sum::<f64>() / n;
    let variance = wanted.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n;
    let squares = wanted.iter().zip(&found).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n;
    let rmse = (squares / variance).sqrt();
    assert!((rmse / held_out.rmse - 1.0).abs() < 0.2, "{rmse} is not {}", held_out.rmse);
}

#[test]
fn stand_in_is_what_its_note_says() {
    let nas301 = embedded_nas301(300, 4).unwrap();
    assert_eq!((nas301.name.as_str(), nas301.samples.len()), ("nas301", 300));
    nas301.samples.iter().for_each(|sample| nas301.spec.validate(&sample.dag).unwrap());
    assert!(nas301.samples.iter().all(|sample| (85.0..96.0).contains(&sample.target.unwrap())));
    assert!(nas301.note.contains("stand-in") && nas301.note.contains("Spearman"));
    assert_eq!(embedded_nas301(300, 4).unwrap(), nas301);
    assert_ne!(embedded_nas301(300, 5).unwrap().samples, nas301.samples);
}

/// Counts separable convolutions: a teacher that anybody can follow.
struct Count;

impl Oracle for Count {
    fn evaluate(&self, dags: &[pace_graph::Dag]) -> Result<Vec<f64>, Error> {
        Ok(dags.iter().map(|dag| 90.0 + dag.ops().filter(|&op| op == 5 || op == 6).count() as f64 / 4.0).collect())
    }
}

#[test]
fn distillation_learns_and_repeats_itself() {
    let perceptron = PerceptronConfig {
        n_members: 2,
        width: 16,
        n_epochs: 30,
        batch_size: 32,
        learning_rate: 1e-2,
        weight_decay: 0.01,
        seed: 0,
    };
    let config = Nas301SurrogateConfig { perceptron, n_cells: 2000 };
    let surrogate = config.fit(&Count, &|_, _, _| {}).unwrap();
    let held_out = surrogate.held_out();
    assert!(held_out.rmse < 0.1 && held_out.n_rows == 200, "{held_out:?}");
    assert_eq!(surrogate.held_out_best().n_rows, 20);
    assert_eq!(config.fit(&Count, &|_, _, _| {}).unwrap(), surrogate);
    let bytes = surrogate.to_bytes();
    assert_eq!(Nas301Surrogate::from_bytes(&bytes).unwrap(), surrogate);
    let message = |bytes: &[u8]| Nas301Surrogate::from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"other").contains("'nas301' surrogate: they do not start with PACE-NB3"));
    for n_bytes in [8, 20, 30, 100] {
        assert!(message(&bytes[..n_bytes]).contains("cut off"), "{n_bytes}");
    }
    assert!(message(&bytes[..bytes.len() - 1]).contains("bytes of weights where"));
    let mut wild = bytes.clone();
    wild[12] += 1;
    assert!(message(&wild).contains("features where 117 are known"));
    wild[8..12].fill(0xff);
    assert!(message(&wild).contains("make no sense"));
    let last = bytes.len() - 4;
    let mut not_finite = bytes;
    not_finite[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(message(&not_finite).contains("not finite"));
}

#[test]
fn foreign_graphs_are_refused() {
    let foreign = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse().unwrap();
    let found = Nas301Surrogate::embedded().evaluate(&[foreign]).unwrap_err().to_string();
    assert!(found.starts_with("graph 0: not a valid 'darts' graph"), "{found}");
    // A sum that reads one state twice is a DARTS cell, but NAS-Bench-301 has none.
    let twice = Darts.sample(&mut ChaCha8Rng::seed_from_u64(0));
    let edges =
        twice.edges().map(|(from, to)| if to == 3 { (twice.predecessors(2).next().unwrap(), 3) } else { (from, to) });
    let twice = pace_graph::Dag::new(twice.ops().collect(), edges.collect::<Vec<_>>()).unwrap();
    let found = Nas301Surrogate::embedded().evaluate(&[twice]).unwrap_err().to_string();
    assert!(found.contains("read one state; choose two different ones"), "{found}");
}

#[test]
fn a_line_is_recovered_with_its_noise() {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let exact: Vec<(f64, f64)> = (0..5).map(|x| (f64::from(x), 3.0 - 2.0 * f64::from(x))).collect();
    let map = AffineMap::fit(&exact).unwrap();
    assert!((map.slope + 2.0).abs() < 1e-12 && (map.offset - 3.0).abs() < 1e-12 && map.residual_std < 1e-12);
    assert!((map.apply(10.0) + 17.0).abs() < 1e-12);
    // Uniform noise of width 1 has standard deviation sqrt(1/12).
    let noisy: Vec<(f64, f64)> =
        (0..4000).map(|i| (f64::from(i), f64::from(i) + rng.random_range(-0.5..0.5))).collect();
    let map = AffineMap::fit(&noisy).unwrap();
    assert!((map.residual_std - 12.0_f64.sqrt().recip()).abs() < 0.01 && (map.slope - 1.0).abs() < 1e-4);
    assert!(AffineMap::fit(&[(1.0, 2.0); 5]).unwrap_err().to_string().contains("at least two pairs must differ"));
    assert!(AffineMap::fit(&exact[..2]).unwrap_err().to_string().contains("2 labelled graphs"));
    assert!(AffineMap::fit(&[(1.0, f64::NAN); 3]).is_err());
}
