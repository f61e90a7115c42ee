//! Decoding latent vectors into graphs.

use std::collections::{HashMap, HashSet};

use crate::setting::test_device;
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::enumerate::{Darts, Enas, OrderedBn, RandomDag, Sampler};
use pace_graph::structure::{MaskRule, topological_order};
use pace_graph::{Dag, DagSpec, Op, Validity};
use pace_model::decoder::{Choice, DagDecoder, DecodeOptions, Mode, PaceDecoder};
use pace_model::encoder::{DagEncoder, EncodeParts, Pace, Task};
use pace_model::layers::NormPlacement;
use pace_model::objective::{Objective, Vae, VaeConfig};
use pace_model::{Attention, DagTable, Order};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn latents(n: usize, width: usize, scale: f32, seed: u64, device: &Device) -> Tensor<2> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let draw = |_| -> f32 { scale * Distribution::<f32>::sample(&StandardNormal, &mut rng) };
    Tensor::from_data(TensorData::new((0..n * width).map(draw).collect::<Vec<f32>>(), [n, width]), device)
}

fn sample(sampler: &dyn Sampler, n: usize, seed: u64) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let topological = |dag: Dag| dag.relabel(&topological_order(&dag));
    (0..n).map(|_| topological(sampler.sample(&mut rng))).collect()
}

fn vae(config: &VaeConfig, spec: &DagSpec, seed: u64) -> Vae<Pace, PaceDecoder> {
    config.init(spec, seed, &test_device())
}

fn decode(vae: &Vae<Pace, PaceDecoder>, z: Tensor<2>, options: &DecodeOptions) -> Vec<Dag> {
    vae.decoder().decode(z, vae.encoder().shared_embedding(), options)
}

fn stored(mut config: VaeConfig) -> VaeConfig {
    config.encoder.order = Order::Stored;
    config
}

/// A spec of trees of at most 12 nodes.
fn trees() -> DagSpec {
    DagSpec { max_nodes: 12, ..DagSpec::ast(["a", "b", "c", "d"]) }
}

/// The cached steps give the vectors of teacher forcing.
fn check_replay(name: &str, config: &VaeConfig, spec: &DagSpec, dags: &[Dag]) {
    let device = test_device();
    let vae = vae(&stored(config.clone()), spec, 5);
    let shared = vae.encoder().shared_embedding();
    let z = latents(dags.len(), config.d_latent, 1.0, 9, &device);
    let batch = DagTable::new(dags, vae.encoder().layout()).whole(&device);
    let [b, n] = batch.dims();
    let whole = vae.decoder().states(z.clone(), &batch, shared);
    let [_, d] = whole.dims();
    let whole = whole.reshape([b, n, d]);
    for (position, row) in vae.decoder().replay(z, dags, shared).into_iter().enumerate() {
        let expected = whole.clone().slice([0..b, position..position + 1]).reshape([b, d]);
        let error = (row - expected).abs().max_dim(1).into_data().try_to_vec::<f32>().unwrap();
        for (graph, error) in error.into_iter().enumerate().filter(|&(graph, _)| position <= dags[graph].n_nodes()) {
            assert!(error < 1e-5, "{name}: graph {graph}, position {position} is off by {error}");
        }
    }
}

#[test]
fn cached_steps_equal_teacher_forcing() {
    let na = sample(&Enas::default(), 20, 1);
    let bn = sample(&OrderedBn::default(), 20, 2);
    let any: Vec<Dag> = [1, 2, 4, 7, 9]
        .into_iter()
        .flat_map(|n_nodes| sample(&RandomDag { n_nodes, n_ops: 5, edge_probability: 0.3 }, 6, n_nodes as u64))
        .collect();
    let any_spec = DagSpec::new("any", ["a", "b", "c", "d", "e"], 9);
    let paper = VaeConfig::paper();
    let mut open = paper.clone();
    open.encoder.attention = Attention::Open;
    let mut open_memory = open.clone();
    open_memory.decoder.masked_memory = true;
    let mut penalised = paper.clone();
    penalised.encoder.attention = Attention::Penalised(MaskRule::PACE);
    let mut strict = paper.clone();
    strict.encoder.attention = Attention::Masked(MaskRule::PAPER);
    strict.decoder.masked_memory = true;
    let mut pre_norm = paper.clone();
    pre_norm.decoder.blocks.norm = NormPlacement::Pre;
    let mut shared = paper.clone();
    shared.decoder.share_embedding = true;
    let cases = [
        ("paper", &paper),
        ("open", &open),
        ("open, masked memory", &open_memory),
        ("penalised", &penalised),
        ("strict ancestors", &strict),
        ("pre-norm", &pre_norm),
        ("shared embedding", &shared),
        ("published NA", &VaeConfig::as_published(Task::Na)),
    ];
    for (name, config) in cases {
        check_replay(name, config, &DagSpec::na(), &na);
        check_replay(name, config, &any_spec, &any);
    }
    check_replay("published BN", &VaeConfig::as_published(Task::Bn), &DagSpec::bn(), &bn);
}

