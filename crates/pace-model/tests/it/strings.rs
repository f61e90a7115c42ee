//! Encoders that read a graph as a string, S-VAE and GraphRNN, and DeepGMG: the laws, and their formulas node by node.

use std::collections::HashMap;

use pace_graph::enumerate::{Enas, Sampler};
use pace_graph::{Dag, DagSpec, Draft};
use pace_model::encoder::{
    DagEncoder, DeepGmgConfig, EncoderSettings, GraphRnnConfig, GraphRnnTransformerConfig, Purpose, SvaeConfig,
    SvaeTransformerConfig,
};
use pace_model::layers::{EdgeBits, PropagationConfig, StringRows};
use pace_model::store::to_safetensors;
use pace_model::{DagTable, Layout, Order};
use safetensors::SafeTensors;

use crate::laws::{Invariance, Laws, check_encoder, check_separation};
use crate::setting::{NAS101, distance, sample, test_device, values};

const PURPOSES: [Purpose; 2] = [Purpose::Vae, Purpose::Mlm];

/// Strings in stored order depend on it, by design.
const STORED: Laws = Laws { invariance: Invariance::Broken, padding: true };

fn check(config: &impl EncoderSettings, laws: Laws) {
    check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, laws);
}

#[test]
fn recurrent_strings_keep_the_laws() {
    for purpose in PURPOSES {
        for config in [SvaeConfig::preset(purpose), GraphRnnConfig::preset(purpose).0] {
            check(&config, STORED);
            check(&SvaeConfig { order: Order::Canonical, ..config }, Laws::ALL);
        }
    }
}

#[test]
fn transformers_over_strings_keep_the_laws() {
    for purpose in PURPOSES {
        for config in [SvaeTransformerConfig::preset(purpose), GraphRnnTransformerConfig::preset(purpose).0] {
            check(&config, STORED);
            check(&SvaeTransformerConfig { order: Order::Canonical, ..config }, Laws::ALL);
        }
    }
}

#[test]
fn deepgmg_keeps_the_laws() {
    for purpose in PURPOSES {
        check(&DeepGmgConfig::preset(purpose), Laws::ALL);
    }
}

/// No bit is lost on the way into the string: in canonical order, different cells have different vectors.
#[test]
fn strings_tell_cells_apart() {
    for config in [SvaeConfig::preset(Purpose::Mlm), GraphRnnConfig::preset(Purpose::Mlm).0] {
        let config = SvaeConfig { order: Order::Canonical, ..config };
        check_separation(|seed, device| config.init(&NAS101.spec(), seed, device));
    }
}

#[test]
fn published_sizes() {
    let (spec, device) = (DagSpec::na(), test_device());
    assert_eq!(SvaeConfig::as_published().init(&spec, 0, &device).d_graph(), 501);
    let deepgmg = DeepGmgConfig::as_published().init(&spec, 0, &device);
    assert_eq!((deepgmg.d_node(), deepgmg.d_graph()), (501, 1002));
}

/// Rows say which edges there are, of whole graphs as of growing ones.
#[test]
fn rows_hold_operations_and_edges() {
    let (device, spec) = (test_device(), DagSpec::na().with_start_symbol());
    let dags = sample(&Enas::default(), 6, 2);
    let layout = Layout { order: Order::Stored, ..Layout::new(&spec) };
    let batch = DagTable::new(&dags, &layout).whole(&device);
    let ([_, n], n_ops) = (batch.dims(), spec.n_ops());
    for bits in [EdgeBits::FromPosition, EdgeBits::FromBefore] {
        let rows = StringRows::new(n_ops, spec.max_nodes, bits);
        let (width, found) = (rows.width(), values(rows.of_batch(&batch)));
        assert_eq!(width, n_ops + n - 1);
        let mut drafts = vec![Draft::new(&spec); dags.len()];
        for position in 0..n {
            let drawn = values(rows.of_drafts(&drafts, position, &device));
            for (index, (dag, draft)) in dags.iter().zip(&mut drafts).enumerate() {
                let mut expected = vec![0.0; width];
                let (op, sources): (_, Vec<usize>) = match position.checked_sub(1) {
                    None => (spec.start.unwrap(), Vec::new()),
                    Some(node) => (dag.op(node), dag.predecessors(node).map(|source| source + 1).collect()),
                };
                expected[usize::from(op)] = 1.0;
                // The input, the one source of these graphs, hangs on the start symbol.
                let edges = if position == 1 { vec![0] } else { sources.clone() };
                for source in edges {
                    let bit = if bits == EdgeBits::FromPosition { source } else { position - 1 - source };
                    expected[n_ops + bit] = 1.0;
                }
                assert_eq!(found[(index * n + position) * width..][..width], expected, "position {position} of {dag}");
                assert_eq!(drawn[index * width..][..width], expected, "position {position} of a draft of {dag}");
                if position + 1 < n {
                    let sources: Vec<usize> = dag.predecessors(position).map(|source| source + 1).collect();
                    draft.push(dag.op(position), &sources);
                }
            }
        }
    }
}

/// The parameters of a module by name, in f64.
struct Weights(HashMap<String, (Vec<usize>, Vec<f64>)>);

