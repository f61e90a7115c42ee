//! Trees: packed and padded batches agree, batches are cut by length, and token prediction learns.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::Dag;
use pace_graph::dataset::Ast;
use pace_graph::enumerate::{RandomAst, Sampler};
use pace_graph::structure::{DfsTree, MaskRule, depths};
use pace_model::ast::{AstAttention, AstBatch, AstLayout, AstTable, Packing, length_buckets};
use pace_model::encoder::{AstPace, AstPaceConfig, GraphEncoder};
use pace_model::internals::{self as kernel, Dropout, PairLists, sparse_attention};
use pace_model::layers::{BlocksConfig, Init, NormPlacement, Relation, TreeMessagesConfig};
use pace_model::objective::{HeadConfig, Objective, Vocabulary, sub_token_f1};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fit::{assert_all_graded, assert_learns, device, fit, gap, numbers};

pub const TYPES: u16 = 7;
pub const ATTRIBUTES: usize = 20;

/// Random trees of the given sizes; the label of a tree follows from its second node.
pub fn trees(sizes: &[usize]) -> Vec<Ast> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let tree = |&n_nodes: &usize| {
        let dag = RandomAst { n_nodes, n_types: TYPES, max_depth: 12 }.sample(&mut rng);
        let attributes: Vec<u32> = (0..n_nodes).map(|_| rng.random_range(0..ATTRIBUTES as u32)).collect();
        let label = vec![format!("w{}", attributes[n_nodes / 2] % 3), "end".to_owned()];
        Ast {
            is_attributed: vec![true; n_nodes],
            dfs_order: (0..n_nodes as u32).collect(),
            depths: depths(&dag).into_iter().map(|depth| depth as u32).collect(),
            attributes,
            dag,
            label,
        }
    };
    sizes.iter().map(tree).collect()
}

pub fn small(packing: Packing, norm: NormPlacement, dropout: f64) -> AstPaceConfig {
    let blocks = BlocksConfig { n_layers: 2, n_heads: 4, d_ff: 24, dropout, norm, tied_init: false };
    AstPaceConfig { d_model: 16, blocks, max_depth: 5, n_positions: 12, packing, ..AstPaceConfig::code2() }
}

fn batch(asts: &[Ast], config: &AstPaceConfig, device: &Device) -> AstBatch {
    batch_of(asts, config.layout(usize::from(TYPES), ATTRIBUTES), device)
}

/// All trees in one batch.
pub fn batch_of(asts: &[Ast], layout: AstLayout, device: &Device) -> AstBatch {
    let table = AstTable::new(asts, layout).unwrap();
    table.batch(&(0..asts.len()).collect::<Vec<_>>(), device)
}

fn random(shape: [usize; 2], seed: u64, device: &Device) -> Tensor<2> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values = (0..shape[0] * shape[1]).map(|_| rng.random_range(-2.0..2.0_f32)).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// The allowed pairs are those of the mask, in both packings.
#[test]
fn batches_carry_the_mask_of_the_trees() {
    let (asts, device) = (trees(&[9, 1, 30]), device());
    let config = |packing| small(packing, NormPlacement::Post, 0.0);
    let packed = batch(&asts, &config(Packing::Packed), &device);
    let padded = batch(&asts, &config(Packing::Padded), &device);
    let (AstAttention::Sparse(lists), AstAttention::Dense(bias)) = (&packed.attention, &padded.attention) else {
        panic!("a packed and a padded batch");
    };
    assert_eq!((lists.n_rows(), bias.dims()), (40, [3, 30, 30]));
    let bias = numbers(bias.clone());
    let mut first = 0;
    for (graph, ast) in asts.iter().enumerate() {
        let mask = DfsTree::new(&ast.dag).unwrap().mask(MaskRule::AST);
        for node in 0..ast.dag.n_nodes() {
            let expected: Vec<u32> = mask.keys(node).map(|key| (first + key) as u32).collect();
            assert_eq!(lists.keys(first + node), expected);
            for key in 0..30 {
                let allowed = key < ast.dag.n_nodes() && mask.allowed(node, key);
                assert_eq!(bias[(graph * 30 + node) * 30 + key] == 0.0, allowed);
            }
        }
        first += ast.dag.n_nodes();
    }
}

