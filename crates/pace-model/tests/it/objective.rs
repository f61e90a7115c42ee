//! MLM and supervised objectives: corruption, losses in closed form, pairs, parameter counts, and that they learn.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use pace_graph::enumerate::{Darts, Sampler};
use pace_graph::{Dag, DagSpec, Op, canonical_order};
use pace_model::encoder::{DagEncoder, PaceConfig, Task};
use pace_model::objective::{
    Corruption, HeadConfig, MaskIds, Mlm, MlmConfig, Objective, Rest, VaeConfig, Vocabulary, metric_pairs,
    pairwise_logistic, sub_token_f1,
};
use pace_model::{DagBatch, DagTable};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fit::{assert_all_graded, assert_learns, cells, device, fit, gap, numbers};

fn batch(dags: &[Dag], config: &PaceConfig) -> DagBatch {
    DagTable::new(dags, &config.layout(&DagSpec::nas101())).whole(&device())
}

fn darts(count: usize) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    (0..count).map(|_| Darts.sample(&mut rng)).collect()
}

#[test]
fn corruption_follows_the_paper() {
    let config = PaceConfig::mlm();
    let batch = batch(&cells(4000, 1), &config);
    let ids = MaskIds::own(&config.layout(&DagSpec::nas101()));
    assert_eq!((ids.mask, ids.ignored, ids.n_ops), (5, None, 5));
    let draw = |seed| Corruption::PAPER.apply(&batch, ids, &mut ChaCha8Rng::seed_from_u64(seed));
    let found = draw(1);
    assert_eq!(found, draw(1));
    assert_ne!(found.selected, draw(2).selected);

    let nodes: usize = batch.lengths.iter().sum();
    let share = found.selected.len() as f64 / nodes as f64;
    assert!((share - 0.2).abs() < 0.01, "selected {share}");
    let masked = found.selected.iter().filter(|&&place| found.tokens[place] == ids.mask).count();
    let share = masked as f64 / found.selected.len() as f64;
    assert!((share - 0.8).abs() < 0.02, "masked {share}");
    let [_, n] = batch.dims();
    for (place, (&seen, &truth)) in found.tokens.iter().zip(&batch.host_tokens).enumerate() {
        let selected = found.selected.binary_search(&place);
        assert!(selected.is_err() || place % n < batch.lengths[place / n], "padding is selected");
        assert!(seen == truth || selected.is_ok() && seen == ids.mask, "token {seen} for {truth}");
        assert!(selected.is_err() || found.labels[selected.unwrap()] == truth);
    }
}

#[test]
fn published_corruption_covers_padding_and_ignores_its_token() {
    let config = PaceConfig::as_published(Task::Nas101);
    let batch = batch(&cells(4000, 1), &config);
    let ids = MaskIds::colliding(&config.layout(&DagSpec::nas101()));
    let found = Corruption::PUBLISHED.apply(&batch, ids, &mut ChaCha8Rng::seed_from_u64(1));
    assert!(found.labels.iter().all(|&label| label != 0));
    let [_, n] = batch.dims();
    let masked = |place: usize| found.tokens[place] == 1;
    let padding = || (0..batch.host_tokens.len()).filter(|place| place % n >= batch.lengths[place / n]);
    let share = padding().filter(|&place| masked(place)).count() as f64 / padding().count() as f64;
    // 80 % of a fifth, and of the random fifth again a fifth.
    assert!((share - 0.2 * (0.8 + 0.2 / 5.0)).abs() < 0.02, "{share}");
    let output = |&&place: &&usize| batch.host_tokens[place] == 4;
    let outputs: Vec<&usize> = found.selected.iter().filter(output).collect();
    let others = outputs.iter().filter(|&&&place| found.tokens[place] == 2).count() as f64;
    assert!((others / outputs.len() as f64 - 0.2 / 5.0).abs() < 0.02, "random operations");
}

