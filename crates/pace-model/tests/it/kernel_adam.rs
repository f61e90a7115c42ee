//! The fused update of Adam against its plain twin; it writes to no tensor that somebody else holds.

use burn::tensor::{Device, Tensor, TensorData};
use pace_model::internals::{AdamStep, plain};
use proptest::prelude::{any, prop_assert, proptest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::kernel_case::cases;

fn random(shape: [usize; 2], rng: &mut ChaCha8Rng) -> Tensor<2> {
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.random_range(-1.0..1.0)).collect();
    Tensor::from_data(TensorData::new(values, shape), &Device::flex())
}

fn largest(difference: Tensor<2>) -> f32 {
    difference.abs().max().into_scalar()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_few_steps_agree_with_the_twin(
        rows in 1_usize..300, columns in 1_usize..300, seed in any::<u64>(), decay in 0.0_f32..0.1, first in 1_usize..1000,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let shape = [rows, columns];
        let start = random(shape, &mut rng);
        let (mut fused, mut stock) = (start.clone(), start.clone());
        let zeros = || [start.zeros_like(), start.zeros_like()];
        let (mut fused_moments, mut stock_moments) = (zeros(), zeros());
        for time in first..first + 3 {
            let g = random(shape, &mut rng);
            let step = AdamStep { lr: 1e-2, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, decay, time };
            (fused, fused_moments) = step.take(fused, g.clone(), fused_moments);
            (stock, stock_moments) = plain::adam(&step, stock, g, stock_moments);
        }
        crate::kernel_level::record(&fused.clone().into_data().try_to_vec::<f32>().unwrap());
        prop_assert!(largest(fused.clone() - stock) < 1e-5);
        for (fused, stock) in fused_moments.into_iter().zip(stock_moments) {
            prop_assert!(largest(fused - stock) < 1e-6);
        }
        prop_assert!(largest(fused - start) > 1e-3, "the step did something");
    }
}

#[test]
fn a_shared_parameter_keeps_its_numbers() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let w = random([40, 30], &mut rng);
    let (before, held) = (w.to_data(), w.clone());
    let step = AdamStep { lr: 0.1, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, decay: 0.0, time: 1 };
    let (after, _) = step.take(w, random([40, 30], &mut rng), [held.zeros_like(), held.zeros_like()]);
    assert_eq!(held.to_data(), before);
    assert_ne!(after.to_data(), before);
}