/// A label knows what lies up to h hops away, all of it and nothing else.
#[test]
fn messages_reach_h_hops_and_no_further() {
    let (ast, device, d) = (&trees(&[40])[0], device(), 8);
    let n = ast.dag.n_nodes();
    let batch = batch(std::slice::from_ref(ast), &small(Packing::Packed, NormPlacement::Post, 0.0), &device);
    let mut hops = vec![vec![usize::MAX; n]; n];
    for (from, row) in hops.iter_mut().enumerate() {
        row[from] = 0;
        // Neighbours of what was reached, until nothing is new.
        for hop in 0..n {
            for (a, b) in ast.dag.edges() {
                for (near, far) in [(a, b), (b, a)] {
                    if row[near] == hop {
                        row[far] = row[far].min(hop + 1);
                    }
                }
            }
        }
    }
    for height in 0..4 {
        let config = TreeMessagesConfig { height, next_token: false, inverse: true };
        let messages = config.init(d, &mut Init::new(3, &device));
        let x = random([n, d], 7, &device);
        let before = numbers(messages.forward(x.clone(), &batch));
        for node in [0, 5, n - 1] {
            let mut values = numbers(x.clone());
            values[node * d..(node + 1) * d].iter_mut().for_each(|value| *value += 1.5);
            let changed = Tensor::from_data(TensorData::new(values, [n, d]), &device);
            let after = numbers(messages.forward(changed, &batch));
            for (other, row) in hops[node].iter().enumerate() {
                let differs = before[other * d..(other + 1) * d] != after[other * d..(other + 1) * d];
                assert_eq!(differs, *row <= height, "node {other}, {row} hops from {node}, {height} rounds");
            }
        }
    }
}

/// The relations of a small tree with three tokens, by hand.
#[test]
fn nodes_hear_parents_children_and_tokens_beside_them() {
    let (mut asts, device) = (trees(&[5, 5]), device());
    for ast in &mut asts {
        // 0 -> 1 -> 2, 1 -> 3, 0 -> 4.
        ast.dag = Dag::new(vec![0, 1, 2, 3, 4], [(0, 1), (1, 2), (1, 3), (0, 4)]).unwrap();
        ast.is_attributed = vec![false, false, true, true, true];
    }
    let numbered = Tensor::from_data(TensorData::new((1..=10).map(|row| row as f32).collect(), [10, 1]), &device);
    let heard = |relation| {
        let batch = batch(&asts, &small(Packing::Packed, NormPlacement::Post, 0.0), &device);
        let edges = batch.messages(relation);
        numbers(edges.segments().sum(edges.of_sources(numbered.clone())))
    };
    // Sums of row numbers, which count from 1.
    assert_eq!(heard(Relation::Parent), [0.0, 1.0, 2.0, 2.0, 1.0, 0.0, 6.0, 7.0, 7.0, 6.0]);
    assert_eq!(heard(Relation::Children), [7.0, 7.0, 0.0, 0.0, 0.0, 17.0, 17.0, 0.0, 0.0, 0.0]);
    assert_eq!(heard(Relation::Previous), [0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 8.0, 9.0]);
    assert_eq!(heard(Relation::Next), [0.0, 0.0, 4.0, 5.0, 0.0, 0.0, 0.0, 9.0, 10.0, 0.0]);
}

#[test]
fn sparse_attention_is_masked_attention() {
    let (n, d, n_heads, device) = (13, 16, 4, device());
    let asts = trees(&[n, n, n]);
    let table = |packing| batch(&asts, &small(packing, NormPlacement::Post, 0.0), &device).attention;
    let (AstAttention::Sparse(lists), AstAttention::Dense(bias)) = (table(Packing::Packed), table(Packing::Padded))
    else {
        panic!("a packed and a padded batch");
    };
    // Scores of a few hundred: the maximum of each list must be taken off, not one for all.
    for scale in [1.0, 20.0] {
        let qkv = || (random([3 * n, 3 * d], 1, &device) * scale).detach().require_grad();
        let weights = random([3 * n, d], 2, &device);
        let (one, other) = (qkv(), qkv());
        let sparse = sparse_attention(one.clone(), &lists, n_heads, Dropout::NONE);
        let dense = kernel::attention(other.clone(), Some(bias.clone()), 3, n_heads, Dropout::NONE);
        assert!(gap(&numbers(sparse.clone()), &numbers(dense.clone())) < 1e-5 * scale as f32);
        let grad = |out: Tensor<2>, leaf: Tensor<2>| {
            numbers(leaf.grad(&(out * weights.clone()).sum().backward()).expect("a gradient"))
        };
        let (sparse, dense) = (grad(sparse, one), grad(dense, other));
        assert!(gap(&sparse, &dense) < 1e-5 * (scale * scale) as f32, "{}", gap(&sparse, &dense));
    }
}