#[test]
fn something_is_always_selected() {
    let config = PaceConfig::mlm();
    let batch = batch(&cells(1, 5), &config);
    let never = Corruption { selected: 0.0, ..Corruption::PAPER };
    let ids = MaskIds::own(&config.layout(&DagSpec::nas101()));
    let found = never.apply(&batch, ids, &mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(found.selected.len(), 1);
    assert!(found.selected[0] < batch.lengths[0]);
    assert_eq!(never.rest, Rest::Unchanged);
}

#[test]
#[should_panic(expected = "special_tokens")]
fn own_tokens_need_a_dictionary_with_them() {
    let config = MlmConfig { encoder: PaceConfig::vae(), ..MlmConfig::paper() };
    config.init(&DagSpec::nas101(), 1, &device());
}

#[test]
fn mlm_is_a_function_of_its_seeds() {
    let mlm = MlmConfig::paper().init(&DagSpec::nas101(), 1, &device());
    let batch = batch(&cells(32, 2), &PaceConfig::mlm());
    let loss = |batch: DagBatch| numbers(mlm.loss(&batch).total)[0];
    assert_eq!(loss(batch.clone()), loss(batch.clone()));
    assert_eq!(loss(batch.clone().train(4)), loss(batch.clone().train(4)));
    assert_ne!(loss(batch.clone().train(4)), loss(batch.clone().train(5)));
    assert_eq!(mlm.embed(&batch).dims(), [32, 64]);
    let parts = mlm.loss(&batch);
    assert_eq!(parts.count, mlm.corrupt(&batch).1.labels.len());
    assert!((0.0..=parts.count as f32).contains(&numbers(parts.parts[0].1.clone())[0]));
}

/// Random cells with several nodes at one depth, which the canonical order sorts by operation.
fn wide_cells(count: usize) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut cell = || {
        let mut ops: Vec<Op> = (0..7).map(|_| rng.random_range(1..4)).collect();
        (ops[0], ops[6]) = (0, 4);
        let mut edges: Vec<(usize, usize)> = (1..6).map(|to| (rng.random_range(0..to), to)).collect();
        let ends: Vec<usize> = (0..6).filter(|&node| edges.iter().all(|&(from, _)| from != node)).collect();
        edges.extend(ends.into_iter().map(|node| (node, 6)));
        Dag::new(ops, edges).expect("edges go forward")
    };
    (0..count).map(|_| cell()).collect()
}

/// Two cells that differ in hidden operations only look the same to the model.
#[test]
fn hidden_operations_leave_no_trace() {
    let (device, spec) = (device(), DagSpec::nas101());
    let encoder = MlmConfig::paper().init(&spec, 1, &device);
    let mask = MaskIds::own(encoder.encoder().layout()).mask;
    let mut n_reordered = 0;
    for dag in wide_cells(300) {
        // The operation of one inner node becomes each of the three; then all inner nodes are hidden.
        let hidden: Vec<usize> = (0..dag.n_nodes()).filter(|&node| (1..4).contains(&dag.op(node))).collect();
        let Some((&first, _)) = hidden.split_first() else { continue };
        let mut seen = Vec::new();
        for op in 1..4 {
            let ops = (0..dag.n_nodes()).map(|node| if node == first { op } else { dag.op(node) }).collect();
            let variant = Dag::new(ops, dag.edges()).unwrap();
            let batch = DagTable::new(std::slice::from_ref(&variant), encoder.encoder().layout()).whole(&device);
            let order = canonical_order(&variant);
            n_reordered += usize::from(order != canonical_order(&dag));
            let tokens =
                order.iter().map(|node| if hidden.contains(node) { mask } else { variant.op(*node) }).collect();
            let with_padding = |mut tokens: Vec<Op>| {
                tokens.resize(batch.host_tokens.len(), batch.host_tokens.last().copied().unwrap_or_default());
                tokens
            };
            let (anew, _) = batch.laid_out_anew(&with_padding(tokens), 7);
            seen.push((
                anew.host_tokens.clone(),
                numbers(anew.dag2seq_features()),
                numbers(anew.bias()),
                numbers(anew.edges()),
            ));
        }
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{dag}");
    }
    assert!(n_reordered > 50, "only {n_reordered} orders depend on the hidden operation: this tests nothing");
}