#[test]
#[should_panic(expected = "looks ahead")]
fn attention_to_descendants_cannot_be_decoded() {
    let mut config = VaeConfig::paper();
    config.encoder.attention = Attention::Masked(MaskRule::AST);
    let vae = vae(&config, &DagSpec::na(), 0);
    decode(&vae, latents(1, 64, 1.0, 0, &test_device()), &DecodeOptions::default());
}

/// Random weights, random latents, greedy and sampled: everything that comes out is valid.
fn check_constrained(spec: &DagSpec) {
    const GRAPHS: usize = 2_000;
    let device = test_device();
    let mut distinct = HashSet::new();
    // A large scale makes confident, mostly absurd models.
    for (seed, scale) in [(0, 1.0), (1, 30.0)] {
        let vae = vae(&VaeConfig::paper(), spec, seed);
        let z = latents(GRAPHS / 2, 64, scale, seed, &device);
        for options in [DecodeOptions::sample(Mode::Constrained, seed), DecodeOptions::greedy(Mode::Constrained)] {
            let dags = decode(&vae, z.clone(), &options);
            assert_eq!(dags.len(), GRAPHS / 2);
            dags.iter().for_each(|dag| {
                spec.validate(dag).unwrap_or_else(|error| panic!("{}: {error}: {dag}", spec.name));
                assert!(dag.is_topologically_numbered());
            });
            distinct.extend(dags);
        }
    }
    assert!(distinct.len() > GRAPHS / 4, "{}: only {} distinct graphs", spec.name, distinct.len());
}

#[test]
fn constrained_graphs_are_valid() {
    let tight = DagSpec { max_edges: Some(7), name: "tight chain".to_owned(), ..DagSpec::na() };
    let poor = DagSpec { max_edges: Some(4), name: "poor cells".to_owned(), ..DagSpec::nas101() };
    let few = DagSpec { max_edges: Some(5), name: "few arcs".to_owned(), ..DagSpec::bn() };
    let small_trees = DagSpec { max_edges: Some(6), name: "small trees".to_owned(), ..trees() };
    let any = DagSpec { max_edges: Some(6), ..DagSpec::new("any", ["a", "b", "c", "d"], 8) };
    let specs = [DagSpec::na(), DagSpec::bn(), DagSpec::nas101(), DagSpec::darts(), trees()];
    for spec in specs.iter().chain([&tight, &few, &small_trees, &any]) {
        check_constrained(spec);
    }
    // Few different ones exist.
    let vae = vae(&VaeConfig::paper(), &poor, 0);
    let dags = decode(&vae, latents(500, 64, 1.0, 0, &test_device()), &DecodeOptions::sample(Mode::Constrained, 0));
    assert!(dags.iter().all(|dag| poor.is_valid(dag)));
}

#[test]
#[should_panic(expected = "no graph of 'darts' can be valid")]
fn impossible_specs_are_named() {
    let spec = DagSpec { max_nodes: 9, ..DagSpec::darts() };
    let vae = vae(&VaeConfig::paper(), &spec, 0);
    decode(&vae, latents(1, 64, 1.0, 0, &test_device()), &DecodeOptions::greedy(Mode::Constrained));
}

