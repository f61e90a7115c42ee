//! The NAS-Bench-101 surrogate: its embedded weights, its training, its file, and the space it labels.

use pace_checkout::data_with;
use pace_graph::dataset::{Dataset, Nas101Table, Sample};
use pace_graph::enumerate::{Nas101Space, Sampler};
use pace_graph::split_reference;
use pace_search::metrics::spearman;
use pace_search::oracle::{Nas101Surrogate, Nas101SurrogateConfig, Oracle, PerceptronConfig, embedded_nas101};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn stand_in_is_the_whole_space_and_what_its_note_says() {
    let nas101 = embedded_nas101();
    assert_eq!(nas101.space.len(), 423_624);
    assert!(nas101.note.contains("stand-in") && nas101.note.contains("Spearman"));
    println!("{}", nas101.note);
    let cell = nas101.space.cell(300_000);
    let score = nas101.score(300_000);
    assert!((0.0..=1.0).contains(&score));
    assert_eq!(Nas101Surrogate::embedded().evaluate(&[cell.relabel(&[6, 2, 1, 4, 3, 5, 0])]).unwrap(), [score]);
}

#[test]
fn embedded_weights_keep_their_promise_on_the_real_table() {
    let surrogate = Nas101Surrogate::embedded();
    let (held_out, best) = (surrogate.held_out(), surrogate.held_out_best());
    println!("{held_out:?}, best tenth {best:?}");
    assert!(surrogate.to_bytes().len() < 500_000);
    assert!(held_out.spearman > 0.95 && held_out.n_rows == 42_363, "{held_out:?}");
    let (id, file) = ("nasbench101", "nasbench101.csv");
    let Some(dir) = data_with(&[(id, file)]) else { return };
    let table = dir.read(&Nas101Table::default(), id, file, &mut |_| {}).unwrap();
    // Every tenth of the held-out rows is enough to tell.
    let test: Vec<usize> = split_reference(table.samples.len(), 0.9).test.into_iter().step_by(10).collect();
    let dags: Vec<_> = test.iter().map(|&row| table.samples[row].dag.clone()).collect();
    let found = surrogate.evaluate(&dags).unwrap();
    let wanted: Vec<f64> = table.targets(&test).unwrap();
    let spearman = spearman(&found, &wanted);
    assert!((spearman - held_out.spearman).abs() < 0.01, "{spearman} is not {}", held_out.spearman);
}

/// Cells that are better the more 3x3 convolutions they have, and worse for every pooling.
fn table(n: usize) -> Dataset {
    let (space, mut rng) = (Nas101Space::enumerate(), ChaCha8Rng::seed_from_u64(4));
    let sample = || {
        let dag = space.sample(&mut rng);
        let count = |wanted: u16| dag.ops().filter(|&op| op == wanted).count() as f64;
        let score = 0.9 + 0.01 * count(2) - 0.02 * count(3) + 0.001 * dag.n_edges() as f64;
        Sample::new(dag, score)
    };
    let samples: Vec<Sample> = std::iter::repeat_with(sample).take(n).collect();
    Dataset { name: "nas101".to_owned(), spec: space.spec(), samples, note: String::new() }
}

fn small() -> Nas101SurrogateConfig {
    let perceptron = PerceptronConfig {
        n_members: 2,
        width: 16,
        n_epochs: 20,
        batch_size: 32,
        learning_rate: 5e-3,
        weight_decay: 0.01,
        seed: 0,
    };
    Nas101SurrogateConfig { perceptron }
}

#[test]
fn training_learns_and_repeats_itself() {
    let table = table(2000);
    let surrogate = small().fit(&table, &|_, _, _| {}).unwrap();
    let (held_out, best) = (surrogate.held_out(), surrogate.held_out_best());
    assert!(held_out.spearman > 0.95 && held_out.rmse < 0.3, "{held_out:?}");
    assert_eq!((held_out.n_rows, best.n_rows), (200, 20));
    assert_eq!(small().fit(&table, &|_, _, _| {}).unwrap(), surrogate);
    assert_eq!(Nas101Surrogate::from_bytes(&surrogate.to_bytes()).unwrap(), surrogate);
}

#[test]
fn training_wants_enough_cells_of_the_space() {
    let message = |table: &Dataset| small().fit(table, &|_, _, _| {}).unwrap_err().to_string();
    let mut table = table(150);
    table.samples.iter_mut().skip(50).for_each(|sample| sample.target = None);
    assert!(message(&table).contains("50 labelled graphs, but the surrogate wants at least 100"));
    table.samples[7].dag = "0 9 4 : 0>1 1>2".parse().unwrap();
    assert!(message(&table).starts_with("graph 7: node 1 has operation '9'"));
}