/// Of two hidden nodes that look the same, the first is not the one with the smaller operation.
#[test]
fn equal_nodes_are_ordered_by_chance() {
    let spec = DagSpec::nas101();
    let cell: Dag = "0 1 2 4 : 0>1 0>2 1>3 2>3".parse().unwrap();
    let cells: Vec<Dag> = vec![cell; 2000];
    let layout = PaceConfig::mlm().layout(&spec);
    let batch = DagTable::new(&cells, &layout).whole(&device());
    let [_, n] = batch.dims();
    let mask = MaskIds::own(&layout).mask;
    let tokens: Vec<Op> = batch.host_tokens.iter().map(|&op| if op == 1 || op == 2 { mask } else { op }).collect();
    let (_, moved) = batch.laid_out_anew(&tokens, 3);
    let first = |graph: usize| (0..2).find(|node| moved[graph * n + 1 + node] == graph * n + 1).unwrap();
    let share = (0..cells.len()).filter(|&graph| first(graph) == 0).count() as f64 / cells.len() as f64;
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

/// Against a plain sum over rows and operations.
#[test]
fn losses_have_their_closed_form() {
    let (device, spec) = (device(), DagSpec::nas101());
    let batch = batch(&cells(8, 2), &PaceConfig::as_published(Task::Nas101));
    for smoothing in [0.0, 0.1] {
        let mut config = MlmConfig::as_published(Task::Nas101);
        config.masking.smoothing = smoothing;
        config.masking.pair = config.masking.pair.map(|mut pair| {
            pair.blocks.n_layers = 1;
            pair
        });
        let mlm = config.init(&spec, 1, &device);
        let (seen, corrupted) = mlm.corrupt(&batch);
        let logits = numbers(mlm.logits(&seen, &corrupted));
        let mut expected = 0.0;
        for (row, &label) in logits.chunks(5).zip(&corrupted.labels) {
            let total: f32 = row.iter().map(|l| l.exp()).sum();
            for (op, logit) in row.iter().enumerate().skip(1) {
                let t = if op == usize::from(label) { 1.0 - smoothing as f32 } else { smoothing as f32 / 3.0 };
                if t > 0.0 {
                    expected += t * (t.ln() - (logit.exp() / total).ln());
                }
            }
        }
        let found = numbers(mlm.loss(&batch).total)[0];
        assert!((found - expected).abs() < 1e-4 * expected.abs(), "{found}, not {expected}");
    }
}

#[test]
fn mlm_learns_and_reaches_every_parameter() {
    let device = device();
    let mlm = MlmConfig::paper().init(&DagSpec::nas101(), 1, &device);
    let batch = batch(&cells(64, 2), &PaceConfig::mlm());
    assert_all_graded(&mlm, mlm.loss(&batch.clone().train(1)));
    assert_learns(&fit(mlm, 40, 3e-3, |mlm, seed| mlm.loss(&batch.clone().train(seed))));
}

#[test]
fn published_mlm_learns_and_reaches_every_parameter() {
    let device = device();
    let mlm = MlmConfig::as_published(Task::Nas301).init(&DagSpec::darts(), 1, &device);
    let batch = DagTable::new(&darts(16), mlm.encoder().layout()).whole(&device);
    assert_all_graded(&mlm, mlm.loss(&batch.clone().train(1)));
    // 24 blocks get no further than the frequencies in so few steps, so this one may learn its batch by heart.
    assert_learns(&fit(mlm, 40, 1e-3, |mlm, _| mlm.loss(&batch.clone().train(1))));
}

/// What a graph's partner is changes its prediction; its place in the batch does not, nor do other pairs.
#[test]
fn pairs_are_neighbours_in_the_batch() {
    let mut config = MlmConfig::as_published(Task::Nas101);
    config.masking.pair = config.masking.pair.map(|mut pair| {
        pair.blocks.n_layers = 2;
        pair
    });
    let mlm: Mlm<_> = config.init(&DagSpec::nas101(), 1, &device());
    let (table, device) = (DagTable::new(&cells(4, 9), mlm.encoder().layout()), device());
    let logits = |graphs: &[usize], graph: usize| {
        let batch = table.batch(graphs, &device);
        let (_, mut corrupted) = mlm.corrupt(&batch);
        corrupted.tokens = batch.host_tokens.clone();
        corrupted.selected = (graph * 7..graph * 7 + 7).collect();
        numbers(mlm.logits(&batch, &corrupted))
    };
    let alone = logits(&[0, 1], 0);
    assert!(gap(&alone, &logits(&[2, 3, 0, 1], 2)) < 1e-5);
    assert!(gap(&alone, &logits(&[0, 2], 0)) > 1e-4);
}

#[test]
fn pairs_are_earlier_and_near() {
    let metric: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 101)).collect();
    let pairs = metric_pairs(&metric, 2, 3.0, 1);
    assert_eq!(pairs, metric_pairs(&metric, 2, 3.0, 1));
    assert_ne!(pairs, metric_pairs(&metric, 2, 3.0, 2));
    for &(graph, earlier) in &pairs {
        let difference = metric[graph] - metric[earlier];
        assert!((0.0..=3.0).contains(&difference) && graph != earlier);
    }
    // Without replacement, at most two each, and all there are where there are fewer.
    let mut counts = vec![Vec::new(); 200];
    pairs.iter().for_each(|&(graph, earlier)| counts[graph].push(earlier));
    assert!(counts.iter().all(|partners| partners.len() <= 2));
    assert!(counts.iter().all(|partners| partners.len() < 2 || partners[0] != partners[1]));
    assert_eq!(pairs.len(), 1 + 198 * 2, "only the first two in order lack partners");
    assert!(metric_pairs(&[1.0, 10.0, 20.0], 2, 5.0, 0).is_empty());
    assert!(metric_pairs(&[], 2, 5.0, 0).is_empty());
}

