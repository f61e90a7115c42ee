//! GT, SAN, Graphormer and GraphiT: the laws, who hears whom, random signs, and parity with PyTorch.
//!
//! The numbers are those of `tests/parity/make_graph_fixtures.py`, whose parameters have our names and shapes.

use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::enumerate::{RandomDag, Sampler};
use pace_graph::structure::{Laplacian, Paths};
use pace_graph::{Dag, DagSpec, canonical};
use pace_model::encoder::{
    DagEncoder, EncoderSettings, GraphKernel, GraphitConfig, GraphormerConfig, GtConfig, Purpose, SanConfig,
};
use pace_model::layers::{BlocksConfig, Flow, NormPlacement};
use pace_model::store::load_safetensors;
use pace_model::{DagBatch, DagTable};
use rand::{Rng, RngExt};
use safetensors::SafeTensors;

use crate::laws::{Laws, check_encoder};
use crate::setting::{NAS101, distance, gradients, sample, test_device, values};

/// Graphs of 1 to 7 nodes, many with isolated nodes or in pieces.
struct Scattered;

impl Sampler for Scattered {
    fn spec(&self) -> DagSpec {
        DagSpec::new("scattered", ["a", "b", "c"], 7)
    }

    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        let n_nodes = rng.random_range(1..=7);
        RandomDag { n_nodes, n_ops: 3, edge_probability: 0.3 }.sample(rng)
    }
}

fn check_laws(config: &impl EncoderSettings, space: &dyn Sampler) {
    check_encoder(|seed, device| config.init(&space.spec(), seed, device), space, Laws::ALL);
}

#[test]
fn graph_transformers_keep_the_laws() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        check_laws(&GtConfig::preset(purpose), &*NAS101);
        check_laws(&SanConfig::preset(purpose), &*NAS101);
        check_laws(&GraphormerConfig::preset(purpose), &*NAS101);
        check_laws(&GraphitConfig::preset(purpose), &*NAS101);
    }
}

#[test]
fn variants_keep_the_laws_on_graphs_in_pieces() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        check_laws(&GtConfig { flow: Flow::Forward, n_eigenvectors: 3, ..GtConfig::preset(purpose) }, &Scattered);
        let mut san = SanConfig { laplacian: Laplacian::Combinatorial, gamma: 1.0, ..SanConfig::preset(purpose) };
        san.blocks.norm = NormPlacement::Pre;
        san.n_eigenvectors = 3;
        check_laws(&san, &Scattered);
        let (paths, max_distance, max_degree) = (Paths::Undirected, 2, 1);
        check_laws(
            &GraphormerConfig { paths, max_distance, max_degree, ..GraphormerConfig::preset(purpose) },
            &Scattered,
        );
        let mut walk = GraphitConfig::preset(purpose);
        walk.kernel = GraphKernel::RandomWalk { steps: 2, gamma: 1.0 };
        walk.blocks.tied_init = true;
        check_laws(&walk, &Scattered);
    }
}

/// One block, no dropout.
fn one_block(blocks: BlocksConfig) -> BlocksConfig {
    BlocksConfig { n_layers: 1, dropout: 0.0, ..blocks }
}

/// For every node of a path 0 > 1 > .. > 5, the nodes whose vectors change with its operation.
fn heard_by(config: &impl EncoderSettings) -> Vec<Vec<usize>> {
    let (device, spec) = (test_device(), DagSpec::new("path", ["a", "b", "c"], 6));
    let dag = spec.parse("a b a b a c : 0>1 1>2 2>3 3>4 4>5").unwrap();
    let encoder = config.init(&spec, 1, &device);
    let batch = DagTable::new(&[dag], encoder.layout()).whole(&device);
    let (d, before) = (encoder.d_node(), values(encoder.encode(&batch).nodes));
    let changed = |node: usize| {
        let mut tokens = batch.host_tokens.clone();
        tokens[node] = if tokens[node] == 2 { 1 } else { 2 };
        let after = values(encoder.encode(&batch.with_tokens(tokens)).nodes);
        let row = |of: &[f32], node: usize| of[node * d..(node + 1) * d].to_vec();
        (0..6).filter(|&other| distance(&row(&before, other), &row(&after, other)) > 1e-5).collect()
    };
    (0..6).map(changed).collect()
}

/// The nodes of the path that are at most so many edges from each: before it, after it.
fn within(before: usize, after: usize) -> Vec<Vec<usize>> {
    (0..6).map(|node: usize| (node.saturating_sub(before)..=(node + after).min(5)).collect()).collect()
}

