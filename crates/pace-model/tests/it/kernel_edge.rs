//! What must hold of the kernels beyond agreeing with their twins.

use burn::tensor::{Device, Tensor, TensorData};
use pace_model::internals::{self as kernel, Dropout, Masks, plain};

use crate::kernel_case::{Case, Outcome};

/// Large enough for several groups and chunks, and for both attention kernels.
fn large(n: usize, n_heads: usize) -> Case {
    let (batch, d, hidden) = (600 / n, 16, 24);
    Case { batch, n, m: n / 2 + 1, n_heads, d, hidden, layers: 2, seed: 11, p: 0.2, pre_norm: false }
}

fn encode(case: &Case, fused: bool) -> Outcome {
    Outcome::of(case, |draw| {
        let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
        let bias = draw.bias([case.batch, case.n, case.n]);
        let layers = draw.encoder_params(case);
        let f = if fused { kernel::encoder } else { plain::encoder };
        f(x, bias, layers, &case.config())
    })
}

#[test]
fn large_batches_and_large_graphs_agree_with_the_twin() {
    for case in [large(7, 8), large(9, 4), large(40, 8), large(150, 2)] {
        encode(&case, true).assert_close(&encode(&case, false));
    }
}

#[test]
fn many_layers_are_several_operations() {
    for pre_norm in [false, true] {
        let case = Case { layers: 6, pre_norm, batch: 5, ..large(6, 4) };
        encode(&case, true).assert_close(&encode(&case, false));
    }
}

/// Bit for bit the same on any number of threads, run after run.
#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let case = large(7, 8);
            let decoded = Outcome::of(&case, |draw| {
                let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
                let memory = draw.leaf("memory", [case.batch * case.m, case.d], 1.0);
                let own = draw.bias([case.batch, case.n, case.n]);
                let layers = draw.decoder_params(&case);
                kernel::decoder(x, memory, Masks { own, memory: None }, layers, &case.config())
            });
            (encode(&case, true), decoded)
        })
    };
    let one = run(1);
    assert_eq!(one, run(1));
    assert_eq!(one, run(3));
}

/// The rows of a graph do not depend on the other graphs of the batch.
#[test]
fn graphs_of_a_batch_are_independent() {
    let case = Case { p: 0.0, ..large(7, 8) };
    let mut draw = case.draw();
    draw.device = Device::flex();
    let x: Tensor<2> = draw.constant([case.batch * case.n, case.d], 1.0);
    let bias = draw.bias([case.batch, case.n, case.n]);
    let layers = draw.encoder_params(&case);
    let config = case.config();
    let whole = kernel::encoder(x.clone(), bias.clone(), layers.clone(), &config);
    for graph in [0, 1, case.batch - 1] {
        let rows = graph * case.n..(graph + 1) * case.n;
        let alone = kernel::encoder(
            x.clone().slice([rows.clone(), 0..case.d]),
            bias.clone().slice([graph..graph + 1, 0..case.n, 0..case.n]),
            layers.clone(),
            &config,
        );
        let (alone, whole) = (alone.into_data(), whole.clone().slice([rows, 0..case.d]).into_data());
        let pairs = alone.try_to_vec::<f32>().unwrap().into_iter().zip(whole.try_to_vec::<f32>().unwrap());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5));
    }
}

/// Else the comparisons above would compare a path with itself.
#[test]
fn flex_takes_the_fused_path() {
    for device in [Device::flex(), Device::flex().autodiff()] {
        assert!(kernel::is_fused(&Tensor::zeros([1, 1], &device)));
    }
}

/// A row with nothing allowed gives zeros; a row of equal finite penalties gives the mean of the values.
#[test]
fn closed_rows_give_zeros_and_penalties_give_the_mean() {
    let device = Device::flex();
    for (n, n_heads) in [(3, 4), (3, 1)] {
        let d = 8;
        let mut draw = large(n, n_heads).draw();
        draw.device = device.clone();
        let qkv: Tensor<2> = draw.constant([n, 3 * d], 3.0);
        let closed = f32::NEG_INFINITY;
        let bias = [closed, closed, closed, -1e9, -1e9, -1e9, 0.0, closed, closed];
        let bias = Tensor::from_data(TensorData::new(bias.to_vec(), [1, n, n]), &device);
        for attention in [kernel::attention, plain::attention] {
            let out = attention(qkv.clone(), Some(bias.clone()), 1, n_heads, Dropout::NONE);
            let values = qkv.clone().slice([0..n, 2 * d..3 * d]);
            let expected =
                [values.clone().slice([0..1, 0..d]) * 0.0, values.clone().mean_dim(0), values.slice([0..1, 0..d])];
            let expected = Tensor::cat(expected.to_vec(), 0).into_data().try_to_vec::<f32>().unwrap();
            let out = out.into_data().try_to_vec::<f32>().unwrap();
            assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5), "{out:?} {expected:?}");
        }
    }
}

/// A bias with a gradient of its own takes the plain path and gets it.
#[test]
fn learned_biases_get_their_gradient() {
    let case = large(6, 4);
    let outcome = Outcome::of(&case, |draw| {
        let qkv = draw.leaf("qkv", [case.batch * case.n, 3 * case.d], 1.0);
        let bias = draw.leaf("bias", [case.batch, case.n, case.n], 1.0);
        kernel::attention(qkv, Some(bias), case.batch, case.n_heads, Dropout::NONE)
    });
    let (name, grad) = outcome.0.last().unwrap();
    assert!(name == "bias" && grad.iter().any(|value| *value != 0.0));
}

#[test]
#[should_panic(expected = "width 10 is not a multiple of 4 heads")]
fn heads_must_divide_the_width() {
    let device = Device::flex();
    kernel::attention(Tensor::zeros([4, 30], &device), None, 2, 4, Dropout::NONE);
}
