//! D-VAE: encoders and decoder under the laws, and against the recursion node by node.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::enumerate::{Enas, OrderedBn, RandomDag, Sampler};
use pace_graph::structure::topological_order;
use pace_graph::{Dag, DagSpec, Draft};
use pace_model::decoder::{
    DagDecoder, DecodeOptions, DecoderSettings, DvaeDecoder, DvaeDecoderConfig, Edges, GraphState, Mode, NewNode,
};
use pace_model::encoder::{DagEncoder, DvaeBnConfig, DvaeConfig, EncodeParts, EncoderSettings, Purpose};
use pace_model::layers::Hearing;
use pace_model::objective::{LatentHead, Objective, VaeConfig};
use pace_model::{DagTable, Order};
use rand::RngExt;

use crate::laws::{Invariance, Laws, check_encoder};
use crate::recursion::{Heard, Slow, Weights, add, laid_out, off, relu, sigmoid, slow_encoding};
use crate::setting::{NAS101, gradients, rng, sample, test_device, values};

#[test]
fn dvae_keeps_the_laws_but_depends_on_positions() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        let config = DvaeConfig::preset(purpose);
        let broken = Laws { invariance: Invariance::Broken, ..Laws::ALL };
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, broken);
        let config = DvaeConfig { order: Order::Canonical, ..config };
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, Laws::ALL);
        // What makes the difference are the vertex ids.
        let config = DvaeConfig { order: Order::Stored, vertex_ids: false, bidirectional: false, ..config };
        let topological = Laws { invariance: Invariance::Topological, ..Laws::ALL };
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, topological);
    }
}

#[test]
fn dvae_bn_keeps_the_laws() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        for bidirectional in [false, true] {
            let config = DvaeBnConfig { bidirectional, ..DvaeBnConfig::preset(purpose) };
            check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, Laws::ALL);
        }
    }
}

/// Graphs of 2 to 7 nodes and any shape, topologically numbered.
pub fn any_graphs(count: usize) -> (DagSpec, Vec<Dag>) {
    let of_size = |n_nodes: usize| {
        let dags = sample(&RandomDag { n_nodes, n_ops: 4, edge_probability: 0.5 }, count, n_nodes as u64);
        dags.into_iter().map(|dag| dag.relabel(&topological_order(&dag)))
    };
    (DagSpec::new("any", ["a", "b", "c", "d"], 7), (2..=7).flat_map(of_size).collect())
}

pub fn topological(space: &dyn Sampler, count: usize) -> Vec<Dag> {
    sample(space, count, 17).into_iter().map(|dag| dag.relabel(&topological_order(&dag))).collect()
}

/// Nodes and graphs of an encoder whose module is named `states` equal those of the slow recursion.
pub fn check_encodings<E: DagEncoder>(encoder: &E, hearing: Hearing, n_layers: usize, inner: bool, dags: &[Dag]) {
    let (device, d) = (test_device(), encoder.d_node());
    let weights = Weights::of(encoder);
    let batch = DagTable::new(dags, encoder.layout()).whole(&device);
    let ([_, n], encoding) = (batch.dims(), encoder.encode(&batch));
    let (nodes, graphs) = (values(encoding.nodes), values(encoding.graph));
    let alone = values(encoder.encode_graphs(&batch));
    for (index, dag) in dags.iter().enumerate() {
        let (slow_nodes, slow_graph) = slow_encoding(&weights, hearing, n_layers, inner, dag, encoder.layout());
        for graphs in [&graphs, &alone] {
            let error = off(&graphs[index * d..][..d], &slow_graph);
            assert!(error < 1e-5, "{hearing:?}: graph {dag} is off by {error}");
        }
        for (position, slow) in slow_nodes.iter().enumerate() {
            let error = off(&nodes[(index * n + position) * d..][..d], slow);
            assert!(error < 1e-5, "{hearing:?}: node {position} of {dag} is off by {error}");
        }
    }
}

