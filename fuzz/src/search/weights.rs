//! The weights of learnt oracles.

use std::sync::LazyLock;

use pace_graph::dataset::{Dataset, Nas101Cell, Sample};
use pace_graph::enumerate::{Darts, Enas, Sampler};
use pace_graph::{Dag, DagSpec};
use pace_search::oracle::{
    Distilled, GraphFeatures, NaSurrogate, NaSurrogateConfig, Nas101Features, Nas101SurrogateConfig, Nas301Features,
    Nas301Surrogate, Nas301SurrogateConfig, Oracle, PerceptronConfig, embedded_na,
};

use crate::seed::{cells, graphs};

const TINY: PerceptronConfig = PerceptronConfig {
    n_members: 1,
    width: 1,
    n_epochs: 1,
    batch_size: 50,
    learning_rate: 1e-3,
    weight_decay: 0.0,
    seed: 0,
};

/// The smallest oracles that can be trained.
pub fn seeds() -> Vec<Vec<u8>> {
    let na = embedded_na(120, 0).expect("the stand-in needs no data");
    let na = NaSurrogateConfig { perceptron: TINY }.fit(&na, &|_, _, _| {}).expect("enough graphs");
    let repeated = cells().into_iter().cycle().take(120).enumerate();
    let sample = |(row, cell): (usize, Nas101Cell)| Sample::new(cell.dag, row as f64 / 120.0);
    let spec = DagSpec::nas101();
    let table =
        Dataset { name: "nas101".to_owned(), spec, samples: repeated.map(sample).collect(), note: String::new() };
    let nas101 = Nas101SurrogateConfig { perceptron: TINY }.fit(&table, &|_, _, _| {}).expect("enough cells");
    let config = Nas301SurrogateConfig { perceptron: TINY, n_cells: 120 };
    let nas301 = config.fit(Nas301Surrogate::embedded(), &|_, _, _| {}).expect("enough cells");
    vec![na.to_bytes(), nas101.to_bytes(), nas301.to_bytes()]
}

/// What is read is written equal, and gives scores.
pub fn read(input: &[u8]) {
    static GRAPHS: LazyLock<[Dag; 3]> = LazyLock::new(|| {
        let [na, nas301]: [&dyn Sampler; 2] = [&Enas::default(), &Darts];
        [graphs(na, 1).remove(0), cells().remove(2).dag, graphs(nas301, 1).remove(0)]
    });
    let [na, nas101, nas301] = &*GRAPHS;
    if let Ok(oracle) = NaSurrogate::from_bytes(input) {
        assert_eq!(oracle.to_bytes(), input);
        oracle.evaluate(std::slice::from_ref(na)).expect("a graph of the space");
    }
    distilled::<Nas101Features>(input, nas101);
    distilled::<Nas301Features>(input, nas301);
}

fn distilled<F: GraphFeatures>(input: &[u8], dag: &Dag) {
    if let Ok(oracle) = Distilled::<F>::from_bytes(input) {
        assert_eq!(oracle.to_bytes(), input);
        oracle.evaluate(std::slice::from_ref(dag)).expect("a graph of the space");
    }
}
