//! The fused kernels against their plain twins: values and every gradient, over random shapes, masks and dropout.

use burn::tensor::Device;
use pace_model::internals::{self as kernel, Masks, Truth, plain};
use proptest::prelude::proptest;

use crate::kernel_case::{Case, Outcome, cases};

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn attention(case in Case::any()) {
        let run = |fused: bool| Outcome::of(&case, |draw| {
            let qkv = draw.leaf("qkv", [case.batch * case.n, 3 * case.d], 2.0);
            let bias = (case.m % 4 > 0).then(|| draw.bias([case.batch, case.n, case.n]));
            let f = if fused { kernel::attention } else { plain::attention };
            f(qkv, bias, case.batch, case.n_heads, case.dropout())
        });
        run(true).assert_close(&run(false));
    }

    #[test]
    fn cross_attention(case in Case::any()) {
        let run = |fused: bool| Outcome::of(&case, |draw| {
            let q = draw.leaf("q", [case.batch * case.n, case.d], 2.0);
            let kv = draw.leaf("kv", [case.batch * case.m, 2 * case.d], 2.0);
            let bias = (case.hidden % 4 > 0).then(|| draw.bias([case.batch, case.n, case.m]));
            let f = if fused { kernel::cross_attention } else { plain::cross_attention };
            f(q, kv, bias, case.batch, case.n_heads, case.dropout())
        });
        run(true).assert_close(&run(false));
    }

    /// One or two queries and nothing to differentiate: the path of generation.
    #[test]
    fn single_queries(case in Case::any(), few in 1_usize..=2) {
        let run = |fused: bool| {
            let mut draw = case.draw();
            draw.device = Device::flex();
            let q = draw.constant([case.batch * few, case.d], 2.0);
            let kv = draw.constant([case.batch * case.m, 2 * case.d], 2.0);
            let bias = (case.hidden % 4 > 0).then(|| draw.bias([case.batch, few, case.m]));
            let f = if fused { kernel::cross_attention } else { plain::cross_attention };
            let out = f(q, kv, bias, case.batch, case.n_heads, case.dropout());
            Outcome(vec![("output".to_owned(), out.into_data().try_to_vec::<f32>().unwrap())])
        };
        run(true).assert_close(&run(false));
    }

    #[test]
    fn add_norm(case in Case::any()) {
        let run = |fused: bool| Outcome::of(&case, |draw| {
            let residual = draw.leaf("residual", [case.batch * case.n, case.d], 2.0);
            let x = draw.leaf("x", [case.batch * case.n, case.d], 2.0);
            let norm = draw.norm_params(&case);
            let f = if fused { kernel::add_norm } else { plain::add_norm };
            f(residual, x, norm, 1e-5, case.dropout())
        });
        run(true).assert_close(&run(false));
    }

    #[test]
    fn encoder(case in Case::any()) {
        let run = |fused: bool| Outcome::of(&case, |draw| {
            let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
            let bias = draw.bias([case.batch, case.n, case.n]);
            let layers = draw.encoder_params(&case);
            let f = if fused { kernel::encoder } else { plain::encoder };
            f(x, bias, layers, &case.config())
        });
        run(true).assert_close(&run(false));
    }

    #[test]
    fn decoder(case in Case::any()) {
        let run = |fused: bool| Outcome::of(&case, |draw| {
            let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
            let memory = draw.leaf("memory", [case.batch * case.m, case.d], 1.0);
            let own = draw.bias([case.batch, case.n, case.n]);
            let memory_mask = (case.hidden % 4 > 0).then(|| draw.bias([case.batch, case.n, case.m]));
            let layers = draw.decoder_params(&case);
            let f = if fused { kernel::decoder } else { plain::decoder };
            f(x, memory, Masks { own, memory: memory_mask }, layers, &case.config())
        });
        run(true).assert_close(&run(false));
    }

    /// Also with graphs of one node, which have nothing to predict, and heads without biases.
    #[test]
    fn graph_nll(case in Case::any()) {
        // Three positions have a pair; without one, the twin does not call its edge head.
        let n = case.n + 2;
        let run = |fused: bool| Outcome::of(&case, |draw| {
            let o = draw.leaf("o", [case.batch * n, case.d], 2.0);
            let params = draw.head_params(&case);
            let (tokens, lengths, edges) = draw.graphs(&case, n);
            let truth = Truth { tokens: &tokens, lengths: &lengths, edges: &edges };
            let f = if fused { kernel::graph_nll } else { plain::graph_nll };
            f(o, truth, params).reshape([case.batch, 1])
        });
        run(true).assert_close(&run(false));
    }
}