#[test]
fn nodes_hear_whom_they_should() {
    let mut gt = GtConfig::preset(Purpose::Mlm);
    gt.blocks = one_block(gt.blocks);
    assert_eq!(heard_by(&gt), within(1, 1));
    assert_eq!(heard_by(&GtConfig { flow: Flow::Forward, ..gt.clone() }), within(0, 1));
    assert_eq!(heard_by(&GtConfig { flow: Flow::Backward, ..gt }), within(1, 0));

    let mut san = SanConfig::preset(Purpose::Mlm);
    (san.blocks, san.position_blocks.dropout) = (one_block(san.blocks), 0.0);
    assert_eq!(heard_by(&san), within(6, 6));
    assert_eq!(heard_by(&SanConfig { gamma: 0.0, ..san }), within(1, 1));

    let mut graphormer = GraphormerConfig::preset(Purpose::Mlm);
    graphormer.blocks = one_block(graphormer.blocks);
    assert_eq!(heard_by(&graphormer), within(6, 6));

    let mut graphit = GraphitConfig::preset(Purpose::Mlm);
    graphit.blocks = one_block(graphit.blocks);
    assert_eq!(heard_by(&graphit), within(6, 6));
    for steps in [1, 2, 3] {
        let kernel = GraphKernel::RandomWalk { steps, gamma: 0.5 };
        let hops = steps as usize;
        assert_eq!(heard_by(&GraphitConfig { kernel, ..graphit.clone() }), within(hops, hops), "{steps} steps");
    }
}

/// How far training passes without dropout are from each other and from evaluation.
fn spread<C: EncoderSettings>(config: &C, batch: &dyn Fn(&C::Encoder) -> DagBatch) -> [f32; 2] {
    let encoder = config.init(&NAS101.spec(), 1, &test_device());
    let batch = batch(&encoder);
    let encode = |batch: DagBatch| values(encoder.encode(&batch).nodes);
    let [eval, one, other] = [batch.clone(), batch.clone().train(1), batch.train(2)].map(encode);
    [distance(&eval, &one), distance(&one, &other)]
}

/// Without dropout, the signs of eigenvectors are all that a training pass draws.
#[test]
fn eigenvectors_change_their_signs_in_training() {
    fn batch<E: DagEncoder>(encoder: &E) -> DagBatch {
        DagTable::new(&sample(&*NAS101, 8, 3), encoder.layout()).whole(&test_device())
    }
    let mut gt = GtConfig::preset(Purpose::Vae);
    gt.blocks.dropout = 0.0;
    let mut san = SanConfig::preset(Purpose::Vae);
    (san.blocks.dropout, san.position_blocks.dropout) = (0.0, 0.0);
    for [from_eval, from_other] in [spread(&gt, &batch), spread(&san, &batch)] {
        assert!(from_eval > 1e-2 && from_other > 1e-2, "{from_eval}, {from_other}");
    }
    let mut graphormer = GraphormerConfig::preset(Purpose::Vae);
    graphormer.blocks.dropout = 0.0;
    let mut graphit = GraphitConfig::preset(Purpose::Vae);
    graphit.blocks.dropout = 0.0;
    assert_eq!([spread(&graphormer, &batch), spread(&graphit, &batch)], [[0.0; 2]; 2]);
}

#[test]
#[should_panic(expected = "no random walk")]
fn a_kernel_out_of_range_is_refused() {
    let kernel = GraphKernel::RandomWalk { steps: 2, gamma: 1.5 };
    GraphitConfig { kernel, ..GraphitConfig::preset(Purpose::Mlm) }.init(&NAS101.spec(), 1, &test_device());
}

/// The two files of a model, and its graphs.
struct Fixture {
    weights: &'static [u8],
    expect: SafeTensors<'static>,
    dags: Vec<Dag>,
}

macro_rules! fixture {
    ($model:literal) => {
        Fixture::new(
            include_bytes!(concat!("../parity/", $model, ".weights.safetensors")),
            include_bytes!(concat!("../parity/", $model, ".expect.safetensors")),
        )
    };
}

impl Fixture {
    fn new(weights: &'static [u8], expect: &'static [u8]) -> Fixture {
        let (_, metadata) = SafeTensors::read_metadata(expect).unwrap();
        let lines = metadata.metadata().as_ref().unwrap()["dags"].clone();
        let dags: Vec<Dag> = lines.lines().map(|line| DagSpec::nas101().parse(line).unwrap()).collect();
        // PyTorch has the nodes in the order of the text.
        assert!(dags.iter().all(|dag| canonical(dag) == *dag));
        Fixture { weights, expect: SafeTensors::deserialize(expect).unwrap(), dags }
    }

