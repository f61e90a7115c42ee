//! GCN, GIN, GAT and gated GCN: the laws, each formula against plain loops over the nodes of a graph, and parity with PyTorch.

use std::collections::BTreeMap;

use burn::tensor::{Device, Int, Tensor};
use pace_graph::enumerate::{Darts, Enas, RandomDag, Sampler, UniformBn};
use pace_graph::structure::{Laplacian, spectrum};
use pace_graph::{Dag, DagSpec, canonical};
use pace_model::encoder::{
    DagEncoder, EncoderConfig, EncoderSettings, Encoding, GatConfig, GatedGcnConfig, GcnConfig, GinConfig, Purpose,
};
use pace_model::layers::{Flow, Init, LaplacianEncoding};
use pace_model::objective::{MlmConfig, Objective, VaeConfig};
use pace_model::store::{load_pytorch, load_safetensors, to_safetensors};
use pace_model::{DagBatch, DagTable, Layout, Structure};
use rand::RngExt;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use crate::laws::{Laws, check_encoder};
use crate::parity::{Fixture, fixture};
use crate::setting::{NAS101, distance, gradients, rng, sample, test_device, values};

const PURPOSES: [Purpose; 2] = [Purpose::Vae, Purpose::Mlm];
const FLOWS: [Flow; 3] = [Flow::Forward, Flow::Backward, Flow::Both];

fn check(config: impl EncoderSettings, space: &dyn Sampler) {
    check_encoder(|seed, device| config.init(&space.spec(), seed, device), space, Laws::ALL);
}

#[test]
fn presets_keep_the_laws() {
    for purpose in PURPOSES {
        for space in [&*NAS101 as &dyn Sampler, &Enas::default(), &UniformBn::default(), &Darts] {
            check(GcnConfig::preset(purpose), space);
            check(GinConfig::preset(purpose), space);
            check(GatConfig::preset(purpose), space);
            check(GatedGcnConfig::preset(purpose), space);
        }
    }
}

#[test]
fn other_choices_keep_the_laws() {
    for (purpose, flow) in PURPOSES.into_iter().flat_map(|purpose| FLOWS.map(|flow| (purpose, flow))) {
        for in_place in [false, true] {
            check(GcnConfig { flow, in_place, ..GcnConfig::preset(purpose) }, &*NAS101);
        }
        check(GinConfig { flow, ..GinConfig::preset(purpose) }, &*NAS101);
        check(GatConfig { flow, n_heads: 4, ..GatConfig::preset(purpose) }, &*NAS101);
        check(GatedGcnConfig { flow, laplacian: None, ..GatedGcnConfig::preset(purpose) }, &*NAS101);
    }
}

/// Parameters by name, drawn anew so that none is at a trivial value.
struct Weights(BTreeMap<String, (Vec<usize>, Vec<f32>)>);

impl Weights {
    /// Draws parameters for a module and puts them in.
    fn shake<E: DagEncoder>(encoder: E) -> (E, Weights) {
        let (bytes, mut rng) = (to_safetensors(&encoder), rng(17));
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let mut draw = |view: &TensorView<'_>| {
            let count = view.shape().iter().product();
            (view.shape().to_vec(), (0..count).map(|_| rng.random_range(-0.6..0.6)).collect())
        };
        // By name, or the draws would depend on the order in the file.
        let views: BTreeMap<String, TensorView<'_>> = file.iter().map(|(name, view)| (name.to_owned(), view)).collect();
        let drawn = Weights(views.iter().map(|(name, view)| (name.clone(), draw(view))).collect());
        let bytes: BTreeMap<&String, Vec<u8>> =
            drawn.0.iter().map(|(name, (_, w))| (name, w.iter().flat_map(|w| w.to_le_bytes()).collect())).collect();
        let views = drawn.0.iter().map(|(name, (shape, _))| {
            (name, TensorView::new(Dtype::F32, shape.clone(), &bytes[name]).expect("as many bytes as the shape says"))
        });
        (load_safetensors(encoder, &safetensors::serialize(views, None).unwrap()).unwrap(), drawn)
    }

    /// A row of a matrix, or all of a vector.
    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        let (shape, numbers) = &self.0[name];
        let width = *shape.last().unwrap();
        numbers[row * width..][..width].iter().map(|&number| f64::from(number)).collect()
    }

    /// x W + b.
    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let weight = format!("{name}.weight");
        let bias = format!("{name}.bias");
        let zero = vec![0.0; *self.0[&weight].0.last().unwrap()];
        let bias = if self.0.contains_key(&bias) { self.row(&bias, 0) } else { zero };
        x.iter().enumerate().fold(bias, |sum, (input, &x)| plus(&sum, &times(&self.row(&weight, input), x)))
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let (gain, offset) = (self.row(&format!("{name}.gamma"), 0), self.row(&format!("{name}.beta"), 0));
        x.iter().zip(gain).zip(offset).map(|((x, g), b)| g * (x - mean) / (variance + 1e-5).sqrt() + b).collect()
    }
}