/// The counts of the published models, worked out by hand from their shapes. The MLM code also creates a layer norm for
/// every block and uses only the last of each stack: 2 + 23 norms of 2 x 64 parameters that never get a gradient.
#[test]
fn parameter_counts_are_the_published_ones() {
    const UNUSED: usize = (2 + 23) * 2 * 64;
    let device = device();
    let mlm = |task, spec: DagSpec| MlmConfig::as_published(task).init(&spec, 1, &device).num_params();
    assert_eq!(mlm(Task::Nas101, DagSpec::nas101()) + UNUSED, 693_317);
    assert_eq!(mlm(Task::Nas301, DagSpec::darts()) + UNUSED, 694_091);
}

#[test]
fn vae_parameter_counts_are_the_published_ones() {
    let device = device();
    let vae = |task, spec: DagSpec| VaeConfig::as_published(task).init(&spec, 1, &device).num_params();
    assert_eq!((vae(Task::Na, DagSpec::na()), vae(Task::Bn, DagSpec::bn())), (327_114, 352_161));
}

fn row(values: &[f32]) -> Tensor<1> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &device())
}

#[test]
fn ranking_loss_has_its_closed_form() {
    let soft = |margin: f32| (1.0 + (-margin).exp()).ln();
    let (loss, pairs) = pairwise_logistic(row(&[1.0, -2.0, 0.5]), &row(&[3.0, 1.0, 1.0]));
    assert_eq!(pairs, 2);
    assert!((numbers(loss)[0] - soft(3.0) - soft(0.5)).abs() < 1e-5);
    let (loss, pairs) = pairwise_logistic(row(&[-500.0, 500.0]), &row(&[2.0, 1.0]));
    assert_eq!((numbers(loss)[0], pairs), (1000.0, 1));
    let (loss, pairs) = pairwise_logistic(row(&[4.0, 5.0]), &row(&[1.0, 1.0]));
    assert_eq!((numbers(loss)[0], pairs), (0.0, 0));
}

