//! Forward and gradients equal an independent PyTorch implementation with the same weights, to 1e-4.
//!
//! The numbers are those of `tests/parity/make_fixtures.py`. Its gradients are compared by making them a state dict: what
//! maps PyTorch's weights onto ours maps its gradients onto ours.

use burn::module::Module;
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use pace_graph::{Dag, DagSpec, Op};
use pace_model::decoder::{DagDecoder, PaceDecoder};
use pace_model::encoder::{DagEncoder, EncodeParts, Pace, PaceConfig, Task};
use pace_model::layers::PositionConfig;
use pace_model::layers::Stream;
use pace_model::objective::{Corrupted, Mlm, MlmConfig, Objective, Vae, VaeConfig};
use pace_model::store::{load_pytorch, to_safetensors};
use pace_model::{DagBatch, DagTable, Layout, Pass};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use crate::setting::{gradients, test_device, values};

/// The two files of a case.
pub struct Fixture {
    pub weights: &'static [u8],
    expect: SafeTensors<'static>,
    dags: Vec<Dag>,
}

macro_rules! fixture {
    ($case:literal, $spec:expr) => {
        $crate::parity::Fixture::new(
            include_bytes!(concat!("../parity/", $case, ".weights.safetensors")),
            include_bytes!(concat!("../parity/", $case, ".expect.safetensors")),
            &$spec,
        )
    };
}

pub(crate) use fixture;

impl Fixture {
    pub fn new(weights: &'static [u8], expect: &'static [u8], spec: &DagSpec) -> Fixture {
        let (_, metadata) = SafeTensors::read_metadata(expect).unwrap();
        let dags =
            metadata.metadata().as_ref().unwrap()["dags"].lines().map(|line| spec.parse(line).unwrap()).collect();
        Fixture { weights, expect: SafeTensors::deserialize(expect).unwrap(), dags }
    }

    fn get(&self, name: &str) -> Vec<f32> {
        let (words, _) = self.expect.tensor(name).unwrap().data().as_chunks::<4>();
        words.iter().map(|&word| f32::from_le_bytes(word)).collect()
    }

    pub fn tensor<const D: usize>(&self, name: &str, device: &Device) -> Tensor<D> {
        let shape = self.expect.tensor(name).unwrap().shape().to_vec();
        Tensor::from_data(TensorData::new(self.get(name), shape), device)
    }

    pub fn batch(&self, layout: &Layout, device: &Device) -> DagBatch {
        DagTable::new(&self.dags, layout).whole(device)
    }

    pub fn check<const D: usize>(&self, name: &str, found: Tensor<D>) {
        assert_eq!(found.dims().to_vec(), self.expect.tensor(name).unwrap().shape(), "{name}");
        assert_close(name, &values(found), &self.get(name));
    }

    /// Every gradient of `module` against the tensors under `prefix`.
    pub fn check_gradients<M: Module>(&self, prefix: &str, module: &M, grads: &Gradients) {
        let named = self.expect.iter().filter_map(|(name, view)| Some((name.strip_prefix(prefix)?, view)));
        let theirs = load_pytorch(module.clone(), &safetensors::serialize(named, None).unwrap()).unwrap();
        let theirs = to_safetensors(&theirs);
        let theirs = SafeTensors::deserialize(&theirs).unwrap();
        for (name, (shape, found)) in gradients(module, grads) {
            let expected = theirs.tensor(&name).unwrap();
            assert_eq!(expected.shape(), shape);
            let found = found.unwrap_or_else(|| panic!("no gradient for {name}"));
            assert_close(&name, &found, &floats(&expected));
        }
    }
}

fn floats(view: &TensorView<'_>) -> Vec<f32> {
    assert_eq!(view.dtype(), Dtype::F32);
    let (words, _) = view.data().as_chunks::<4>();
    words.iter().map(|&word| f32::from_le_bytes(word)).collect()
}

/// Equal to 1e-4 of the largest value.
fn assert_close(name: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let largest = expected.iter().fold(1e-2f32, |most, value| most.max(value.abs()));
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= 1e-4 * largest, "{name}[{place}]: {found}, not {expected}; largest {largest}");
    }
}

/// The sizes of the fixtures.
fn shrink(encoder: &mut PaceConfig, d: usize) {
    encoder.embedding.d_op = d;
    encoder.embedding.d_position = d;
    encoder.blocks.n_layers = 2;
    encoder.blocks.n_heads = 2;
    encoder.blocks.d_ff = 8;
    encoder.blocks.dropout = 0.0;
}

fn small(mut config: VaeConfig) -> VaeConfig {
    shrink(&mut config.encoder, 4);
    config.decoder.embedding = config.encoder.embedding;
    config.decoder.blocks = config.encoder.blocks;
    config.decoder.d_hidden = 6;
    config.d_latent = 4;
    config
}