#[test]
fn rows_without_keys_get_zeros() {
    let device = device();
    let lists = PairLists::new(vec![0, 0, 2, 2], vec![0, 2], &device);
    let out = numbers(sparse_attention(random([3, 12], 1, &device), &lists, 2, Dropout::NONE));
    assert!(out[..4].iter().chain(&out[8..]).all(|&x| x == 0.0) && out[4..8].iter().all(|&x| x != 0.0));
}

fn gradients(model: &AstPace, batch: &AstBatch) -> (Vec<f32>, Vec<f32>) {
    use burn::module::{ModuleVisitor, Param};
    struct Collect<'a>(&'a burn::tensor::Gradients, Vec<f32>);
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.1.extend(numbers(param.val().grad(self.0).expect("a gradient")));
        }
    }
    let out = model.embed(batch);
    let weights = random(out.dims(), 5, &device());
    let values = numbers(out.clone());
    let grads = (out * weights).sum().backward();
    let mut collect = Collect(&grads, Vec::new());
    model.visit(&mut collect);
    (values, collect.1)
}

/// The whole encoder: values and gradients of every parameter.
#[test]
fn packed_equals_padded() {
    let (asts, device) = (trees(&[9, 1, 30, 17]), device());
    let messages = TreeMessagesConfig { height: 2, next_token: true, inverse: true };
    for (norm, messages) in [
        (NormPlacement::Post, TreeMessagesConfig::default()),
        (NormPlacement::Pre, TreeMessagesConfig::default()),
        (NormPlacement::Post, messages),
    ] {
        let config = AstPaceConfig { messages, ..small(Packing::Packed, norm, 0.1) };
        let model = config.init(usize::from(TYPES), ATTRIBUTES, 1, &device);
        let packed = gradients(&model, &batch(&asts, &config, &device));
        let padded = gradients(&model, &batch(&asts, &small(Packing::Padded, norm, 0.1), &device));
        assert!(gap(&packed.0, &padded.0) < 1e-5, "values {}", gap(&packed.0, &padded.0));
        assert!(gap(&packed.1, &padded.1) < 1e-4, "gradients {}", gap(&packed.1, &padded.1));
        // A tree alone has the same vector as in company.
        let alone = numbers(model.embed(&batch(&asts[2..3], &config, &device)));
        assert!(gap(&alone, &packed.0[2 * 16..3 * 16]) < 1e-5);
    }
}

#[test]
fn passes_are_a_function_of_their_seed() {
    let (asts, device) = (trees(&[9, 30]), device());
    for packing in [Packing::Packed, Packing::Padded] {
        let config = small(packing, NormPlacement::Post, 0.3);
        let model = config.init(usize::from(TYPES), ATTRIBUTES, 1, &device);
        let batch = batch(&asts, &config, &device);
        let embed = |seed| numbers(model.embed(&batch.clone().train(seed)));
        assert_eq!(embed(1), embed(1));
        assert_ne!(embed(1), embed(2));
    }
}

#[test]
fn token_prediction_learns_and_reaches_every_parameter() {
    let (asts, device) = (trees(&[12, 20, 7, 15, 9, 11, 14, 8]), device());
    let vocabulary = Vocabulary::new(asts.iter().map(|ast| ast.label.as_slice()), 5000);
    let tokens: Vec<Vec<usize>> = asts.iter().map(|ast| vocabulary.encode(&ast.label, 5)).collect();
    let config = small(Packing::Packed, NormPlacement::Post, 0.1);
    let encoder = config.init(usize::from(TYPES), ATTRIBUTES, 1, &device);
    let table = AstTable::new(&asts, *encoder.layout()).unwrap().with_tokens(&tokens);
    let batch = table.batch(&[0, 1, 2, 3, 4, 5, 6, 7], &device);
    let head = HeadConfig::Tokens { n_positions: 5, n_tokens: vocabulary.n_tokens() };
    let model = head.init(encoder, 2, &device);
    assert_eq!(numbers(model.predict(&batch)).len(), 8 * 5 * vocabulary.n_tokens());
    assert_all_graded(&model, model.loss(&batch.clone().train(1)));
    let losses = fit(model.clone(), 60, 1e-2, |model, seed| model.loss(&batch.clone().train(seed)));
    assert_learns(&losses);
    let predicted = model.predict_tokens(&batch);
    let score = |(tokens, ast): (&Vec<usize>, &Ast)| sub_token_f1(&vocabulary.decode(tokens), &ast.label);
    let f1 = predicted.iter().zip(&asts).map(score).sum::<f64>() / 8.0;
    assert!((0.0..=1.0).contains(&f1) && predicted.iter().all(|row| row.len() == 5));
}

