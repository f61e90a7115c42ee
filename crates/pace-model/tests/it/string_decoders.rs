//! The decoders of S-VAE, GraphRNN and DeepGMG: steps against the likelihood, validity, gradients and learning.

use std::collections::HashMap;

use burn::tensor::activation::{log_sigmoid, log_softmax};
use burn::tensor::{Device, Tensor};
use pace_graph::enumerate::{Darts, Enas, OrderedBn, RandomDag, Sampler};
use pace_graph::structure::topological_order;
use pace_graph::{Dag, DagSpec, Draft, Op};
use pace_model::decoder::{
    DagDecoder, DecodeOptions, Decoder, DecoderConfig, DecoderSettings, DeepGmgDecoderConfig, Edges,
    GraphRnnDecoderConfig, Mode, NewNode, SvaeDecoderConfig, Turns,
};
use pace_model::encoder::{EncoderConfig, EncoderSettings, Purpose, SvaeConfig};
use pace_model::layers::{Init, PropagationConfig};
use pace_model::objective::{LatentHead, Loss, Objective, VaeConfig};
use pace_model::{DagBatch, DagTable, Layout, Padding};

use crate::fit::{assert_all_graded, assert_learns, fit};
use crate::setting::{NAS101, distance, sample, test_device, values};

const D_LATENT: usize = 6;

/// All decoders but PACE's, which has tests of its own.
const NAMES: [&str; 5] = ["svae", "svae_transformer", "graphrnn", "graphrnn_transformer", "deepgmg"];

/// A narrow decoder of this name.
fn small(name: &str) -> DecoderConfig {
    match DecoderConfig::named(name).unwrap() {
        DecoderConfig::Svae(config) => DecoderConfig::Svae(SvaeDecoderConfig { d_hidden: 16, ..config }),
        DecoderConfig::GraphRnn(config) => DecoderConfig::GraphRnn(GraphRnnDecoderConfig { d_hidden: 16, ..config }),
        DecoderConfig::DeepGmg(_) => DecoderConfig::DeepGmg(DeepGmgDecoderConfig {
            propagation: PropagationConfig { d_hidden: 16, n_rounds: 2 },
        }),
        DecoderConfig::Pace(config) => DecoderConfig::Pace(config),
        DecoderConfig::Dvae(config) => DecoderConfig::Dvae(config.of_width(16)),
    }
}

/// The layout of a VAE on graphs as they are numbered.
fn layout(spec: &DagSpec) -> Layout {
    SvaeConfig::preset(Purpose::Vae).layout(spec)
}

fn decoder(name: &str, spec: &DagSpec, seed: u64, device: &Device) -> Decoder {
    small(name).init(D_LATENT, &layout(spec), seed, device)
}

fn latents(count: usize, scale: f64, seed: u64, device: &Device) -> Tensor<2> {
    Init::new(seed, device).normal([count, D_LATENT]).val() * scale
}

fn batch(dags: &[Dag], layout: &Layout, device: &Device) -> DagBatch {
    DagTable::new(dags, layout).whole(device)
}

/// Graphs of a space, numbered topologically.
fn graphs(space: &dyn Sampler, count: usize) -> Vec<Dag> {
    let topological = |dag: Dag| dag.relabel(&topological_order(&dag));
    sample(space, count, 3).into_iter().map(topological).collect()
}

