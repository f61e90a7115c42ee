//! Devices without a fused path compute the same: the twin on ndarray against the fused kernels on flex.

use burn::tensor::{Device, Tensor};
use pace_model::device::device;
use pace_model::internals::{self as kernel, Masks};

use crate::kernel_case::{Case, Outcome};

/// Two decoder blocks and one of each part, through the public functions, on one device.
fn compute(case: &Case, device: &Device) -> Outcome {
    Outcome::of(case, |draw| {
        draw.device = device.clone().autodiff();
        let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
        let memory = draw.leaf("memory", [case.batch * case.m, case.d], 1.0);
        let own = draw.bias([case.batch, case.n, case.n]);
        let slots = draw.bias([case.batch, case.n, case.m]);
        let layers = draw.decoder_params(case);
        let norm = draw.norm_params(case);
        let y =
            kernel::decoder(x.clone(), memory, Masks { own: own.clone(), memory: Some(slots) }, layers, &case.config());
        let qkv = Tensor::cat(vec![y.clone(), x, y.clone()], 1);
        let mixed = kernel::attention(qkv, Some(own), case.batch, case.n_heads, case.dropout());
        kernel::add_norm(y, mixed, norm, 1e-5, case.dropout())
    })
}

#[test]
fn ndarray_agrees_with_the_fused_kernels() {
    let (flex, ndarray) = (device("flex").unwrap(), device("ndarray").unwrap());
    assert!(!kernel::is_fused(&Tensor::zeros([1, 1], &ndarray)));
    for (p, pre_norm) in [(0.0, false), (0.3, false), (0.3, true)] {
        let case = Case { batch: 5, n: 9, m: 6, n_heads: 8, d: 32, hidden: 20, layers: 2, seed: 3, p, pre_norm };
        compute(&case, &flex).assert_close(&compute(&case, &ndarray));
    }
}