/// The mean of five cross-entropies: a head of zeros gives log V for every graph.
#[test]
fn an_undecided_head_costs_log_v() {
    let (asts, device) = (trees(&[12, 20]), device());
    let config = small(Packing::Padded, NormPlacement::Post, 0.0);
    let encoder = config.init(usize::from(TYPES), ATTRIBUTES, 1, &device);
    let table = AstTable::new(&asts, *encoder.layout()).unwrap().with_tokens(&[vec![0; 5], vec![3; 5]]);
    let model = HeadConfig::Tokens { n_positions: 5, n_tokens: 4 }.init(encoder, 2, &device);
    let model = model.map(&mut Zero);
    let loss = model.loss(&table.batch(&[0, 1], &device));
    assert_eq!(loss.count, 2);
    assert!((numbers(loss.total)[0] - 2.0 * 4.0_f32.ln()).abs() < 1e-5);
}

struct Zero;

impl burn::module::ModuleMapper for Zero {
    fn map_float<const D: usize>(&mut self, param: burn::module::Param<Tensor<D>>) -> burn::module::Param<Tensor<D>> {
        param.map(|tensor| tensor.zeros_like())
    }
}

#[test]
fn buckets_bound_the_padded_rows() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let lengths: Vec<usize> = (0..300).map(|_| rng.random_range(1..400)).collect();
    let indices: Vec<usize> = (0..300).step_by(2).collect();
    let batches = length_buckets(&indices, &lengths, 1000, 1);
    assert_eq!(batches, length_buckets(&indices, &lengths, 1000, 1));
    assert_ne!(batches, length_buckets(&indices, &lengths, 1000, 2));
    let rows = |batch: &Vec<usize>| batch.len() * batch.iter().map(|&graph| lengths[graph]).max().unwrap();
    assert!(batches.iter().all(|batch| batch.len() == 1 || rows(batch) <= 1000));
    let nodes: usize = indices.iter().map(|&graph| lengths[graph]).sum();
    assert!(batches.iter().map(rows).sum::<usize>() < nodes * 11 / 10, "little padding");
    let mut all: Vec<usize> = batches.into_iter().flatten().collect();
    all.sort_unstable();
    assert_eq!(all, indices);
    assert_eq!(length_buckets(&[0], &[5000], 1000, 1), [[0]]);
}

#[test]
fn tables_refuse_what_the_model_cannot_embed() {
    let layout = small(Packing::Packed, NormPlacement::Post, 0.0).layout(usize::from(TYPES), 3);
    let error = AstTable::new(&trees(&[30]), layout).unwrap_err().to_string();
    assert!(error.contains("attribute"), "{error}");
}

/// A path of 100,000 nodes has 5,000,050,000 pairs; the lists count in 32 bits.
#[test]
fn a_tree_with_more_pairs_than_a_batch_holds_is_refused() {
    let n_nodes = 100_000;
    let path = Ast {
        dag: Dag::new(vec![0; n_nodes], (1..n_nodes).map(|node| (node - 1, node))).unwrap(),
        attributes: vec![0; n_nodes],
        is_attributed: vec![true; n_nodes],
        depths: (0..n_nodes as u32).collect(),
        dfs_order: (0..n_nodes as u32).collect(),
        label: Vec::new(),
    };
    for (packing, n_pairs) in [(Packing::Packed, "5000050000"), (Packing::Padded, "10000000000")] {
        let layout = small(packing, NormPlacement::Post, 0.0).layout(usize::from(TYPES), ATTRIBUTES);
        let error = AstTable::new(std::slice::from_ref(&path), layout).unwrap_err().to_string();
        assert!(error.contains(n_pairs) && error.contains("cut the tree"), "{error}");
    }
}

/// 12 positions: nodes from 11 on share the last one, until the table is larger.
#[test]
fn late_nodes_share_the_last_position_unless_there_are_more() {
    let (asts, device) = (trees(&[30]), device());
    let positions = |n_positions| {
        let config = AstPaceConfig { n_positions, ..small(Packing::Packed, NormPlacement::Post, 0.0) };
        let data = batch(&asts, &config, &device).positions.into_data();
        data.convert::<i32>().try_to_vec::<i32>().unwrap()
    };
    let expected: Vec<i32> = (0..30).map(|node| node.min(11)).collect();
    assert_eq!(positions(12), expected);
    assert_eq!(positions(30), (0..30).collect::<Vec<i32>>());
}
