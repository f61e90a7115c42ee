//! Inference that computes equal pasts once, against the plain twin that computes everything.

use burn::tensor::{Device, Tensor, TensorData};
use pace_model::kernel::{self, plain};
use proptest::prelude::{ProptestConfig, any, proptest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::kernel_case::{Case, Outcome};

/// Rows drawn from `kinds` different ones, and masks that look back (or, with `ahead`, now and then forward).
fn inputs(case: &Case, kinds: usize, ahead: bool, device: &Device) -> (Tensor<2>, Tensor<3>) {
    let mut rng = ChaCha8Rng::seed_from_u64(case.seed);
    let rows: Vec<Vec<f32>> = (0..kinds).map(|_| (0..case.d).map(|_| rng.random_range(-2.0..2.0)).collect()).collect();
    let x: Vec<f32> = (0..case.batch * case.n).flat_map(|_| rows[rng.random_range(0..kinds)].clone()).collect();
    let mut bias = Vec::with_capacity(case.batch * case.n * case.n);
    for position in (0..case.batch).flat_map(|_| 0..case.n) {
        for key in 0..case.n {
            let allowed =
                key == position || (key < position && rng.random()) || (ahead && rng.random_range(0..20) == 0);
            bias.push(if allowed { 0.0 } else { f32::NEG_INFINITY });
        }
    }
    let x = Tensor::from_data(TensorData::new(x, [case.batch * case.n, case.d]), device);
    (x, Tensor::from_data(TensorData::new(bias, [case.batch, case.n, case.n]), device))
}

fn compare(case: &Case, kinds: usize, ahead: bool) {
    let case = Case { p: 0.0, ..*case };
    let run = |fused: bool| {
        let mut draw = case.draw();
        draw.device = Device::flex();
        let params = draw.encoder_params(&case);
        let (x, bias) = inputs(&case, kinds, ahead, &draw.device);
        let f = if fused { kernel::encoder } else { plain::encoder };
        let y = f(x, bias, params, &case.config());
        Outcome(vec![("output".to_owned(), y.into_data().try_to_vec::<f32>().unwrap())])
    };
    run(true).assert_close(&run(false));
}

/// Only the last row of every graph and a few more.
fn compare_rows(case: &Case, kinds: usize, ahead: bool) {
    let rows: Vec<u32> = (0..(case.batch * case.n) as u32)
        .filter(|row| (row + 1) % case.n as u32 == 0 || (u64::from(*row) ^ case.seed).is_multiple_of(7))
        .collect();
    compare_these(case, kinds, ahead, &rows);
}

fn compare_these(case: &Case, kinds: usize, ahead: bool, rows: &[u32]) {
    let case = Case { p: 0.0, ..*case };
    let run = |fused: bool| {
        let mut draw = case.draw();
        draw.device = Device::flex();
        let params = draw.encoder_params(&case);
        let (x, bias) = inputs(&case, kinds, ahead, &draw.device);
        let y = match fused {
            true => kernel::encoder_rows(x, bias, rows, params, &case.config()).into_data().try_to_vec::<f32>(),
            false => plain::encoder(x, bias, params, &case.config())
                .into_data()
                .try_to_vec::<f32>()
                .map(|all| rows.iter().flat_map(|&row| all[row as usize * case.d..][..case.d].to_vec()).collect()),
        };
        Outcome(vec![("output".to_owned(), y.unwrap())])
    };
    run(true).assert_close(&run(false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equal_pasts(case in Case::any(), kinds in 1_usize..5) {
        compare(&case, kinds, false);
        compare_rows(&case, kinds, false);
    }

    #[test]
    fn masks_that_look_ahead_take_the_other_path(case in Case::any(), kinds in 1_usize..5, seed in any::<u64>()) {
        compare(&Case { seed, ..case }, kinds, true);
        compare_rows(&Case { seed, ..case }, kinds, true);
    }
}

/// Inside a thread of the pool a batch is one group, outside two or more: the vectors are the same to the bit.
#[test]
fn groups_change_no_bit() {
    let case =
        Case { batch: 128, n: 9, m: 1, n_heads: 8, d: 64, hidden: 64, layers: 3, seed: 5, p: 0.0, pre_norm: false };
    let run = || {
        let mut draw = case.draw();
        draw.device = Device::flex();
        let params = draw.encoder_params(&case);
        let (x, bias) = inputs(&case, 40, false, &draw.device);
        kernel::encoder(x, bias, params, &case.config()).into_data().try_to_vec::<f32>().unwrap()
    };
    assert_eq!(run(), rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap().install(run));
}

/// Several groups of several blocks, and hardly two rows alike.
#[test]
fn large_batches() {
    let case =
        Case { batch: 400, n: 9, m: 1, n_heads: 8, d: 64, hidden: 64, layers: 3, seed: 3, p: 0.0, pre_norm: false };
    compare(&case, 6, false);
    compare(&case, 5000, false);
    compare_rows(&case, 6, false);
    compare_rows(&case, 5000, false);
    // Groups and blocks from which nothing is read.
    compare_these(&case, 5000, false, &[17, 3000]);
}
