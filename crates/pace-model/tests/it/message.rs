//! Message passing and walks over levels against slow recursions, node by node.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::{relu, sigmoid};
use burn::tensor::{Device, Tensor};
use pace_graph::enumerate::RandomDag;
use pace_graph::{Dag, DagSpec, canonical};
use pace_model::layers::{Aggregation, Flow, GruCell, GruConfig, Init, Levels, MessagePassing, MessagePassingConfig};
use pace_model::{DagBatch, DagTable, Layout, Structure};

use crate::setting::{distance, gradients, sample, test_device, values};

const OPS: usize = 3;
const D: usize = 5;

/// Graphs of 1 to 7 nodes.
fn graphs() -> Vec<Dag> {
    let of_size = |n_nodes: usize| sample(&RandomDag { n_nodes, n_ops: 3, edge_probability: 0.4 }, 3, n_nodes as u64);
    (1..=7).flat_map(of_size).collect()
}

fn batch(dags: &[Dag], device: &Device) -> DagBatch {
    let structure = Structure::NONE.levels().edge_lists();
    let layout = Layout { structure, ..Layout::plain(&DagSpec::new("any", ["a", "b", "c"], 8)) };
    DagTable::new(dags, &layout).whole(device)
}

/// A vector per row, the same for the same seed.
fn vectors(batch: &DagBatch, d: usize) -> Tensor<2> {
    let [b, n] = batch.dims();
    Init::new(7, &batch.device()).normal([b * n, d]).val()
}

/// Whom a node of a graph hears.
fn hears(dag: &Dag, node: usize, flow: Flow) -> Vec<usize> {
    let (before, after) = (dag.predecessors(node), dag.successors(node));
    match flow {
        Flow::Forward => before.collect(),
        Flow::Backward => after.collect(),
        Flow::Both => before.chain(after).collect(),
    }
}

#[test]
fn aggregations_follow_their_formulas() {
    let (device, dags) = (test_device(), graphs());
    let batch = batch(&dags, &device);
    let ([b, n], x) = (batch.dims(), vectors(&batch, D));
    let numbers = values(x.clone());
    for flow in [Flow::Forward, Flow::Backward, Flow::Both] {
        let edges = batch.edge_list(flow);
        for aggregation in [Aggregation::Sum, Aggregation::Mean, Aggregation::Symmetric] {
            let found = values(aggregation.forward(x.clone(), edges));
            let mut expected = vec![0.0; b * n * D];
            for (graph, dag) in dags.iter().map(canonical).enumerate() {
                for node in 0..dag.n_nodes() {
                    let heard = hears(&dag, node, flow);
                    let spoken = |other: usize| {
                        (0..dag.n_nodes()).filter(|&node| hears(&dag, node, flow).contains(&other)).count()
                    };
                    let mut add = |other: usize, weight: f32| {
                        for d in 0..D {
                            expected[(graph * n + node) * D + d] += weight * numbers[(graph * n + other) * D + d];
                        }
                    };
                    let count = heard.len() as f32;
                    for &other in &heard {
                        add(
                            other,
                            match aggregation {
                                Aggregation::Sum => 1.0,
                                Aggregation::Mean => 1.0 / count,
                                Aggregation::Symmetric => ((spoken(other) as f32 + 1.0) * (count + 1.0)).sqrt().recip(),
                            },
                        );
                    }
                    if aggregation == Aggregation::Symmetric {
                        add(node, 1.0 / (count + 1.0));
                    }
                }
                if aggregation == Aggregation::Symmetric {
                    // A row of padding hears nothing but itself.
                    let padding = (graph * n + dag.n_nodes()) * D..(graph + 1) * n * D;
                    expected[padding.clone()].copy_from_slice(&numbers[padding]);
                }
            }
            assert!(distance(&found, &expected) < 1e-5, "{flow:?} {aggregation:?}");
        }
    }
}

#[test]
fn message_passing_reaches_every_parameter() {
    let device = test_device().autodiff();
    let batch = batch(&graphs(), &device);
    for own in [false, true] {
        let config = MessagePassingConfig { d_in: D, d_out: 4, aggregation: Aggregation::Mean, own };
        let mut init = Init::new(1, &device);
        let layers: Vec<MessagePassing> =
            vec![config.init(&mut init), MessagePassingConfig { d_in: 4, ..config }.init(&mut init)];
        let edges = batch.edge_list(Flow::Both);
        let x = vectors(&batch, D).set_require_grad(true);
        let y = layers.iter().fold(x.clone(), |x, layer| relu(layer.forward(x, edges)));
        let grads = y.square().sum().backward();
        assert!(values(x.grad(&grads).unwrap()).iter().any(|&value| value != 0.0));
        for layer in &layers {
            for (name, (_, gradient)) in gradients(layer, &grads) {
                assert!(gradient.unwrap().iter().any(|&value| value != 0.0), "{name}");
            }
        }
    }
}

/// Weights of what a node hears add up to 1, and are a softmax even of large scores.
#[test]
fn segment_weights_are_a_softmax() {
    let device = test_device().autodiff();
    let dags = graphs();
    let batch = batch(&dags, &device);
    let ([_, n], edges) = (batch.dims(), batch.edge_list(Flow::Forward));
    // The score of an edge is its source's.
    let score = vectors(&batch, 2) * 60.0;
    let numbers = values(score.clone());
    let weights = values(edges.segments().softmax(edges.of_sources(score)));
    let mut edge = 0;
    for (graph, dag) in dags.iter().map(canonical).enumerate() {
        for node in 0..dag.n_nodes() {
            for source in hears(&dag, node, Flow::Forward) {
                for column in 0..2 {
                    let score = |source: usize| f64::from(numbers[(graph * n + source) * 2 + column]);
                    let all = hears(&dag, node, Flow::Forward);
                    let total: f64 = all.iter().map(|&other| (score(other) - score(source)).exp()).sum();
                    assert!(
                        (f64::from(weights[edge * 2 + column]) - 1.0 / total).abs() < 1e-5,
                        "{dag}: {source}>{node}"
                    );
                }
                edge += 1;
            }
        }
    }
    assert_eq!(edge, edges.segments().len());
}