impl Weights {
    fn of(encoder: &impl DagEncoder) -> Weights {
        let bytes = to_safetensors(encoder);
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let read = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
            let (words, _) = view.data().as_chunks::<4>();
            let numbers = words.iter().map(|&word| f64::from(f32::from_le_bytes(word))).collect();
            (name, (view.shape().to_vec(), numbers))
        };
        Weights(tensors.tensors().into_iter().map(read).collect())
    }

    fn get(&self, name: &str) -> &(Vec<usize>, Vec<f64>) {
        self.0.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", self.0.keys()))
    }

    /// x W, without bias.
    fn times(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let (shape, w) = self.get(name);
        assert_eq!(shape[0], x.len(), "{name}");
        (0..shape[1]).map(|j| x.iter().enumerate().map(|(i, x)| x * w[i * shape[1] + j]).sum()).collect()
    }

    /// x W + b of two parameters.
    fn affine(&self, weight: &str, bias: &str, x: &[f64]) -> Vec<f64> {
        self.times(weight, x).iter().zip(&self.get(bias).1).map(|(y, b)| y + b).collect()
    }

    fn gru(&self, name: &str, x: &[f64], h: &[f64]) -> Vec<f64> {
        let d = h.len();
        let a = self.affine(&format!("{name}.input"), &format!("{name}.input_bias"), x);
        let c = self.affine(&format!("{name}.hidden"), &format!("{name}.hidden_bias"), h);
        let unit = |j: usize| {
            let (r, z) = (sigmoid(a[j] + c[j]), sigmoid(a[d + j] + c[d + j]));
            let n = (a[2 * d + j] + r * c[2 * d + j]).tanh();
            (1.0 - z) * n + z * h[j]
        };
        (0..d).map(unit).collect()
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn one_hot(op: u16, width: usize) -> Vec<f64> {
    (0..width).map(|index| if index == usize::from(op) { 1.0 } else { 0.0 }).collect()
}

/// Encodes cells, and compares each with what `slow` makes of it.
fn compare(encoder: &impl DagEncoder, slow: impl Fn(&Dag) -> Vec<f64>) {
    let device = test_device();
    let cells = sample(&*NAS101, 12, 5);
    let graph = values(encoder.encode(&DagTable::new(&cells, encoder.layout()).whole(&device)).graph);
    for (cell, found) in cells.iter().zip(graph.chunks_exact(encoder.d_graph())) {
        let expected: Vec<f32> = slow(cell).into_iter().map(|value| value as f32).collect();
        assert!(distance(found, &expected) < 1e-5, "{cell}: {}", distance(found, &expected));
    }
}

#[test]
fn svae_is_its_formula() {
    let spec = NAS101.spec();
    let encoder = SvaeConfig { d_hidden: 7, ..SvaeConfig::preset(Purpose::Mlm) }.init(&spec, 4, &test_device());
    let weights = Weights::of(&encoder);
    compare(&encoder, |dag| {
        (0..dag.n_nodes()).fold(vec![0.0; 7], |h, node| {
            // MASK and PAD follow the operations.
            let mut row = one_hot(dag.op(node), spec.n_ops() + 2);
            row.extend((0..spec.max_nodes - 1).map(|source| f64::from(u8::from(dag.has_edge(source, node)))));
            weights.gru("cell", &row, &h)
        })
    });
}

#[test]
fn deepgmg_is_its_formula() {
    let (spec, d, rounds) = (NAS101.spec(), 5, 2);
    let propagation = PropagationConfig { d_hidden: d, n_rounds: rounds };
    let config = DeepGmgConfig { propagation, ..DeepGmgConfig::preset(Purpose::Mlm) };
    let encoder = config.init(&spec, 4, &test_device());
    let weights = Weights::of(&encoder);
    compare(&encoder, |dag| {
        let embed = |op| weights.affine("embedding.weight", "embedding.bias", &one_hot(op, spec.n_ops() + 2));
        let mut states: Vec<Vec<f64>> = dag.ops().map(embed).collect();
        for round in 0..rounds {
            let heard = |node: usize| {
                let along = dag.predecessors(node).map(|other| (other, 1.0));
                let against = dag.successors(node).map(|other| (other, 0.0));
                let mut sum = vec![0.0; 2 * d];
                for (other, direction) in along.chain(against) {
                    let pair = [&states[other][..], &[direction], &states[node]].concat();
                    let message = weights.affine("propagation.message.weight", "propagation.message.bias", &pair);
                    sum.iter_mut().zip(message).for_each(|(sum, term)| *sum += term);
                }
                sum
            };
            let update = |node: usize| weights.gru(&format!("propagation.cells.{round}"), &heard(node), &states[node]);
            states = (0..dag.n_nodes()).map(update).collect();
        }
        let mut graph = vec![0.0; 2 * d];
        for state in &states {
            let gate = weights.affine("state.gate.weight", "state.gate.bias", state);
            let map = weights.times("state.map.weight", state);
            graph.iter_mut().zip(gate.iter().zip(map)).for_each(|(sum, (&gate, map))| *sum += sigmoid(gate) * map);
        }
        graph
    });
}