#[test]
fn supervised_heads_learn_and_reach_every_parameter() {
    let device = device();
    let dags = cells(48, 4);
    // Something the graph decides: how many 3x3 convolutions it has.
    let targets = dags.iter().map(|dag| dag.ops().filter(|&op| op == 2).count() as f32).collect();
    let encoder = || PaceConfig::mlm().init(&DagSpec::nas101(), 1, &device);
    let batch = DagTable::new(&dags, encoder().layout()).with_targets(targets).whole(&device);
    for head in [HeadConfig::Regression, HeadConfig::Ranking] {
        let model = head.init(encoder(), 2, &device);
        assert_all_graded(&model, model.loss(&batch.clone().train(1)));
        assert_learns(&fit(model, 40, 3e-3, |model, seed| model.loss(&batch.clone().train(seed))));
    }
    let regression = HeadConfig::Regression.init(encoder(), 2, &device);
    let errors = numbers(regression.predict(&batch).reshape([48]) - batch.targets.clone().unwrap());
    let expected: f32 = errors.iter().map(|error| error * error).sum();
    assert!((numbers(regression.loss(&batch).total)[0] - expected).abs() < 1e-3 * expected);

    // Several numbers per graph: their own, in their places, also in a batch of some graphs.
    let several = dags.iter().flat_map(|dag| [dag.n_nodes() as f32, dag.n_edges() as f32, 0.5]).collect();
    let table = DagTable::new(&dags, encoder().layout()).with_targets(several);
    let (some, head) = (table.batch(&[7, 3], &device), HeadConfig::Numbers { n: 3 });
    let of = |graph: usize| [dags[graph].n_nodes() as f32, dags[graph].n_edges() as f32, 0.5];
    let targets = [of(7), of(3)].concat();
    assert_eq!(numbers(some.targets.clone().unwrap()), targets);
    let model = head.init(encoder(), 2, &device);
    let predicted = numbers(model.predict(&some));
    let expected = predicted.iter().zip(&targets).map(|(p, y)| (p - y).powi(2)).sum::<f32>() / 3.0;
    assert!((numbers(model.loss(&some).total)[0] - expected).abs() < 1e-3 * expected);
    let batch = table.whole(&device);
    assert_all_graded(&model, model.loss(&batch.clone().train(1)));
    assert_learns(&fit(model, 40, 3e-3, |model, seed| model.loss(&batch.clone().train(seed))));
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn f1_is_that_of_sets() {
    let f1 = |predicted: &str, reference: &str| sub_token_f1(&words(predicted), &words(reference));
    assert_eq!(f1("get name", "get name"), 1.0);
    assert_eq!(f1("name get get", "get name"), 1.0);
    assert_eq!(f1("get", "get name"), 2.0 / 3.0);
    assert_eq!(f1("get size", "get name"), 0.5);
    assert_eq!(f1("", "get name"), 0.0);
    assert_eq!(f1("get", ""), 0.0);
    assert_eq!(f1("a b c d e", "a b c d e f"), 10.0 / 11.0, "the reference is not cut at five");
}

#[test]
fn vocabularies_rank_by_count_then_by_appearance() {
    let labels = [words("b a"), words("c a"), words("d b")];
    let vocabulary = Vocabulary::new(labels.iter().map(Vec::as_slice), 3);
    assert_eq!((vocabulary.n_tokens(), vocabulary.unknown(), vocabulary.end()), (5, 3, 4));
    assert_eq!(vocabulary.encode(&words("b a c d"), 5), [0, 1, 2, 3, 4]);
    assert_eq!(vocabulary.encode(&words("a a a a a a"), 5), [1; 5]);
    assert_eq!(vocabulary.decode(&[3, 2, 4, 0, 0]), [Vocabulary::UNKNOWN, "c"]);
    assert!(vocabulary.decode(&[4, 0, 0]).is_empty());
    let text = serde_json::to_string(&vocabulary).unwrap();
    assert_eq!(serde_json::from_str::<Vocabulary>(&text).unwrap(), vocabulary);
}

#[test]
fn configurations_survive_json() {
    let config = MlmConfig::as_published(Task::Nas101);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<MlmConfig>(&text).unwrap(), config);
    let text = serde_json::to_string(&HeadConfig::CODE2).unwrap();
    assert_eq!(serde_json::from_str::<HeadConfig>(&text).unwrap(), HeadConfig::CODE2);
}
