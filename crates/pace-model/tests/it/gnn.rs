//! A small encoder besides PACE: all that a new one has to write, under the laws and every objective.

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use pace_graph::enumerate::{Enas, Sampler};
use pace_model::decoder::{DecodeOptions, Mode, PaceDecoderConfig};
use pace_model::encoder::{DagEncoder, EncoderSettings, Encoding, Purpose};
use pace_model::layers::{Aggregation, Flow, Init, MessagePassing, MessagePassingConfig, Readout, Stream};
use pace_model::objective::{LatentHead, MaskingConfig, Objective, VaeConfig};
use pace_model::{DagBatch, DagTable, Layout, Structure};

use crate::laws::{Laws, check_encoder};
use crate::setting::{NAS101, gradients, sample, test_device, values};

const D: usize = 16;

/// Configuration of [`Gnn`].
#[derive(Clone, Copy, Debug)]
struct GnnConfig {
    purpose: Purpose,
}

impl EncoderSettings for GnnConfig {
    type Encoder = Gnn;

    fn preset(purpose: Purpose) -> GnnConfig {
        GnnConfig { purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { structure: Structure::NONE.edge_lists(), ..self.purpose.layout(spec) }
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Gnn {
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let config = MessagePassingConfig { d_in: D, d_out: D, aggregation: Aggregation::Sum, own: true };
        let table = init.normal([self.purpose.n_tokens(&layout), D]);
        Gnn { table, rounds: vec![config.init(&mut init), config.init(&mut init)], layout }
    }
}

/// Two rounds of messages along and against the edges, and the mean of the nodes.
#[derive(Module, Debug)]
struct Gnn {
    table: Param<Tensor<2>>,
    rounds: Vec<MessagePassing>,
    #[module(skip)]
    layout: Layout,
}

impl DagEncoder for Gnn {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let edges = batch.edge_list(Flow::Both);
        let embedded = self.table.val().select(0, batch.tokens());
        let embedded = batch.pass.dropout(0.1, Stream::EncoderEmbedding).apply(0, embedded);
        let nodes = self.rounds.iter().fold(embedded, |x, round| relu(round.forward(x, edges)));
        let graph = Readout::Mean.forward(nodes.clone(), self.layout.spec.n_ops(), batch);
        Encoding { nodes, graph }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        D
    }

    fn d_graph(&self) -> usize {
        D
    }
}

#[test]
fn a_message_passing_encoder_keeps_the_laws() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        let config = GnnConfig::preset(purpose);
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, Laws::ALL);
    }
}

#[test]
fn objectives_train_any_encoder() {
    let device = test_device().autodiff();
    let spec = DagSpec::na();
    let dags = sample(&Enas::default(), 12, 1);
    let config = VaeConfig {
        encoder: GnnConfig::preset(Purpose::Vae),
        decoder: PaceDecoderConfig::vae(),
        d_latent: 8,
        latent: LatentHead::Dense,
        positive: false,
        beta: 0.005,
        noise: 0.01,
    };
    let (vae, table) = (config.init(&spec, 1, &device), DagTable::new(&dags, &config.layout(&spec)));
    let grads = vae.loss(&table.whole(&device).train(3)).total.backward();
    for (name, (_, gradient)) in gradients(&vae, &grads) {
        assert!(gradient.unwrap_or_else(|| panic!("no gradient for {name}")).iter().all(|value| value.is_finite()));
    }
    let vae = vae.valid();
    let inner = test_device();
    let z = vae.embed(&DagTable::new(&dags, &config.layout(&spec)).whole(&inner));
    assert!(values(z.clone()).iter().all(|value| value.is_finite()));
    assert!(vae.decode(z, &DecodeOptions::greedy(Mode::Constrained)).iter().all(|dag| spec.is_valid(dag)));

    let config = GnnConfig::preset(Purpose::Mlm);
    let mlm = MaskingConfig::paper().init(config.init(&spec, 1, &device), 2, &device);
    let batch = DagTable::new(&dags, &config.layout(&spec)).whole(&device);
    let loss = mlm.loss(&batch.train(5));
    assert!(loss.total.into_scalar::<f32>() > 0.0 && loss.count > 0);
}