    fn get(&self, name: &str) -> (Vec<usize>, Vec<f32>) {
        let view = self.expect.tensor(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (words, _) = view.data().as_chunks::<4>();
        (view.shape().to_vec(), words.iter().map(|&word| f32::from_le_bytes(word)).collect())
    }

    fn tensor(&self, name: &str, device: &Device) -> Tensor<2> {
        let (shape, numbers) = self.get(name);
        Tensor::from_data(TensorData::new(numbers, shape), device)
    }

    /// Equal to 1e-4 of the largest value.
    fn check(&self, name: &str, found_shape: &[usize], found: &[f32]) {
        let (shape, expected) = self.get(name);
        assert_eq!(shape, found_shape, "{name}");
        let largest = expected.iter().fold(1e-2f32, |most, value| most.max(value.abs()));
        let error = distance(found, &expected);
        assert!(error <= 1e-4 * largest, "{name} is {error} away; largest {largest}");
    }

    fn check_tensor(&self, name: &str, found: Tensor<2>) {
        self.check(name, &found.dims(), &values(found));
    }

    /// The vectors of nodes and graphs with the fixture's weights; padding is left out.
    fn encode<C: EncoderSettings>(&self, config: &C, device: &Device) -> (C::Encoder, Tensor<2>, Tensor<2>) {
        let encoder = load_safetensors(config.init(&DagSpec::nas101(), 0, device), self.weights).unwrap();
        let batch = DagTable::new(&self.dags, encoder.layout()).whole(device);
        let ([b, n], encoding) = (batch.dims(), encoder.encode(&batch));
        let d = encoder.d_node();
        let graphs = encoding.nodes.reshape([b, n, d]);
        let real = |(graph, &length): (usize, &usize)| {
            graphs.clone().slice([graph..graph + 1, 0..length, 0..d]).reshape([length, d])
        };
        let nodes = Tensor::cat(batch.lengths.iter().enumerate().map(real).collect(), 0);
        (encoder, nodes, encoding.graph)
    }

    /// Values and gradients.
    fn check_model(&self, config: &impl EncoderSettings) {
        let device = test_device().autodiff();
        let (encoder, nodes, graph) = self.encode(config, &device);
        self.check_tensor("nodes", nodes.clone());
        self.check_tensor("graph", graph.clone());
        let probe = |name| self.tensor(name, &device);
        let loss = (nodes * probe("node_probe")).sum() + (graph * probe("graph_probe")).sum();
        self.check("loss", &[1], &values(loss.clone()));
        let found = gradients(&encoder, &loss.backward());
        let expected = self.expect.names().into_iter().filter(|name| name.starts_with("grad.")).count();
        assert_eq!(found.len(), expected);
        for (name, (shape, gradient)) in found {
            let gradient = gradient.unwrap_or_else(|| panic!("no gradient for {name}"));
            self.check(&format!("grad.{name}"), &shape, &gradient);
        }
    }
}

/// The sizes of the fixtures.
fn shrink(blocks: &mut BlocksConfig, n_layers: usize) {
    *blocks = BlocksConfig { n_layers, n_heads: 2, d_ff: 6, dropout: 0.0, ..*blocks };
}

#[test]
fn gt_is_what_pytorch_computes() {
    let mut config = GtConfig { d_model: 8, n_eigenvectors: 4, ..GtConfig::preset(Purpose::Vae) };
    shrink(&mut config.blocks, 2);
    fixture!("gt").check_model(&config);
}

#[test]
fn san_is_what_pytorch_computes() {
    let mut config = SanConfig { d_model: 8, d_position: 4, n_eigenvectors: 5, ..SanConfig::preset(Purpose::Vae) };
    config.gamma = 0.3;
    shrink(&mut config.blocks, 2);
    shrink(&mut config.position_blocks, 1);
    fixture!("san").check_model(&config);
}

#[test]
fn graphormer_is_what_pytorch_computes() {
    let preset = GraphormerConfig::preset(Purpose::Mlm);
    let mut config = GraphormerConfig { d_model: 8, max_distance: 3, max_degree: 2, ..preset };
    shrink(&mut config.blocks, 2);
    fixture!("graphormer").check_model(&config);
}

#[test]
fn graphit_is_what_pytorch_computes() {
    let fixture = fixture!("graphit");
    let mut config = GraphitConfig { d_model: 8, ..GraphitConfig::preset(Purpose::Mlm) };
    config.kernel = GraphKernel::Diffusion { beta: 0.8 };
    shrink(&mut config.blocks, 2);
    fixture.check_model(&config);
    config.kernel = GraphKernel::RandomWalk { steps: 3, gamma: 0.6 };
    let (_, nodes, graph) = fixture.encode(&config, &test_device());
    fixture.check_tensor("walk_nodes", nodes);
    fixture.check_tensor("walk_graph", graph);
}
