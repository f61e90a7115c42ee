//! Encoders chosen by name, and what they share.

use burn::tensor::{Device, Distribution, Tensor};
use pace_graph::DagSpec;
use pace_graph::enumerate::{Enas, Sampler};
use pace_model::encoder::{EncodeParts, EncoderConfig, EncoderSettings, PaceConfig, Purpose};
use pace_model::layers::Init;
use pace_model::layers::{BlocksConfig, EncoderStack, Keys, NormPlacement};
use pace_model::objective::{MlmConfig, Objective, VaeConfig};
use pace_model::{Attention, DagTable, Order};

use crate::laws::{Invariance, Laws, check_encoder};
use crate::setting::{NAS101, sample, test_device, values};

/// Every encoder of the list, as programs make it, obeys the laws.
#[test]
fn named_encoders_obey_the_laws() {
    for (name, purpose) in EncoderConfig::NAMES.iter().flat_map(|name| [(name, Purpose::Vae), (name, Purpose::Mlm)]) {
        let config = EncoderConfig::named(name, purpose).unwrap();
        assert_eq!(config.name(), *name);
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<EncoderConfig>(&json).unwrap(), config);
        // Those that take the stored order depend on it, by design.
        let invariance = match config.layout(&NAS101.spec()).order {
            Order::Canonical => Invariance::Any,
            Order::Stored => Invariance::Broken,
        };
        let laws = Laws { invariance, ..Laws::ALL };
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, laws);
    }
    assert_eq!(EncoderConfig::named("nobody", Purpose::Vae), None);
}

/// The same numbers, whether the encoder was chosen in code or at run time.
#[test]
fn a_choice_at_run_time_changes_no_number() {
    let (device, spec) = (test_device(), DagSpec::na());
    let dags = sample(&Enas::default(), 8, 3);
    let (typed, any) = (VaeConfig::paper(), VaeConfig::paper().any());
    let batch = DagTable::new(&dags, &any.encoder.layout(&spec)).whole(&device);
    let losses = [typed.init(&spec, 1, &device).loss(&batch), any.init(&spec, 1, &device).loss(&batch)];
    assert_eq!(values(losses[0].total.clone()), values(losses[1].total.clone()));
    let cells = sample(&*NAS101, 8, 3);
    let (typed, any) = (MlmConfig::paper(), MlmConfig::paper().any());
    let batch = DagTable::new(&cells, &any.encoder.layout(&NAS101.spec())).whole(&device);
    let embed =
        [typed.init(&NAS101.spec(), 1, &device).embed(&batch), any.init(&NAS101.spec(), 1, &device).embed(&batch)];
    assert_eq!(values(embed[0].clone()), values(embed[1].clone()));
}

#[test]
#[should_panic(expected = "laid out for another encoder")]
fn a_batch_for_another_encoder_is_refused() {
    let (device, spec) = (test_device(), DagSpec::na());
    let open = PaceConfig { attention: Attention::Open, ..PaceConfig::vae() };
    let batch = DagTable::new(&sample(&Enas::default(), 2, 0), &open.layout(&spec)).whole(&device);
    PaceConfig::vae().init(&spec, 1, &device).encode_graphs(&batch);
}

fn random<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Uniform(-1.0, 1.0), device)
}

/// A bias that is the same for all heads is the bias for all heads; and every head has a gradient of its own.
#[test]
fn stacks_take_a_bias_per_head() {
    let device = test_device().autodiff();
    let (b, n, d, n_heads) = (3, 5, 16, 4);
    for norm in [NormPlacement::Post, NormPlacement::Pre] {
        let config = BlocksConfig { n_layers: 2, n_heads, d_ff: 24, dropout: 0.0, norm, tied_init: false };
        let stack = EncoderStack::new(&config, d, &mut Init::new(1, &device));
        let (x, bias) = (random([b * n, d], &device), random([b, n, n], &device));
        let dropout = pace_model::Pass::Eval.dropout(0.0, pace_model::layers::Stream::EncoderBlocks);
        let shared = stack.forward(x.clone(), &Keys::Bias(bias.clone()), dropout);
        let per_head = bias.unsqueeze_dim::<4>(1).repeat_dim(1, n_heads).require_grad();
        let keys = Keys::HeadBias(per_head.clone());
        let split = stack.forward(x.clone(), &keys, dropout);
        let [shared, split_values] = [shared, split.clone()].map(values);
        assert!(shared.iter().zip(&split_values).all(|(shared, split)| (shared - split).abs() < 1e-4));
        let some = values(stack.forward_at(x, &keys, &[1, 7], dropout));
        assert!(
            some.iter()
                .zip(split_values[d..2 * d].iter().chain(&split_values[7 * d..]))
                .all(|(a, b)| (a - b).abs() < 1e-5)
        );
        let grads = (split.clone() * random(split.dims(), &device)).sum().backward();
        let grad = values(per_head.grad(&grads).unwrap());
        let heads: Vec<f32> =
            (0..n_heads).map(|head| grad[head * n * n..(head + 1) * n * n].iter().map(|g| g.abs()).sum()).collect();
        assert!(heads.iter().all(|&head| head > 1e-4), "{heads:?}");
    }
}