#[test]
fn encodings_are_those_of_the_recursion() {
    let device = test_device();
    let (any, dags) = any_graphs(4);
    let cases =
        [(&any, dags), (&DagSpec::na(), topological(&Enas::default(), 20)), (&NAS101.spec(), sample(&*NAS101, 20, 3))];
    for (spec, dags) in &cases {
        for purpose in [Purpose::Vae, Purpose::Mlm] {
            for (bidirectional, vertex_ids) in [(true, true), (false, true), (true, false), (false, false)] {
                let order = if vertex_ids { Order::Stored } else { Order::Canonical };
                let config =
                    DvaeConfig { d_hidden: 9, bidirectional, vertex_ids, order, ..DvaeConfig::preset(purpose) };
                check_encodings(&config.init(spec, 3, &device), Hearing::GatedStates, 1, false, dags);
            }
            for bidirectional in [true, false] {
                let config = DvaeBnConfig { d_hidden: 9, bidirectional, ..DvaeBnConfig::preset(purpose) };
                check_encodings(&config.init(spec, 4, &device), Hearing::GatedOps, 1, true, dags);
            }
        }
    }
}

pub fn latents(n: usize, width: usize, scale: f32, seed: u64, device: &Device) -> Tensor<2> {
    let mut rng = rng(seed);
    let numbers: Vec<f32> = (0..n * width).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
    Tensor::from_data(TensorData::new(numbers, [n, width]), device)
}

/// A decoder for graphs of `spec`.
pub fn decoder(config: &DvaeDecoderConfig, spec: &DagSpec, device: &Device) -> DvaeDecoder {
    let encoder = DvaeConfig { d_hidden: 8, ..DvaeConfig::preset(Purpose::Vae) };
    config.init(6, &encoder.layout(spec), 5, device)
}

/// -log p(dag | z), decision by decision: every state from the start.
fn slow_nll(weights: &Weights, config: &DvaeDecoderConfig, z: &[f32], dag: &Dag, decoder: &DvaeDecoder) -> f64 {
    let dag = laid_out(dag, decoder.layout());
    let z: Vec<f64> = z.iter().map(|&z| f64::from(z)).collect();
    let start: Vec<f64> = weights.linear(&z, "latent").into_iter().map(f64::tanh).collect();
    let (hearing, n_layers) = (config.recursion.hearing, config.recursion.n_layers);
    let slow = Slow { weights, name: "recursion", hearing, n_layers };
    let op = |node: usize| usize::from(dag.op(node));
    let mut states: Vec<Vec<Vec<f64>>> = vec![vec![start.clone(); n_layers]];
    let mut nll = 0.0;
    for v in 1..dag.n_nodes() {
        let last = |node: usize| states[node][n_layers - 1].clone();
        let speaking = match config.graph_state {
            GraphState::Sum if v > 1 => (2..v).fold(last(1), |sum, node| add(&sum, &last(node))),
            _ => last(v - 1),
        };
        let logits = weights.linear(&relu(&weights.linear(&speaking, "heads.op_hidden")), "heads.op_out");
        nll += logits.iter().map(|logit| logit.exp()).sum::<f64>().ln() - logits[op(v)];
        let mut sources: Vec<usize> = Vec::new();
        let state = |sources: &[usize], root: Option<&[f64]>| {
            let heard: Vec<Heard<'_>> =
                sources.iter().map(|&u| Heard { states: &states[u], op: op(u), position: u }).collect();
            slow.state(op(v), &heard, root)
        };
        for u in (1..v).rev() {
            let now = state(&sources, None).pop().unwrap();
            let halves =
                add(&weights.linear(&now, "heads.edge_target"), &weights.linear(&last(u), "heads.edge_source"));
            let hidden = match config.latent_in_edges {
                true => add(&halves, &weights.linear(&start, "heads.edge_latent")),
                false => halves,
            };
            let p = sigmoid(weights.linear(&relu(&hidden), "heads.edge_out")[0]);
            let edge = dag.has_edge(u, v);
            nll -= if edge { p } else { 1.0 - p }.ln();
            sources.extend(edge.then_some(u));
        }
        let complete = state(&sources, Some(&start));
        states.push(complete);
    }
    nll
}

