//! Inference that computes equal pasts once, against the plain encoder that computes every row.

use burn::tensor::{Device, Tensor, TensorData};
use pace_model::internals::{self as kernel, Pasts, plain};
use proptest::prelude::{any, proptest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::kernel_case::{Case, Draw, Outcome, cases};

/// Graphs whose rows have one of `kinds` inputs and look back.
struct Graphs {
    /// The distinct inputs, [kinds, D].
    x: Tensor<2>,
    /// The input of each row.
    inputs: Vec<u32>,
    /// Who looks at whom, [B, N, N].
    bias: Vec<f32>,
}

impl Graphs {
    fn new(case: &Case, kinds: usize, device: &Device) -> Graphs {
        let mut rng = ChaCha8Rng::seed_from_u64(case.seed);
        let x: Vec<f32> = (0..kinds * case.d).map(|_| rng.random_range(-2.0..2.0)).collect();
        let inputs = (0..case.batch * case.n).map(|_| rng.random_range(0..kinds as u32)).collect();
        let mut bias = Vec::with_capacity(case.batch * case.n * case.n);
        for position in (0..case.batch).flat_map(|_| 0..case.n) {
            let allowed = |key: usize, rng: &mut ChaCha8Rng| key == position || (key < position && rng.random());
            bias.extend((0..case.n).map(|key| if allowed(key, &mut rng) { 0.0 } else { f32::NEG_INFINITY }));
        }
        Graphs { x: Tensor::from_data(TensorData::new(x, [kinds, case.d]), device), inputs, bias }
    }

    fn pasts(&self, n: usize) -> Pasts {
        let looks_at = |row: usize, keys: &mut Vec<u32>| {
            let bias = &self.bias[row * n..(row + 1) * n];
            keys.extend((0..n as u32).filter(|key| bias[*key as usize] == 0.0));
        };
        Pasts::new(&self.inputs, n, looks_at).expect("nobody looks ahead")
    }

    /// Every row and every pair.
    fn dense(&self, case: &Case, device: &Device) -> (Tensor<2>, Tensor<3>) {
        let x: Vec<f32> = self.x.clone().into_data().try_to_vec().unwrap();
        let rows = self.inputs.iter().flat_map(|&input| x[input as usize * case.d..][..case.d].to_vec()).collect();
        let rows = TensorData::new::<f32, _>(rows, [case.batch * case.n, case.d]);
        let bias = TensorData::new(self.bias.clone(), [case.batch, case.n, case.n]);
        (Tensor::from_data(rows, device), Tensor::from_data(bias, device))
    }
}

fn still(case: &Case) -> (Case, Draw) {
    let case = Case { p: 0.0, ..*case };
    let mut draw = case.draw();
    draw.device = Device::flex();
    (case, draw)
}

fn outcome<const D: usize>(y: Tensor<D>) -> Outcome {
    Outcome(vec![("output".to_owned(), y.into_data().try_to_vec::<f32>().unwrap())])
}

/// All rows, or the given ones, of the fused path, of its twin and of the encoder.
fn compare(case: &Case, kinds: usize, rows: Option<&[u32]>) {
    let graphs = Graphs::new(case, kinds, &Device::flex());
    let pasts = graphs.pasts(case.n);
    let run = |f: &dyn Fn(&Case, &mut Draw) -> Tensor<2>| {
        let (case, mut draw) = still(case);
        outcome(f(&case, &mut draw))
    };
    let fused = run(&|case, draw| {
        let y = kernel::shared_encoder(graphs.x.clone(), &pasts, rows, draw.encoder_params(case), &case.config());
        pasts.expand(y, rows)
    });
    let twin = run(&|case, draw| {
        let y = plain::shared_encoder(graphs.x.clone(), &pasts, draw.encoder_params(case), &case.config());
        pasts.expand(y, rows)
    });
    let dense = run(&|case, draw| {
        let (x, bias) = graphs.dense(case, &draw.device);
        let all = plain::encoder(x, bias, draw.encoder_params(case), &case.config());
        match rows {
            Some(rows) => Tensor::cat(rows.iter().map(|&row| all.clone().narrow(0, row as usize, 1)).collect(), 0),
            None => all,
        }
    });
    fused.assert_close(&twin);
    fused.assert_close(&dense);
}

/// The last row of every graph and a few more.
fn some_rows(case: &Case) -> Vec<u32> {
    let chosen = |row: &u32| (row + 1).is_multiple_of(case.n as u32) || (u64::from(*row) ^ case.seed).is_multiple_of(7);
    (0..(case.batch * case.n) as u32).filter(chosen).collect()
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn equal_pasts(case in Case::any(), kinds in 1_usize..5) {
        compare(&case, kinds, None);
        compare(&case, kinds, Some(&some_rows(&case)));
    }

    #[test]
    fn maps_of_whole_graphs(case in Case::any(), kinds in 1_usize..5, width in 1_usize..40, seed in any::<u64>()) {
        let case = Case { seed, ..case };
        let pasts = Graphs::new(&case, kinds, &Device::flex()).pasts(case.n);
        let run = |fused: bool| {
            let (case, mut draw) = still(&case);
            let y = draw.leaf("y", [pasts.len(), case.d], 1.0);
            let (weight, bias) = (draw.leaf("weight", [case.n * case.d, width], 0.3), draw.leaf("bias", [width], 0.3));
            let f = if fused { kernel::concat_linear } else { plain::concat_linear };
            outcome(f(y, &pasts, weight, bias))
        };
        run(true).assert_close(&run(false));
    }
}

/// Inside a thread of the pool a batch is one group, outside two or more: the vectors are the same to the bit.
#[test]
fn groups_change_no_bit() {
    let case = large(128, 5);
    let run = || {
        let (case, mut draw) = still(&case);
        let graphs = Graphs::new(&case, 40, &draw.device);
        let pasts = graphs.pasts(case.n);
        let y = kernel::shared_encoder(graphs.x, &pasts, None, draw.encoder_params(&case), &case.config());
        let (weight, bias) = (draw.leaf("weight", [case.n * case.d, 64], 0.3), draw.leaf("bias", [64], 0.3));
        outcome(kernel::concat_linear(y, &pasts, weight, bias))
    };
    assert_eq!(run(), rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap().install(run));
}

/// Several strips in a group, hardly two rows alike, and strips of which nothing is read.
#[test]
fn large_batches() {
    let case = large(400, 3);
    for kinds in [6, 5000] {
        compare(&case, kinds, None);
        compare(&case, kinds, Some(&some_rows(&case)));
    }
    compare(&case, 5000, Some(&[17, 3000]));
}

/// More rows per graph than training has lanes for.
#[test]
fn long_graphs() {
    let case = Case { n: 40, ..large(12, 7) };
    compare(&case, 3, None);
    compare(&case, 3, Some(&some_rows(&case)));
}

fn large(batch: usize, seed: u64) -> Case {
    Case { batch, n: 9, m: 1, n_heads: 8, d: 64, hidden: 64, layers: 3, seed, p: 0.0, pre_norm: false }
}