/// -log p of each graph, asking the stepper as generation does, and choosing what makes the graph.
fn replay(decoder: &Decoder, z: Tensor<2>, dags: &[Dag]) -> Vec<f32> {
    let mut drafts = vec![Draft::new(&decoder.layout().spec); dags.len()];
    let mut nll = vec![0.0; dags.len()];
    let mut stepper = decoder.stepper(z, None);
    let longest = dags.iter().map(Dag::n_nodes).max().unwrap();
    let n_ops = decoder.layout().spec.n_ops();
    for t in 0..longest {
        let growing: Vec<usize> = (0..dags.len()).filter(|&graph| t < dags[graph].n_nodes()).collect();
        let logits = values(log_softmax(stepper.ops(&drafts), 1));
        growing.iter().for_each(|&graph| nll[graph] -= logits[graph * n_ops + usize::from(dags[graph].op(t))]);
        let new = |dag: &Dag| (t < dag.n_nodes()).then(|| NewNode { op: dag.op(t), sources: Vec::new() });
        let mut new: Vec<Option<NewNode>> = dags.iter().map(new).collect();
        let bernoulli = |logits: Tensor<1>| [values(log_sigmoid(logits.clone().neg())), values(log_sigmoid(logits))];
        match stepper.edges() {
            Edges::AtOnce(logits) => {
                assert_eq!(logits.is_some(), t > 0);
                if let Some(logits) = logits {
                    assert_eq!(logits.dims(), [dags.len(), t]);
                    let log_p = bernoulli(logits.reshape([dags.len() * t]));
                    for &graph in &growing {
                        let edge =
                            |source: usize| log_p[usize::from(dags[graph].has_edge(source, t))][graph * t + source];
                        nll[graph] -= (0..t).map(edge).sum::<f32>();
                    }
                }
            }
            Edges::InTurn(edges) => {
                assert_eq!(edges.turns(), Turns::OldestFirst);
                for source in 0..t {
                    let log_p = bernoulli(edges.logits(&drafts, &new, source));
                    for &graph in &growing {
                        let take = dags[graph].has_edge(source, t);
                        nll[graph] -= log_p[usize::from(take)][graph];
                        new[graph].as_mut().unwrap().sources.extend(take.then_some(source));
                    }
                }
            }
            Edges::Picked(edges) => {
                let mut open = if t > 0 { growing.clone() } else { Vec::new() };
                while !open.is_empty() {
                    let logits = values(edges.logits(&drafts, &new));
                    open.retain(|&graph| {
                        let (row, new) = (&logits[graph * (t + 1)..][..t + 1], new[graph].as_mut().unwrap());
                        assert!(row.iter().all(|logit| logit.is_finite()));
                        // Generation leaves out what was picked.
                        let free = (0..=t).filter(|pick| !new.sources.contains(pick));
                        let total: f32 = free.map(|pick| row[pick].exp()).sum();
                        let left = |&source: &usize| !new.sources.contains(&source);
                        let next = dags[graph].predecessors(t).filter(left).max();
                        nll[graph] -= row[next.unwrap_or(t)] - total.ln();
                        new.sources.extend(next);
                        next.is_some()
                    });
                }
            }
        }
        for &graph in &growing {
            let sources: Vec<usize> = dags[graph].predecessors(t).map(|source| source + 1).collect();
            drafts[graph].push(dags[graph].op(t), &sources);
        }
    }
    nll
}

/// Graphs of many sizes, single nodes and full ones among them.
fn mixed() -> (DagSpec, Vec<Dag>) {
    let random = |n_nodes| graphs(&RandomDag { n_nodes, n_ops: 3, edge_probability: 0.4 }, 4);
    let mut dags: Vec<Dag> = [1, 2, 3, 5, 7].into_iter().flat_map(random).collect();
    // Every edge there can be: DeepGMG picks all sources.
    let all = (0..5).flat_map(|to| (0..to).map(move |from| (from, to)));
    dags.push(Dag::new(vec![0, 1, 2, 1, 0], all).unwrap());
    (DagSpec::new("mixed", ["a", "b", "c"], 7), dags)
}

#[test]
fn steps_have_the_factors_of_the_likelihood() {
    let device = test_device();
    let cases = [mixed(), (DagSpec::darts(), graphs(&Darts, 5))];
    for ((spec, dags), name) in cases.iter().flat_map(|case| NAMES.map(|name| (case, name))) {
        let decoder = decoder(name, spec, 3, &device);
        let z = latents(dags.len(), 2.0, 5, &device);
        let found = values(decoder.nll(z.clone(), &batch(dags, decoder.layout(), &device), None));
        let expected = replay(&decoder, z, dags);
        assert!(distance(&found, &expected) < 1e-4, "{name}: {found:?} instead of {expected:?}");
    }
}