/// The factors that a stepper gives to the decisions that make given graphs.
fn stepped_nll(decoder: &DvaeDecoder, z: Tensor<2>, dags: &[Dag]) -> Vec<f64> {
    let n_ops = decoder.layout().spec.n_ops();
    let mut drafts = vec![Draft::new(&decoder.layout().spec); dags.len()];
    let mut stepper = decoder.stepper(z, None);
    let mut nll = vec![0.0; dags.len()];
    let longest = dags.iter().map(Dag::n_nodes).max().unwrap();
    for node in 0..longest {
        let logits = values(stepper.ops(&drafts));
        let mut new: Vec<Option<NewNode>> = dags
            .iter()
            .map(|dag| (node < dag.n_nodes()).then(|| NewNode { op: dag.op(node), sources: Vec::new() }))
            .collect();
        for (graph, new) in new.iter().enumerate() {
            let Some(new) = new else { continue };
            let logits: Vec<f64> = logits[graph * n_ops..][..n_ops].iter().map(|&logit| f64::from(logit)).collect();
            let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
            nll[graph] += total.ln() - logits[usize::from(new.op)];
        }
        let Edges::InTurn(edges) = stepper.edges() else { panic!("edges are decided in turn") };
        for source in (0..node).rev() {
            let logits = values(edges.logits(&drafts, &new, source));
            for (graph, new) in new.iter_mut().enumerate() {
                let Some(new) = new else { continue };
                let (p, edge) = (sigmoid(f64::from(logits[graph])), dags[graph].has_edge(source, node));
                nll[graph] -= if edge { p } else { 1.0 - p }.ln();
                new.sources.extend(edge.then_some(source));
            }
        }
        for (draft, new) in drafts.iter_mut().zip(new) {
            if let Some(new) = new {
                let mut positions: Vec<usize> = new.sources.iter().map(|source| source + 1).collect();
                positions.sort_unstable();
                draft.push(new.op, &positions);
            }
        }
    }
    nll
}

/// The likelihood of a batch, of the slow recursion and of the stepper are the same.
pub fn check_likelihood(config: &DvaeDecoderConfig) {
    let device = test_device();
    let (any, dags) = any_graphs(3);
    let cases = [
        (any, dags),
        (DagSpec::na(), topological(&Enas::default(), 12)),
        (DagSpec::bn(), topological(&OrderedBn::default(), 12)),
    ];
    for (spec, dags) in &cases {
        let decoder = decoder(config, spec, &device);
        let z = latents(dags.len(), 6, 1.5, 2, &device);
        let batch = DagTable::new(dags, decoder.layout()).whole(&device);
        let nll = values(decoder.nll(z.clone(), &batch, None));
        let (weights, numbers) = (Weights::of(&decoder), values(z.clone()));
        let stepped = stepped_nll(&decoder, z, dags);
        for (index, dag) in dags.iter().enumerate() {
            let slow = slow_nll(&weights, config, &numbers[index * 6..][..6], dag, &decoder);
            for (what, nll) in [("at once", f64::from(nll[index])), ("in steps", stepped[index])] {
                assert!((nll - slow).abs() < 1e-5 * slow.max(10.0), "{what}, {dag}: {nll} instead of {slow}");
            }
        }
    }
}

