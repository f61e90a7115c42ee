//! The NA surrogate: its embedded weights, its training, its file.

use pace_checkout::data_with;
use pace_graph::dataset::{Dataset, Na};
use pace_graph::split_reference;
use pace_search::oracle::{NaSurrogate, NaSurrogateConfig, Oracle, PerceptronConfig, embedded_na};

#[test]
fn stand_in_is_what_its_note_says() {
    let na = embedded_na(2000, 4).unwrap();
    assert_eq!((na.name.as_str(), na.samples.len()), ("na", 2000));
    let targets: Vec<f64> = na.samples.iter().map(|sample| sample.target.unwrap()).collect();
    na.samples.iter().for_each(|sample| na.spec.validate(&sample.dag).unwrap());
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    let std = (targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / targets.len() as f64).sqrt();
    println!("mean {mean:.4}, std {std:.4}; {}", na.note);
    // As in the published table: 0.7363 and 0.0061.
    assert!((mean - 0.7363).abs() < 0.001 && (std - 0.0061).abs() < 0.001, "{mean} {std}");
    assert!(na.note.contains("stand-in") && na.note.contains("Spearman"));
    assert_eq!(embedded_na(2000, 4).unwrap(), na);
    assert_ne!(embedded_na(2000, 5).unwrap().samples, na.samples);
}

#[test]
fn embedded_weights_keep_their_promise_on_the_real_table() {
    let surrogate = NaSurrogate::embedded();
    let held_out = surrogate.held_out();
    assert!(held_out.rmse < 0.18 && held_out.spearman > 0.97, "{held_out:?}");
    let Some(dir) = data_with(&[("na", "final_structures6.txt")]) else { return };
    let na = dir.read(&Na::default(), "na", "final_structures6.txt", &mut |_| {}).unwrap();
    let test = split_reference(na.samples.len(), 0.9).test;
    let dags: Vec<_> = test.iter().map(|&row| na.samples[row].dag.clone()).collect();
    let scores = surrogate.evaluate(&dags).unwrap();
    let squares: f64 =
        scores.iter().zip(na.targets(&test).unwrap()).map(|(score, target)| (score - target).powi(2)).sum();
    let rmse = (squares / test.len() as f64).sqrt() / 0.006_134_682_4;
    assert_eq!(test.len(), held_out.n_rows);
    assert!((rmse - held_out.rmse).abs() < 1e-4, "{rmse} is not {}", held_out.rmse);
}

fn small() -> NaSurrogateConfig {
    let perceptron = NaSurrogateConfig::default().perceptron;
    NaSurrogateConfig { perceptron: PerceptronConfig { n_members: 2, width: 16, n_epochs: 15, ..perceptron } }
}

fn table(n: usize) -> Dataset {
    embedded_na(n, 11).unwrap()
}

#[test]
fn training_learns_and_repeats_itself() {
    let na = table(2000);
    let surrogate = small().fit(&na, &|_, _, _| {}).unwrap();
    let held_out = surrogate.held_out();
    assert!(held_out.rmse < 0.5 && held_out.pearson > 0.85 && held_out.n_rows == 200, "{held_out:?}");
    assert_eq!(small().fit(&na, &|_, _, _| {}).unwrap(), surrogate);
    let mut other = small();
    other.perceptron.seed = 1;
    assert_ne!(other.fit(&na, &|_, _, _| {}).unwrap(), surrogate);
    assert_eq!(NaSurrogate::from_bytes(&surrogate.to_bytes()).unwrap(), surrogate);
}

#[test]
fn training_wants_enough_labelled_rows_of_the_space() {
    let message = |na: &Dataset| small().fit(na, &|_, _, _| {}).unwrap_err().to_string();
    let mut na = table(150);
    na.samples.iter_mut().skip(50).for_each(|sample| sample.target = None);
    assert!(message(&na).contains("50 labelled graphs, but the surrogate wants at least 100"));
    na.samples[7].dag = "0 2 1 : 0>1 1>2".parse().unwrap();
    assert!(message(&na).contains("graph 7: not a valid 'na' graph: it wants 6 layers and has 1"));
}

#[test]
fn broken_weights_and_foreign_graphs_are_errors() {
    let bytes = NaSurrogate::embedded().to_bytes();
    assert!(bytes.len() < 500_000);
    let message = |bytes: &[u8]| NaSurrogate::from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"something else").contains("do not start with PACE-NA1; train them again"));
    for n_bytes in [8, 12, 20, 40, 63] {
        assert!(message(&bytes[..n_bytes]).contains("cut off"), "{n_bytes}");
    }
    assert!(message(&bytes[..bytes.len() - 1]).contains("bytes of weights where"));
    let mut wild = bytes.clone();
    wild[8..16].fill(0xff);
    assert!(message(&wild).contains("make no sense"));
    let mut not_finite = bytes.clone();
    let last = bytes.len() - 4;
    not_finite[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(message(&not_finite).contains("not finite"));

    let foreign = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse().unwrap();
    let found = NaSurrogate::embedded().evaluate(&[foreign]).unwrap_err().to_string();
    assert!(found.starts_with("graph 0: not a valid 'na' graph"), "{found}");
}