fn check_vae(fixture: &Fixture, config: VaeConfig, spec: &DagSpec) {
    let device = test_device().autodiff();
    let config = small(config);
    let vae: Vae<Pace, PaceDecoder> = load_pytorch(config.init(spec, 0, &device), fixture.weights).unwrap();
    let batch = fixture.batch(vae.encoder().layout(), &device);

    let encoding = vae.encoder().encode(&batch);
    fixture.check("nodes", encoding.nodes);
    fixture.check("graph", encoding.graph);
    let (mu, log_variance) = vae.posterior(&batch);
    fixture.check("mu", mu.clone());
    fixture.check("log_variance", log_variance.clone());
    fixture.check("nll", vae.decoder().nll(mu.clone(), &batch, vae.encoder().shared_embedding()));
    let loss = vae.loss(&batch).total;
    fixture.check("loss", loss.clone());
    fixture.check_gradients("grad.", &vae, &loss.backward());

    // With noise: the fixture's own, put together from the parts ...
    let noisy = |eps: Tensor<2>| {
        let (mu, log_variance) = vae.posterior(&batch);
        let z = mu.clone() + eps * (log_variance.clone() / 2.0).exp() * config.noise;
        let kl = (mu.square() + log_variance.clone().exp() - log_variance - 1.0).sum() * 0.5;
        vae.decoder().nll(z, &batch, vae.encoder().shared_embedding()).sum() + kl * config.beta
    };
    let loss = noisy(fixture.tensor("eps", &device));
    fixture.check("noisy_loss", loss.clone());
    fixture.check_gradients("noisy_grad.", &vae, &loss.backward());
    // ... and the one a training pass draws, put together in the same way.
    let eps = Pass::Train { seed: 9 }.normal(mu.dims(), Stream::Latent, &device).unwrap();
    let (found, expected) = (values(vae.loss(&batch.clone().train(9)).total), values(noisy(eps)));
    assert_close("training loss", &found, &expected);
}

#[test]
fn published_vae_on_na() {
    let spec = DagSpec::na();
    check_vae(&fixture!("na_published", spec), VaeConfig::as_published(Task::Na), &spec);
}

#[test]
fn published_vae_on_bn() {
    let spec = DagSpec::bn();
    check_vae(&fixture!("bn_published", spec), VaeConfig::as_published(Task::Bn), &spec);
}

#[test]
fn paper_vae_on_cells() {
    let spec = DagSpec::nas101();
    check_vae(&fixture!("vae_paper", spec), VaeConfig::paper().of_width(32), &spec);
}

/// The published code fills -1e9 in for masked scores, and no gradient passes there.
#[test]
fn published_mlm_encoder() {
    let (device, spec) = (test_device().autodiff(), DagSpec::nas101());
    let fixture = fixture!("mlm_published", spec);
    let mut config = PaceConfig::as_published(Task::Nas101);
    shrink(&mut config, 8);
    config.embedding.position = PositionConfig::Sinusoid { scale: 0.5 };
    let encoder: Pace = load_pytorch(config.init(&spec, 0, &device), fixture.weights).unwrap();
    let encoding = encoder.encode(&fixture.batch(encoder.layout(), &device));
    fixture.check("nodes", encoding.nodes);
    fixture.check("graph", encoding.graph.clone());
    let loss = (encoding.graph * fixture.tensor("probe", &device)).sum();
    fixture.check("loss", loss.clone());
    fixture.check_gradients("filled_grad.", &encoder, &loss.backward());
}

#[test]
fn paper_mlm() {
    let (device, spec) = (test_device().autodiff(), DagSpec::nas101());
    let fixture = fixture!("mlm_paper", spec);
    let mut config = MlmConfig::paper();
    shrink(&mut config.encoder, 8);
    let mlm: Mlm<Pace> = load_pytorch(config.init(&spec, 0, &device), fixture.weights).unwrap();
    let batch = fixture.batch(mlm.encoder().layout(), &device);
    let encoding = mlm.encoder().encode(&batch);
    fixture.check("nodes", encoding.nodes);
    fixture.check("graph", encoding.graph);

    let labels = fixture.get("labels");
    let selected: Vec<usize> = (0..labels.len()).filter(|&place| labels[place] >= 0.0).collect();
    let corrupted = Corrupted {
        tokens: fixture.get("tokens").iter().map(|&token| token as Op).collect(),
        labels: selected.iter().map(|&place| labels[place] as Op).collect(),
        selected,
    };
    let loss = mlm.loss_on(&batch, &corrupted).total;
    fixture.check("loss", loss.clone());
    fixture.check_gradients("grad.", &mlm, &loss.backward());
}