/// D-VAE's recursion: h_v = GRU(x_v, sum over u of sigmoid(G h_u) * (M h_u)), x one-hot.
#[derive(Module, Debug)]
struct Gated {
    cell: GruCell,
    gate: Linear,
    map: Linear,
    /// DAGNN's attention: scores w . [x_v ; h_u] instead of gates.
    score: Option<Linear>,
}

impl Gated {
    fn new(attends: bool, device: &Device) -> Gated {
        let mut init = Init::new(3, device);
        Gated {
            cell: GruConfig { d_input: OPS, d_hidden: D }.init(&mut init),
            gate: init.linear(D, D, true),
            map: init.linear(D, D, false),
            score: attends.then(|| init.linear(3 * D + D, 1, false)),
        }
    }

    fn tell(&self, h: Tensor<2>) -> Tensor<2> {
        match self.score {
            Some(_) => h,
            None => sigmoid(self.gate.forward(h.clone())) * self.map.forward(h),
        }
    }

    /// All graphs at once, level by level.
    fn walk(&self, batch: &DagBatch, levels: &Levels) -> Tensor<2> {
        let (tokens, table) = (batch.tokens(), self.cell.project_one_hot());
        let states = levels.walk(
            |_, h| self.tell(h),
            |_, level, heard| {
                let inputs = table.clone().select(0, tokens.clone().select(0, level.rows()));
                let heard = heard.map(|heard| match &self.score {
                    Some(score) => {
                        let pairs = vec![level.segments().of_targets(inputs.clone()), heard.clone()];
                        let weights = level.segments().softmax(score.forward(Tensor::cat(pairs, 1)));
                        level.segments().sum(heard * weights)
                    }
                    None => level.segments().sum(heard),
                });
                self.cell.step(inputs, heard)
            },
        );
        levels.join(states)
    }

    /// One node of one graph, by recursion.
    fn state(&self, dag: &Dag, node: usize, flow: Flow, device: &Device) -> Tensor<2> {
        let mut one_hot = [0.0; OPS];
        one_hot[usize::from(dag.op(node))] = 1.0;
        let x = self.cell.project(Tensor::from_data([one_hot], device));
        let states: Vec<Tensor<2>> =
            hears(dag, node, flow).into_iter().map(|other| self.state(dag, other, flow, device)).collect();
        let heard = match (&self.score, states.is_empty()) {
            (_, true) => None,
            (None, false) => states.into_iter().map(|h| self.tell(h)).reduce(|sum, told| sum + told),
            (Some(score), false) => {
                let weight = |h: &Tensor<2>| score.forward(Tensor::cat(vec![x.clone(), h.clone()], 1)).exp();
                let total = states.iter().map(weight).reduce(|sum, weight| sum + weight).unwrap();
                states.iter().map(|h| h.clone() * (weight(h) / total.clone())).reduce(|sum, told| sum + told)
            }
        };
        self.cell.step(x, heard)
    }
}

#[test]
fn walks_over_levels_equal_the_recursion_in_values_and_gradients() {
    let device = test_device().autodiff();
    let dags = graphs();
    let batch = batch(&dags, &device);
    let [b, n] = batch.dims();
    let probe = vectors(&batch, D);
    for attends in [false, true] {
        let model = Gated::new(attends, &device);
        for (flow, levels) in [(Flow::Forward, batch.levels()), (Flow::Backward, batch.levels_reversed())] {
            let walked = model.walk(&batch, levels);
            let padding = || Tensor::zeros([1, D], &device);
            let canonical: Vec<Dag> = dags.iter().map(canonical).collect();
            let row = |row: usize| {
                let (dag, node) = (&canonical[row / n], row % n);
                if node < dag.n_nodes() { model.state(dag, node, flow, &device) } else { padding() }
            };
            let slow = Tensor::cat((0..b * n).map(row).collect(), 0);
            assert!(distance(&values(walked.clone()), &values(slow.clone())) < 1e-5, "{flow:?}");
            let [one, other] =
                [walked, slow].map(|states| gradients(&model, &(states * probe.clone()).sum().backward()));
            for (name, (_, expected)) in other {
                // The gates are no part of attention.
                let Some(expected) = expected else { continue };
                let found = one[&name].1.as_ref().unwrap_or_else(|| panic!("no gradient for {name}"));
                assert!(distance(found, &expected) < 1e-4, "{flow:?} {name}: {}", distance(found, &expected));
                assert!(found.iter().any(|&value| value != 0.0), "{name}");
            }
        }
    }
}

/// Graphs without edges are walked in one step.
#[test]
fn single_nodes_hear_nothing() {
    let device = test_device();
    let dags: Vec<Dag> = graphs().into_iter().filter(|dag| dag.n_nodes() == 1).collect();
    let batch = batch(&dags, &device);
    assert_eq!(batch.levels().iter().len(), 1);
    let [b, n] = batch.dims();
    let edges = batch.edge_list(Flow::Both);
    assert_eq!(values(Aggregation::Sum.forward(vectors(&batch, D), edges)), vec![0.0; b * n * D]);
    assert_eq!(Gated::new(false, &device).walk(&batch, batch.levels()).dims(), [b * n, D]);
}