/// The likelihood of a graph does not depend on other graphs of the batch, nor on padding.
#[test]
fn graphs_are_judged_alone() {
    let device = test_device();
    let (spec, dags) = mixed();
    for name in NAMES {
        let decoder = decoder(name, &spec, 3, &device);
        let z = latents(dags.len(), 2.0, 5, &device);
        let together = values(decoder.nll(z.clone(), &batch(&dags, decoder.layout(), &device), None));
        let tight = Layout { padding: Padding::Longest, ..decoder.layout().clone() };
        for (index, dag) in dags.iter().enumerate() {
            let own = z.clone().slice([index..index + 1, 0..D_LATENT]);
            let alone = values(decoder.nll(own, &batch(std::slice::from_ref(dag), &tight, &device), None));
            assert!((alone[0] - together[index]).abs() < 1e-4, "{name}: {alone:?} instead of {}", together[index]);
        }
    }
}

/// All graphs of `n` nodes with operations `0..n_ops`, numbered topologically.
fn all_graphs(n: usize, n_ops: Op) -> Vec<Dag> {
    let pairs: Vec<_> = (1..n).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
    let n_labels = usize::from(n_ops).pow(n as u32);
    let graph = |code: usize| {
        let (labels, edges) = (code % n_labels, code / n_labels);
        let ops = (0..n as u32).map(|node| (labels / usize::from(n_ops).pow(node)) as Op % n_ops).collect();
        Dag::new(ops, pairs.iter().enumerate().filter(|(bit, _)| edges >> bit & 1 == 1).map(|(_, &pair)| pair)).unwrap()
    };
    (0..n_labels << pairs.len()).map(graph).collect()
}

/// Probabilities of all graphs add up to 1, which no decoder achieves that sees what it predicts, and samples have these
/// frequencies. DeepGMG's likelihood is of one order of picking; all orders lead to what is sampled.
#[test]
fn likelihoods_are_a_distribution() {
    const DRAWS: usize = 20_000;
    let device = test_device();
    let spec = DagSpec::new("tiny", ["a", "b"], 3);
    let graphs = all_graphs(3, 3); // two operations and the start symbol
    for name in NAMES {
        let decoder = decoder(name, &spec, 11, &device);
        let z = latents(1, 2.0, 3, &device);
        let nll = decoder.nll(z.clone().repeat_dim(0, graphs.len()), &batch(&graphs, decoder.layout(), &device), None);
        let p: Vec<f64> = values(nll).into_iter().map(|nll| f64::from(-nll).exp()).collect();
        let mut frequencies = HashMap::new();
        for dag in decoder.decode(z.repeat_dim(0, DRAWS), None, &DecodeOptions::sample(Mode::Published, 1)) {
            *frequencies.entry(dag).or_insert(0.0) += 1.0 / DRAWS as f64;
        }
        let total: f64 = p.iter().sum();
        assert!(if name == "deepgmg" { total < 0.99 } else { (total - 1.0).abs() < 1e-4 }, "{name}: {total}");
        for (graph, p) in graphs.iter().zip(p) {
            let f = frequencies.get(graph).copied().unwrap_or(0.0);
            let slack = 5.0 * (p * (1.0 - p) / DRAWS as f64).sqrt() + 1e-4;
            let orders = (0..3).map(|node| graph.predecessors(node).count()).filter(|&count| count > 1).count();
            match name == "deepgmg" && orders > 0 {
                true => assert!(f > p - slack, "{name}: {graph}: {p}, seen {f}"),
                false => assert!((f - p).abs() < slack, "{name}: {graph}: {p}, seen {f}"),
            }
        }
    }
}