/// The first and last operations, the sizes and the loose ends of the modes without validity.
#[test]
fn every_mode_ends_and_starts_as_the_spec_says() {
    let device = test_device();
    for spec in [DagSpec::na(), DagSpec::bn(), DagSpec::nas101()] {
        let vae = vae(&VaeConfig::paper(), &spec, 3);
        for mode in [Mode::Free, Mode::Published] {
            for dag in decode(&vae, latents(300, 64, 3.0, 1, &device), &DecodeOptions::sample(mode, 4)) {
                assert_eq!(Some(dag.op(0)), spec.input);
                assert_eq!(Some(dag.op(dag.n_nodes() - 1)), spec.output);
                assert_eq!(dag.ops().filter(|&op| Some(op) == spec.output).count(), 1);
                assert!(dag.n_nodes() <= spec.max_nodes);
                let loose = dag.sinks().count() > 1;
                let full = dag.n_nodes() == spec.max_nodes;
                assert!(!loose || (mode == Mode::Published && full), "{mode:?}: loose ends in {dag}");
            }
        }
    }
    // No output operation: all grow to the largest size.
    let vae = vae(&VaeConfig::paper(), &trees(), 3);
    let dags = decode(&vae, latents(50, 64, 3.0, 1, &device), &DecodeOptions::sample(Mode::Free, 4));
    assert!(dags.iter().all(|dag| dag.n_nodes() == 12));
}

#[test]
fn graphs_do_not_depend_on_their_batch() {
    let device = test_device();
    for (spec, config) in [(DagSpec::nas101(), VaeConfig::paper()), (DagSpec::bn(), VaeConfig::as_published(Task::Bn))]
    {
        let vae = vae(&config, &spec, 1);
        let z = latents(40, 64, 3.0, 2, &device);
        for options in [DecodeOptions::sample(Mode::Free, 6), DecodeOptions::greedy(Mode::Constrained)] {
            let whole = decode(&vae, z.clone(), &options);
            assert_eq!(whole, decode(&vae, z.clone(), &options), "the same twice");
            for (first, size) in [(0, 1), (17, 3), (39, 1), (8, 32)] {
                let part = z.clone().slice([first..first + size, 0..64]);
                let part = decode(&vae, part, &options.starting_at(first as u64));
                assert_eq!(part, whole[first..first + size]);
            }
        }
    }
    let vae = vae(&VaeConfig::paper(), &DagSpec::na(), 1);
    assert_eq!(decode(&vae, Tensor::zeros([0, 64], &device), &DecodeOptions::default()), []);
}

#[test]
fn sampling_varies_and_greedy_does_not() {
    let vae = vae(&VaeConfig::paper(), &DagSpec::na(), 1);
    let z = latents(1, 64, 1.0, 2, &test_device()).repeat_dim(0, 100);
    let distinct = |choice| {
        let options = DecodeOptions { mode: Mode::Constrained, choice, first: 0 };
        decode(&vae, z.clone(), &options).into_iter().collect::<HashSet<_>>()
    };
    let greedy = distinct(Choice::Greedy);
    assert_eq!(greedy.len(), 1);
    // Not 100: about one in nine ends at once.
    assert!(distinct(Choice::sample(0)).len() > 60);
    assert_ne!(distinct(Choice::sample(0)), distinct(Choice::sample(1)));
    assert_eq!(distinct(Choice::Sample { seed: 0, temperature: 1e-6 }), greedy);
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

/// Probabilities by the likelihood, and frequencies of `draws` samples, of graphs from one latent vector.
fn distribution(spec: &DagSpec, mode: Mode, draws: usize, graphs: &[Dag]) -> (Vec<f64>, HashMap<Dag, f64>) {
    let device = test_device();
    let vae = vae(&stored(VaeConfig::paper()), spec, 11);
    let z = latents(1, 64, 8.0, 3, &device);
    let shared = vae.encoder().shared_embedding();
    let batch = DagTable::new(graphs, vae.encoder().layout()).whole(&device);
    let nll = vae.decoder().nll(z.clone().repeat_dim(0, graphs.len()), &batch, shared);
    let nll = nll.into_data().try_to_vec::<f32>().unwrap();
    let mut frequencies = HashMap::new();
    for dag in decode(&vae, z.repeat_dim(0, draws), &DecodeOptions::sample(mode, 1)) {
        *frequencies.entry(dag).or_insert(0.0) += 1.0 / draws as f64;
    }
    (nll.into_iter().map(|nll| f64::from(-nll).exp()).collect(), frequencies)
}

/// Samples come from the distribution whose likelihood training maximises: the published mode bends nothing here.
#[test]
fn sampled_graphs_have_the_frequencies_of_their_likelihood() {
    const DRAWS: usize = 20_000;
    let graphs = all_graphs(3, 3); // two operations and the start symbol
    let (p, frequencies) = distribution(&DagSpec::new("tiny", ["a", "b"], 3), Mode::Published, DRAWS, &graphs);
    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-4);
    for (graph, p) in graphs.iter().zip(p) {
        let f = frequencies.get(graph).copied().unwrap_or(0.0);
        let spread = (p * (1.0 - p) / DRAWS as f64).sqrt();
        assert!((f - p).abs() < 5.0 * spread + 1e-4, "{graph}: probability {p}, frequency {f}");
    }
}