/// Everything that comes out is valid, whatever the weights and the latent vectors.
pub fn check_constrained(config: &DvaeDecoderConfig) {
    let device = test_device();
    for spec in [DagSpec::na(), DagSpec::bn()] {
        let decoder = decoder(config, &spec, &device);
        let mut distinct = std::collections::HashSet::new();
        for scale in [1.0, 30.0] {
            let z = latents(200, 6, scale, 4, &device);
            for options in [DecodeOptions::sample(Mode::Constrained, 1), DecodeOptions::greedy(Mode::Constrained)] {
                let dags = decoder.decode(z.clone(), None, &options);
                dags.iter().for_each(|dag| spec.validate(dag).unwrap_or_else(|error| panic!("{error}: {dag}")));
                // The same graphs alone.
                let one = decoder.decode(z.clone().slice([7..8, 0..6]), None, &options.starting_at(7));
                assert_eq!(one[0], dags[7]);
                distinct.extend(dags);
            }
        }
        assert!(distinct.len() > 100, "only {} distinct graphs", distinct.len());
    }
}

/// A VAE of these parts trains: every parameter gets a gradient that is finite and not zero.
pub fn check_training<E: EncoderSettings>(encoder: E, decoder: DvaeDecoderConfig) {
    let device = test_device().autodiff();
    let spec = DagSpec::bn();
    let dags = topological(&OrderedBn::default(), 10);
    let (d_latent, latent) = (6, LatentHead::Dense);
    let config = VaeConfig { encoder, decoder, d_latent, latent, positive: false, beta: 0.005, noise: 0.01 };
    let (vae, table) = (config.init(&spec, 1, &device), DagTable::new(&dags, &config.layout(&spec)));
    let grads = vae.loss(&table.whole(&device).train(3)).total.backward();
    for (name, (_, gradient)) in gradients(&vae, &grads) {
        let gradient = gradient.unwrap_or_else(|| panic!("no gradient for {name}"));
        assert!(gradient.iter().all(|value| value.is_finite()), "{name}");
        assert!(gradient.iter().any(|&value| value != 0.0), "the gradient of {name} is zero");
    }
    let plain = vae.valid();
    assert_eq!(plain.embed(&table.whole(&test_device())).dims(), [10, 6]);
}

#[test]
fn likelihoods_are_those_of_the_recursion_and_of_the_steps() {
    for config in [DvaeDecoderConfig::dvae(), DvaeDecoderConfig::dvae_bn()] {
        check_likelihood(&config.of_width(8));
    }
    let mut config = DvaeDecoderConfig::dvae().of_width(8);
    (config.recursion.n_layers, config.graph_state) = (2, GraphState::Sum);
    check_likelihood(&config);
}

#[test]
fn constrained_graphs_are_valid() {
    check_constrained(&DvaeDecoderConfig::dvae().of_width(16));
    check_constrained(&DvaeDecoderConfig::dvae_bn().of_width(16));
}

#[test]
fn vaes_train() {
    let dvae = DvaeConfig { d_hidden: 16, ..DvaeConfig::preset(Purpose::Vae) };
    check_training(dvae, DvaeDecoderConfig::dvae().of_width(16));
    let bn = DvaeBnConfig { d_hidden: 16, ..DvaeBnConfig::preset(Purpose::Vae) };
    check_training(bn, DvaeDecoderConfig::dvae_bn().of_width(16));
}

#[test]
fn published_sizes_are_the_authors() {
    let (spec, device) = (DagSpec::na(), test_device());
    let encoder = DvaeConfig::as_published().init(&spec, 1, &device);
    // Two recursions and a map of both. One more operation and position than theirs, the start symbol's.
    let (d, t, n) = (501, 9, 9);
    let recursion = 3 * d * (t + d + 2) + 2 * d * (d + n) + d;
    assert_eq!(encoder.num_params(), 2 * recursion + 2 * d * d + d);
    let decoder = DvaeDecoderConfig::dvae().of_width(501);
    assert_eq!((decoder.d_op, decoder.d_edge), (1002, 2004));
    assert_eq!(DvaeDecoderConfig::dvae_bn().of_width(501).d_edge, 501);
}
