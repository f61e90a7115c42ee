//! The fused node embedding against its twin, with and without a gradient.

use burn::tensor::Device;
use pace_model::internals::{node_embedding, plain};
use proptest::prelude::{any, proptest};

use crate::kernel_case::{Case, Outcome, cases};

fn train(case: &Case, sum: bool, fused: bool) -> Outcome {
    Outcome::of(case, |draw| {
        let (tokens, features, params) = draw.embedding(case);
        let f = if fused { node_embedding } else { plain::node_embedding };
        f(tokens, features, params, sum, case.dropout())
    })
}

fn infer(case: &Case, sum: bool, fused: bool) -> Outcome {
    let mut draw = case.draw();
    draw.device = Device::flex();
    let (tokens, features, params) = draw.embedding(case);
    let f = if fused { node_embedding } else { plain::node_embedding };
    let y = f(tokens, features, params, sum, case.dropout());
    Outcome(vec![("output".to_owned(), y.into_data().try_to_vec::<f32>().unwrap())])
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn embeddings_and_their_gradients(case in Case::any(), sum in any::<bool>()) {
        train(&case, sum, true).assert_close(&train(&case, sum, false));
        infer(&case, sum, true).assert_close(&infer(&case, sum, false));
    }
}

/// Several groups, bit for bit the same on any number of threads.
#[test]
fn large_batches_of_nodes() {
    let case =
        Case { batch: 400, n: 9, m: 7, n_heads: 8, d: 32, hidden: 64, layers: 1, seed: 3, p: 0.2, pre_norm: false };
    let still = Case { p: 0.0, ..case };
    for case in [case, still] {
        train(&case, false, true).assert_close(&train(&case, false, false));
        infer(&case, true, true).assert_close(&infer(&case, true, false));
    }
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (train(&case, false, true), infer(&still, true, true)))
    };
    assert_eq!(run(1), run(3));
}