/// A constrained step is the model's step given the rule: the parent of a tree node is softmax over the edge logits.
#[test]
fn constrained_parents_have_the_conditional_frequencies() {
    let spec = DagSpec { validity: Validity::Tree, ..DagSpec::new("tiny", ["a", "b"], 3) };
    let trees: Vec<Dag> = all_graphs(3, 2).into_iter().filter(|dag| spec.is_valid(dag)).collect();
    assert_eq!(trees.len(), 8 * 2);
    let (p, frequencies) = distribution(&spec, Mode::Constrained, 20_000, &trees);
    for (index, tree) in trees.iter().enumerate() {
        let same_ops = |other: &Dag| other.ops().eq(tree.ops());
        let total: f64 = trees.iter().zip(&p).filter(|(other, _)| same_ops(other)).map(|(_, p)| p).sum();
        let seen: f64 = frequencies.iter().filter(|(other, _)| same_ops(other)).map(|(_, f)| f).sum();
        let (p, f) = (p[index] / total, frequencies.get(tree).copied().unwrap_or(0.0) / seen);
        let spread = (p * (1.0 - p) / (20_000.0 * seen)).sqrt();
        assert!((f - p).abs() < 5.0 * spread, "{tree}: probability {p}, frequency {f}");
    }
}

/// The published rule at the last position: an output that was not drawn keeps its drawn edges.
#[test]
fn published_outputs_may_leave_loose_ends() {
    let vae = vae(&VaeConfig::paper(), &DagSpec::nas101(), 3);
    let z = latents(300, 64, 3.0, 1, &test_device());
    let count = |mode| {
        decode(&vae, z.clone(), &DecodeOptions::sample(mode, 4)).iter().filter(|dag| dag.sinks().count() > 1).count()
    };
    assert_eq!(count(Mode::Free), 0);
    assert!(count(Mode::Published) > 0);
}

/// Share of graphs that greedy decoding of their own embedding gives back.
fn reconstructed(vae: &Vae<Pace, PaceDecoder>, table: &DagTable, dags: &[Dag], mode: Mode) -> f64 {
    let z = vae.embed(&table.whole(&test_device()));
    let decoded = decode(vae, z, &DecodeOptions::greedy(mode));
    decoded.iter().zip(dags).filter(|(decoded, dag)| decoded == dag).count() as f64 / dags.len() as f64
}

/// Trains on few graphs until all are reconstructed in each of the modes.
fn overfit(sampler: &dyn Sampler, n_graphs: usize, modes: &[Mode], max_steps: u64) {
    let start = std::time::Instant::now();
    let device = test_device().autodiff();
    let dags = sample(sampler, n_graphs, 21);
    let mut vae = stored(VaeConfig::paper()).init(&sampler.spec(), 1, &device);
    let table = DagTable::new(&dags, vae.encoder().layout());
    let mut adam = AdamConfig::new().with_epsilon(1e-8).init();
    let whole = table.whole(&device);
    for step in 1..=max_steps {
        let loss = vae.loss(&whole.clone().train(step)).total / n_graphs as f64;
        let grads = GradientsParams::from_grads(loss.backward(), &vae);
        vae = adam.step(2e-3, vae, grads);
        if step % 50 == 0 {
            let plain = vae.valid();
            let share = |&mode: &Mode| reconstructed(&plain, &table, &dags, mode);
            let shares: Vec<f64> = modes.iter().map(share).collect();
            println!("step {step}: {shares:?} of {modes:?} reconstructed after {:.1?}", start.elapsed());
            if shares.iter().all(|&share| share == 1.0) {
                return;
            }
        }
    }
    panic!("not all {n_graphs} graphs are reconstructed after {max_steps} steps");
}

#[test]
fn architectures_are_learned_by_heart() {
    overfit(&Enas::default(), 64, &[Mode::Free, Mode::Published, Mode::Constrained], 2_000);
}

/// Sums that feed both an operation and the output are out of reach of the published rule for the output.
#[test]
fn cells_are_learned_by_heart() {
    overfit(&Darts, 16, &[Mode::Free, Mode::Constrained], 2_000);
}