#[test]
fn constrained_graphs_are_valid() {
    const GRAPHS: usize = 150;
    let device = test_device();
    for ((spec, name), scale) in [DagSpec::na(), DagSpec::bn(), DagSpec::nas101()]
        .iter()
        .flat_map(|spec| NAMES.map(|name| (spec, name)))
        .flat_map(|case| [(case, 1.0), (case, 30.0)])
    {
        let decoder = decoder(name, spec, 2, &device);
        let z = latents(GRAPHS, scale, 8, &device);
        for options in [DecodeOptions::sample(Mode::Constrained, 4), DecodeOptions::greedy(Mode::Constrained)] {
            let dags = decoder.decode(z.clone(), None, &options);
            assert_eq!(dags.len(), GRAPHS);
            for dag in &dags {
                spec.validate(dag).unwrap_or_else(|error| panic!("{name}, {}: {error}: {dag}", spec.name));
                assert!(dag.is_topologically_numbered());
            }
        }
    }
}

/// A graph depends on its own latent vector and number alone.
#[test]
fn decoded_graphs_do_not_depend_on_their_batch() {
    let device = test_device();
    for name in NAMES {
        let decoder = decoder(name, &DagSpec::nas101(), 2, &device);
        let z = latents(20, 3.0, 8, &device);
        for options in [DecodeOptions::sample(Mode::Free, 6), DecodeOptions::greedy(Mode::Constrained)] {
            let whole = decoder.decode(z.clone(), None, &options);
            for (first, size) in [(0, 1), (7, 3), (19, 1)] {
                let part = z.clone().slice([first..first + size, 0..D_LATENT]);
                assert_eq!(
                    decoder.decode(part, None, &options.starting_at(first as u64)),
                    whole[first..][..size],
                    "{name}"
                );
            }
        }
    }
}

fn loss(decoder: &Decoder, z: &Tensor<2>, batch: &DagBatch) -> Loss {
    let total = decoder.nll(z.clone(), batch, None).sum();
    Loss { total, count: batch.lengths.len(), parts: Vec::new() }
}

#[test]
fn every_parameter_learns() {
    let device = test_device().autodiff();
    let spaces: [&dyn Sampler; 2] = [&Enas::default(), &OrderedBn::default()];
    for (spec, dags) in spaces.map(|space| (space.spec(), graphs(space, 8))) {
        for name in NAMES {
            let decoder = decoder(name, &spec, 2, &device);
            let (z, batch) = (latents(8, 1.0, 3, &device).detach(), batch(&dags, decoder.layout(), &device));
            assert_all_graded(&decoder, loss(&decoder, &z, &batch));
            assert_learns(&fit(decoder, 24, 1e-2, |decoder, _| loss(decoder, &z, &batch)));
        }
    }
}

/// Any encoder and any decoder make an autoencoder, and its description can be read back.
#[test]
fn decoders_are_chosen_by_name() {
    let (device, spec) = (test_device(), DagSpec::nas101());
    let cells = sample(&*NAS101, 4, 3);
    assert_eq!(DecoderConfig::named("nobody"), None);
    assert_eq!(DecoderConfig::named("pace"), Some(DecoderConfig::preset()));
    for name in DecoderConfig::NAMES {
        let decoder = DecoderConfig::named(name).unwrap();
        assert!(DecoderConfig::NAMES.contains(&decoder.name()));
        let json = serde_json::to_string(&decoder).unwrap();
        assert_eq!(serde_json::from_str::<DecoderConfig>(&json).unwrap(), decoder);
        // Their own encoders go by the same names.
        let encoder = EncoderConfig::named(name, Purpose::Vae).unwrap();
        let config = VaeConfig {
            encoder,
            decoder,
            d_latent: 8,
            latent: LatentHead::Dense,
            positive: false,
            beta: 0.005,
            noise: 0.01,
        };
        let vae = config.init(&spec, 1, &device);
        let batch = DagTable::new(&cells, &config.layout(&spec)).whole(&device);
        assert!(vae.loss(&batch).total.into_scalar::<f32>() > 0.0, "{name}");
        let decoded = vae.decode(vae.embed(&batch), &DecodeOptions::greedy(Mode::Constrained));
        assert!(decoded.iter().all(|dag| spec.is_valid(dag)), "{name}");
    }
}