fn plus(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a + b).collect()
}

fn times(x: &[f64], factor: f64) -> Vec<f64> {
    x.iter().map(|x| x * factor).collect()
}

fn relu(x: Vec<f64>) -> Vec<f64> {
    x.into_iter().map(|x| x.max(0.0)).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn sum(vectors: &[Vec<f64>], d: usize) -> Vec<f64> {
    vectors.iter().fold(vec![0.0; d], |sum, vector| plus(&sum, vector))
}

/// Whom a node hears.
fn hears(dag: &Dag, node: usize, flow: Flow) -> Vec<usize> {
    let (before, after) = (dag.predecessors(node), dag.successors(node));
    match flow {
        Flow::Forward => before.collect(),
        Flow::Backward => after.collect(),
        Flow::Both => before.chain(after).collect(),
    }
}

/// The width of the models under test.
const D: usize = 6;

/// Node vectors of a graph, and its own.
type Slow = (Vec<Vec<f64>>, Vec<f64>);

/// Holds an encoder without start symbol against slow loops, on graphs with and without roles.
fn against_loops<C: EncoderSettings>(config: &C, slow: impl Fn(&Dag, &DagSpec, &Weights) -> Slow) {
    let device = test_device();
    let of_size = |n_nodes: usize| sample(&RandomDag { n_nodes, n_ops: 3, edge_probability: 0.4 }, 3, n_nodes as u64);
    let any = (DagSpec::new("any", ["a", "b", "c"], 8), (1..=7).flat_map(of_size).collect());
    for (spec, dags) in [any, (NAS101.spec(), sample(&*NAS101, 12, 5))] {
        let (encoder, weights) = Weights::shake(config.init(&spec, 1, &device));
        let batch = DagTable::new(&dags, encoder.layout()).whole(&device);
        let Encoding { nodes, graph } = encoder.encode(&batch);
        let ([_, n], nodes, graph) = (batch.dims(), values(nodes), values(graph));
        for (index, dag) in dags.iter().map(canonical).enumerate() {
            let (slow_nodes, slow_graph) = slow(&dag, &spec, &weights);
            let as32 = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<f32>>();
            let found = &nodes[index * n * D..][..dag.n_nodes() * D];
            let error = distance(found, &as32(&slow_nodes.concat()));
            assert!(error < 2e-5, "{config:?}: nodes of {dag}: {error}");
            let error = distance(&graph[index * encoder.d_graph()..][..encoder.d_graph()], &as32(&slow_graph));
            assert!(error < 1e-4, "{config:?}: {dag}: {error}");
        }
    }
}

/// As D-VAE's authors write it: a vertex after the other, in one list of states.
fn slow_gcn(dag: &Dag, spec: &DagSpec, config: &GcnConfig, w: &Weights) -> Slow {
    let (n, flow) = (dag.n_nodes(), config.flow);
    let spoken = |node: usize| (0..n).filter(|&other| hears(dag, other, flow).contains(&node)).count() as f64;
    let heard = |node: usize| hears(dag, node, flow).len() as f64;
    let n_tokens = w.0["layers.0.weight"].0[0];
    let one_hot = |node: usize| (0..n_tokens).map(|op| f64::from(op == usize::from(dag.op(node)))).collect();
    let mut states: Vec<Vec<f64>> = (0..n).map(one_hot).collect();
    for layer in 0..config.n_layers {
        let before = states.clone();
        let mut order: Vec<usize> = (0..n).collect();
        if flow == Flow::Backward {
            order.reverse();
        }
        for node in order {
            let mut sum = times(&before[node], 1.0 / (heard(node) + 1.0));
            for other in hears(dag, node, flow) {
                let state = if config.in_place && layer > 0 { &states[other] } else { &before[other] };
                sum = plus(&sum, &times(state, ((spoken(other) + 1.0) * (heard(node) + 1.0)).sqrt().recip()));
            }
            states[node] = relu(w.linear(&format!("layers.{layer}"), &sum));
        }
    }
    let roles = |role: Option<_>| usize::from(role.is_some());
    let first = roles(spec.start) + roles(spec.input);
    let graph = sum(&states[first..n - roles(spec.output)], D);
    (states, graph)
}

#[test]
fn gcn_follows_its_formula_in_place_and_at_once() {
    for (flow, in_place) in FLOWS.into_iter().flat_map(|flow| [(flow, false), (flow, true)]) {
        let config = GcnConfig { d_model: D, flow, in_place, ..GcnConfig::preset(Purpose::Mlm) };
        against_loops(&config, |dag, spec, weights| slow_gcn(dag, spec, &config, weights));
        // The two are not the same.
        let (dag, spec) = (canonical(&sample(&*NAS101, 1, 5)[0]), NAS101.spec());
        let (_, weights) = Weights::shake(config.init(&spec, 1, &test_device()));
        let other = GcnConfig { in_place: !in_place, ..config };
        let [one, other] = [config, other].map(|config| slow_gcn(&dag, &spec, &config, &weights).1);
        assert!(one.iter().zip(other).any(|(one, other)| (one - other).abs() > 1e-3), "{flow:?}");
    }
}

/// With a start symbol, which neither the authors' graphs nor their sums have, start and input are left out.
#[test]
fn gcn_leaves_out_start_input_and_output() {
    let (device, dags) = (test_device(), sample(&*NAS101, 12, 5));
    let config = GcnConfig { d_model: D, ..GcnConfig::preset(Purpose::Vae) };
    let (encoder, weights) = Weights::shake(config.init(&NAS101.spec(), 1, &device));
    let found = values(encoder.encode(&DagTable::new(&dags, encoder.layout()).whole(&device)).graph);
    let spec = NAS101.spec().with_start_symbol();
    for (dag, found) in dags.iter().zip(found.chunks(D)) {
        let (_, expected) = slow_gcn(&canonical(&spec.add_start_symbol(dag)), &spec, &config, &weights);
        assert!(expected.iter().zip(found).all(|(one, &other)| (one - f64::from(other)).abs() < 1e-4), "{dag}");
    }
}

#[test]
fn gin_follows_its_formula() {
    for flow in FLOWS {
        let config = GinConfig { d_model: D, flow, ..GinConfig::preset(Purpose::Mlm) };
        against_loops(&config, |dag, _, w| {
            let embed = |node: usize| w.row("embedding.weight", usize::from(dag.op(node)));
            let mut states: Vec<Vec<f64>> = (0..dag.n_nodes()).map(embed).collect();
            let mut graph = sum(&states, D);
            for layer in 0..config.n_layers {
                let name = |part: &str| format!("layers.{layer}.{part}");
                let update = |node: usize| {
                    let own = times(&states[node], 1.0 + w.row(&name("eps"), 0)[0]);
                    let y = hears(dag, node, flow).iter().fold(own, |sum, &other| plus(&sum, &states[other]));
                    let y = relu(w.norm(&name("norm_hidden"), &w.linear(&name("hidden"), &y)));
                    relu(w.norm(&name("norm"), &w.linear(&name("out"), &y)))
                };
                states = (0..dag.n_nodes()).map(update).collect();
                graph.extend(sum(&states, D));
            }
            (states, graph)
        });
    }
}

#[test]
fn gat_follows_its_formula() {
    const HEADS: usize = 2;
    const WIDTH: usize = D / HEADS;
    for flow in FLOWS {
        let config = GatConfig { d_model: D, n_heads: HEADS, flow, ..GatConfig::preset(Purpose::Mlm) };
        against_loops(&config, |dag, _, w| {
            let embed = |node: usize| w.row("embedding.weight", usize::from(dag.op(node)));
            let mut states: Vec<Vec<f64>> = (0..dag.n_nodes()).map(embed).collect();
            for layer in 0..config.n_layers {
                let name = |part: &str| format!("layers.{layer}.{part}");
                let z: Vec<Vec<f64>> = states.iter().map(|state| w.linear(&name("map"), state)).collect();
                let dot = |part: &str, head: usize, node: usize| -> f64 {
                    let z = &z[node][head * WIDTH..][..WIDTH];
                    w.row(&name(part), head).iter().zip(z).map(|(a, z)| a * z).sum()
                };
                let update = |node: usize| {
                    let mut heard = hears(dag, node, flow);
                    heard.push(node);
                    let mut state = w.row(&name("bias"), 0);
                    for head in 0..HEADS {
                        let score = |other: usize| dot("source", head, other) + dot("target", head, node);
                        let weight = |other: usize| score(other).max(0.2 * score(other)).exp();
                        let total: f64 = heard.iter().map(|&other| weight(other)).sum();
                        for (other, column) in heard.iter().flat_map(|&other| (0..WIDTH).map(move |c| (other, c))) {
                            state[head * WIDTH + column] += weight(other) / total * z[other][head * WIDTH + column];
                        }
                    }
                    state.into_iter().map(|x| if x > 0.0 { x } else { x.exp_m1() }).collect()
                };
                states = (0..dag.n_nodes()).map(update).collect();
            }
            let graph = times(&sum(&states, D), 1.0 / dag.n_nodes() as f64);
            (states, graph)
        });
    }
}

#[test]
fn gated_gcn_follows_its_formula() {
    for (flow, laplacian) in FLOWS.into_iter().flat_map(|flow| [(flow, None), (flow, Some(2))]) {
        let config = GatedGcnConfig { d_model: D, flow, laplacian, ..GatedGcnConfig::preset(Purpose::Mlm) };
        against_loops(&config, |dag, _, w| slow_gated_gcn(dag, &config, w));
    }
}

fn slow_gated_gcn(dag: &Dag, config: &GatedGcnConfig, w: &Weights) -> Slow {
    let (n, spectrum) = (dag.n_nodes(), spectrum(dag, Laplacian::Normalised));
    let embed = |node: usize| {
        let op = w.row("embedding.weight", usize::from(dag.op(node)));
        let entry = |k: usize| if k < n { spectrum.eigenvector(k)[node] } else { 0.0 };
        let position = config.laplacian.map(|count| (1..=count).map(entry).collect::<Vec<f64>>());
        position.map_or(op.clone(), |position| plus(&op, &w.linear("laplacian.map", &position)))
    };
    let mut states: Vec<Vec<f64>> = (0..n).map(embed).collect();
    // By who hears, then who speaks.
    let pairs = (0..n).flat_map(|node| hears(dag, node, config.flow).into_iter().map(move |other| (node, other)));
    let start = |(node, other): (usize, usize)| {
        let along = dag.predecessors(node).any(|before| before == other);
        ((node, other), w.row("directions", usize::from(!along)))
    };
    let mut edges: BTreeMap<(usize, usize), Vec<f64>> = pairs.map(start).collect();
    for layer in 0..config.n_layers {
        let name = |part: &str| format!("layers.{layer}.{part}");
        let maps: Vec<Vec<f64>> = states.iter().map(|state| w.linear(&name("nodes"), state)).collect();
        let part = |node: usize, part: usize| &maps[node][part * D..][..D];
        let q = |(&(node, other), edge): (&(usize, usize), &Vec<f64>)| {
            let q = plus(&plus(&w.linear(&name("edges"), edge), part(other, 2)), part(node, 3));
            ((node, other), q)
        };
        let q: BTreeMap<(usize, usize), Vec<f64>> = edges.iter().map(q).collect();
        let update = |node: usize| {
            let mut sum = part(node, 0).to_vec();
            for (column, sum) in sum.iter_mut().enumerate() {
                let gate = |other: usize| sigmoid(q[&(node, other)][column]);
                let total: f64 = hears(dag, node, config.flow).into_iter().map(gate).sum();
                for other in hears(dag, node, config.flow) {
                    *sum += gate(other) / (total + 1e-6) * part(other, 1)[column];
                }
            }
            plus(&states[node], &relu(w.norm(&name("norm"), &sum)))
        };
        states = (0..n).map(update).collect();
        if layer + 1 < config.n_layers {
            edges.iter_mut().for_each(|(pair, edge)| *edge = plus(edge, &relu(w.norm(&name("norm_edges"), &q[pair]))));
        }
    }
    let graph = times(&sum(&states, D), 1.0 / n as f64);
    (states, graph)
}

fn bias_of(encoding: &LaplacianEncoding) -> Vec<f32> {
    let bytes = to_safetensors(encoding);
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let (words, _) = file.tensor("map.bias").unwrap().data().as_chunks::<4>();
    words.iter().map(|&word| f32::from_le_bytes(word)).collect()
}

/// In training each vector of each graph has a sign, drawn from the seed; in evaluation its own.
#[test]
fn laplacian_signs_are_drawn_by_the_pass() {
    let device = test_device();
    let (layout, dags) = (Layout::plain(&NAS101.spec()), sample(&*NAS101, 24, 3));
    let layout = Layout { structure: LaplacianEncoding::request(Structure::NONE, 1), ..layout };
    let batch = DagTable::new(&dags, &layout).whole(&device);
    let encoding = LaplacianEncoding::new(1, D, &mut Init::new(1, &device));
    let ([_, n], bias) = (batch.dims(), bias_of(&encoding));
    let graphs = |batch: &DagBatch| -> Vec<Vec<f32>> {
        let found = values(encoding.forward(batch));
        let centred = found.chunks(D).flat_map(|row| row.iter().zip(&bias).map(|(x, bias)| x - bias));
        centred.collect::<Vec<f32>>().chunks(n * D).map(<[f32]>::to_vec).collect()
    };
    let eval = graphs(&batch);
    let signs = |seed: u64| -> Vec<bool> {
        let sign = |(found, eval): (&Vec<f32>, &Vec<f32>)| {
            let turned: Vec<f32> = eval.iter().map(|x| -x).collect();
            let (kept, turned) = (distance(found, eval) < 1e-6, distance(found, &turned) < 1e-6);
            assert!(kept != turned, "one sign for all nodes of a graph");
            turned
        };
        graphs(&batch.clone().train(seed)).iter().zip(&eval).map(sign).collect()
    };
    assert_eq!(signs(1), signs(1));
    assert_ne!(signs(1), signs(2));
    assert!(signs(1).contains(&true) && signs(1).contains(&false));
}

/// Every objective trains them, and no gradient is lost.
#[test]
fn objectives_train_them() {
    let device = test_device().autodiff();
    let (spec, dags) = (DagSpec::na(), sample(&Enas::default(), 12, 1));
    for name in ["gcn", "gin", "gat", "gated_gcn"] {
        let encoder = |purpose| EncoderConfig::named(name, purpose).unwrap();
        let vae = VaeConfig { encoder: encoder(Purpose::Vae), ..VaeConfig::paper().any() };
        let table = DagTable::new(&dags, &vae.layout(&spec));
        let vae = vae.init(&spec, 1, &device);
        let grads = vae.loss(&table.whole(&device).train(3)).total.backward();
        for (path, (_, gradient)) in gradients(&vae, &grads) {
            let gradient = gradient.unwrap_or_else(|| panic!("no gradient for {path} of {name}"));
            assert!(gradient.iter().all(|value| value.is_finite()), "{path} of {name}");
        }
        let mlm = MlmConfig { encoder: encoder(Purpose::Mlm), ..MlmConfig::paper().any() };
        let table = DagTable::new(&dags, &mlm.encoder.layout(&spec));
        let loss = mlm.init(&spec, 1, &device).loss(&table.whole(&device).train(5));
        assert!(loss.total.into_scalar::<f32>() > 0.0 && loss.count > 0, "{name}");
    }
}

#[test]
fn a_dropout_of_everything_is_refused() {
    for name in ["gcn", "gin", "gat", "gated_gcn"] {
        let text = serde_json::to_string(&EncoderConfig::named(name, Purpose::Mlm).unwrap()).unwrap();
        let broken = text.replace("\"dropout\":0.1", "\"dropout\":1.0");
        assert_ne!(text, broken);
        let error = serde_json::from_str::<EncoderConfig>(&broken).unwrap_err().to_string();
        assert!(error.contains("is not from 0 to below 1"), "{error}");
    }
}

/// A batch without edges is encoded.
#[test]
fn single_nodes_are_graphs_too() {
    fn encode(config: impl EncoderSettings, device: &Device) {
        let spec = DagSpec::new("any", ["a", "b", "c"], 4);
        let dags = sample(&RandomDag { n_nodes: 1, n_ops: 3, edge_probability: 0.4 }, 3, 1);
        let encoder = config.init(&spec, 1, device);
        let graph = encoder.encode(&DagTable::new(&dags, encoder.layout()).whole(device).train(1)).graph;
        assert_eq!(graph.dims(), [3, encoder.d_graph()]);
        assert!(values(graph).iter().all(|value| value.is_finite()), "{config:?}");
    }
    for device in [test_device(), test_device().autodiff()] {
        encode(GcnConfig::preset(Purpose::Mlm), &device);
        encode(GinConfig::preset(Purpose::Mlm), &device);
        encode(GatConfig::preset(Purpose::Mlm), &device);
        encode(GatedGcnConfig::preset(Purpose::Mlm), &device);
    }
}

/// Values and gradients equal those of `tests/parity/make_gnn_fixtures.py`.
fn check_parity(fixture: &Fixture, config: impl EncoderSettings) {
    let device = test_device().autodiff();
    let encoder = load_pytorch(config.init(&DagSpec::nas101(), 0, &device), fixture.weights).unwrap();
    let batch = fixture.batch(encoder.layout(), &device);
    let ([_, n], Encoding { nodes, graph }) = (batch.dims(), encoder.encode(&batch));
    let real = |(graph, &length): (usize, &usize)| (graph * n..graph * n + length).map(|row| row as i32);
    let real: Vec<i32> = batch.lengths.iter().enumerate().flat_map(real).collect();
    let nodes = nodes.select(0, Tensor::<1, Int>::from_data(real.as_slice(), &device));
    fixture.check("nodes", nodes.clone());
    fixture.check("graph", graph.clone());
    let loss = (graph * fixture.tensor("probe", &device)).sum() + (nodes * fixture.tensor("node_probe", &device)).sum();
    fixture.check("loss", loss.clone());
    fixture.check_gradients("grad.", &encoder, &loss.backward());
}

#[test]
fn parity_of_gin() {
    let config = GinConfig { d_model: 8, n_layers: 2, ..GinConfig::preset(Purpose::Mlm) };
    check_parity(&fixture!("gin", DagSpec::nas101()), config);
}

#[test]
fn parity_of_gat() {
    let config = GatConfig { d_model: 8, n_layers: 2, n_heads: 2, ..GatConfig::preset(Purpose::Mlm) };
    check_parity(&fixture!("gat", DagSpec::nas101()), config);
}

#[test]
fn parity_of_gated_gcn() {
    let config = GatedGcnConfig { d_model: 8, n_layers: 2, laplacian: Some(3), ..GatedGcnConfig::preset(Purpose::Mlm) };
    check_parity(&fixture!("gated_gcn", DagSpec::nas101()), config);
}
