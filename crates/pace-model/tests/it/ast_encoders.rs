//! Encoders of trees: whom nodes attend to, recursions against their formulas, and what all of them promise.

use burn::module::Module;
use pace_graph::dataset::Ast;
use pace_model::ast::{AstAttention, AstTable, Attends, Packing};
use pace_model::encoder::{
    AstBagConfig, AstEncoderConfig, AstPaceConfig, AstReadout, AstRecursionConfig, GraphEncoder,
};
use pace_model::layers::{Hearing, NormPlacement, TreeMessagesConfig};
use pace_model::objective::{HeadConfig, Objective};

use crate::ast::{ATTRIBUTES, TYPES, batch_of, small, trees};
use crate::fit::{assert_all_graded, assert_learns, device, fit, gap, numbers};
use crate::recursion::{Heard, Slow, Weights, add, off};

fn recursion(hearing: Hearing, n_layers: usize, bidirectional: bool, next_token: bool) -> AstRecursionConfig {
    AstRecursionConfig { d_hidden: 8, n_layers, hearing, bidirectional, next_token, max_depth: 5, dropout: 0.1 }
}

/// One of each kind.
fn configs() -> Vec<AstEncoderConfig> {
    let pace = |attends, readout| {
        let messages = TreeMessagesConfig { height: 1, next_token: true, inverse: true };
        let plain = small(Packing::Packed, NormPlacement::Post, 0.1);
        AstEncoderConfig::Pace(AstPaceConfig { attends, readout, messages, ..plain })
    };
    vec![
        pace(Attends::Descendants, AstReadout::Root),
        pace(Attends::Ancestors, AstReadout::Mean),
        pace(Attends::Relatives, AstReadout::Root),
        pace(Attends::Relatives, AstReadout::Mean),
        AstEncoderConfig::Dvae(recursion(Hearing::GatedStates, 1, true, true)),
        AstEncoderConfig::Dvae(recursion(Hearing::GatedStates, 1, false, false)),
        AstEncoderConfig::Dagnn(recursion(Hearing::AttendedStates, 2, true, true)),
        AstEncoderConfig::Bag(AstBagConfig { d_model: 8, dropout: 0.1 }),
    ]
}

/// Trees in which only some nodes are tokens.
fn asts(sizes: &[usize]) -> Vec<Ast> {
    let mut asts = trees(sizes);
    for ast in &mut asts {
        ast.is_attributed = (0..ast.dag.n_nodes()).map(|node| node % 3 != 1).collect();
    }
    asts
}

/// By the definition of the word: a is an ancestor of b if there is a path from a to b.
#[test]
fn nodes_attend_to_ancestors_descendants_or_both() {
    let (asts, device) = (asts(&[9, 1, 30]), device());
    for attends in [Attends::Descendants, Attends::Ancestors, Attends::Relatives] {
        let config = |packing| AstPaceConfig { attends, ..small(packing, NormPlacement::Post, 0.0) };
        let lay = |packing| config(packing).layout(usize::from(TYPES), ATTRIBUTES);
        let packed = batch_of(&asts, lay(Packing::Packed), &device).attention;
        let padded = batch_of(&asts, lay(Packing::Padded), &device).attention;
        let (AstAttention::Sparse(lists), AstAttention::Dense(bias)) = (packed, padded) else {
            panic!("a packed and a padded batch");
        };
        let (bias, mut first) = (numbers(bias), 0);
        for (graph, ast) in asts.iter().enumerate() {
            let n = ast.dag.n_nodes();
            let mut reaches = vec![vec![false; n]; n];
            for node in (0..n).rev() {
                reaches[node][node] = true;
                for child in ast.dag.successors(node) {
                    (0..n).for_each(|other| reaches[node][other] |= reaches[child][other]);
                }
            }
            for (node, row) in reaches.iter().enumerate() {
                let allowed = |other: usize| match attends {
                    Attends::Descendants => row[other],
                    Attends::Ancestors => reaches[other][node],
                    Attends::Relatives => row[other] || reaches[other][node],
                };
                let expected: Vec<u32> = (0..n).filter(|&key| allowed(key)).map(|key| (first + key) as u32).collect();
                assert_eq!(lists.keys(first + node), expected, "{attends:?}");
                for key in 0..30 {
                    let found = bias[(graph * 30 + node) * 30 + key] == 0.0;
                    assert_eq!(found, key < n && allowed(key), "{attends:?}");
                }
            }
            first += n;
        }
    }
}

/// Both packings, every direction and readout: the same vectors.
#[test]
fn padding_changes_nothing() {
    let (asts, device) = (asts(&[9, 1, 30, 17]), device());
    for (attends, readout) in [
        (Attends::Ancestors, AstReadout::Mean),
        (Attends::Relatives, AstReadout::Root),
        (Attends::Relatives, AstReadout::Mean),
        (Attends::Descendants, AstReadout::Mean),
    ] {
        let config = |packing| AstPaceConfig { attends, readout, ..small(packing, NormPlacement::Post, 0.0) };
        let model = config(Packing::Packed).init(usize::from(TYPES), ATTRIBUTES, 1, &device);
        let embed = |packing| {
            let layout = config(packing).layout(usize::from(TYPES), ATTRIBUTES);
            numbers(model.embed(&batch_of(&asts, layout, &device)))
        };
        let (packed, padded) = (embed(Packing::Packed), embed(Packing::Padded));
        assert!(gap(&packed, &padded) < 1e-5, "{attends:?} {readout:?}: {}", gap(&packed, &padded));
    }
}

#[test]
#[should_panic(expected = "the root has no ancestors")]
fn a_root_that_sees_nothing_is_not_read_out() {
    let config = AstPaceConfig { attends: Attends::Ancestors, ..small(Packing::Packed, NormPlacement::Post, 0.0) };
    config.init(usize::from(TYPES), ATTRIBUTES, 1, &device());
}

/// D-VAE and DAGNN on trees, node by node in double precision, from the formulas.
fn slow_vector(weights: &Weights, config: &AstRecursionConfig, ast: &Ast) -> Vec<f64> {
    let n = ast.dag.n_nodes();
    let label = |node: usize| {
        let depth = (ast.depths[node] as usize).min(config.max_depth);
        let both = add(
            &weights.row("labels.types", usize::from(ast.dag.op(node))),
            &weights.row("labels.attributes", ast.attributes[node] as usize),
        );
        add(&both, &weights.row("labels.depths", depth))
    };
    let mut edges: Vec<(usize, usize)> = ast.dag.edges().collect();
    if config.next_token {
        let tokens: Vec<usize> = (0..n).filter(|&node| ast.is_attributed[node]).collect();
        edges.extend(tokens.windows(2).map(|pair| (pair[0], pair[1])));
    }
    edges.sort_unstable();
    edges.dedup();
    let states = |name: &str, reversed: bool| {
        let slow = Slow { weights, name, hearing: config.hearing, n_layers: config.n_layers };
        let mut states: Vec<Vec<Vec<f64>>> = vec![Vec::new(); n];
        let order: Vec<usize> = if reversed { (0..n).rev().collect() } else { (0..n).collect() };
        for node in order {
            let turned = |&(from, to): &(usize, usize)| if reversed { (to, from) } else { (from, to) };
            let sources = edges.iter().map(turned).filter(|&(_, to)| to == node).map(|(from, _)| from);
            let heard: Vec<Heard<'_>> =
                sources.map(|source| Heard { states: &states[source], op: 0, position: 0 }).collect();
            let found = slow.state_over(label(node), &heard, None);
            states[node] = found;
        }
        states
    };
    let along = states("along", false);
    let last: Vec<usize> = (0..n).filter(|&node| edges.iter().all(|&(from, _)| from != node)).collect();
    let mut parts: Vec<f64> = vec![0.0; config.n_layers * config.d_hidden];
    for &node in &last {
        let share: Vec<f64> = along[node].concat().iter().map(|h| h / last.len() as f64).collect();
        parts = add(&parts, &share);
    }
    if config.bidirectional {
        parts.extend(states("against", true)[0].concat());
    }
    weights.linear(&parts, "join")
}

#[test]
fn recursions_follow_their_formulas() {
    let (asts, device) = (asts(&[12, 1, 25, 2, 40]), device());
    for config in [
        recursion(Hearing::GatedStates, 1, true, true),
        recursion(Hearing::GatedStates, 2, false, false),
        recursion(Hearing::AttendedStates, 2, true, true),
        recursion(Hearing::AttendedStates, 1, true, false),
    ] {
        let model = config.init(usize::from(TYPES), ATTRIBUTES, 3, &device);
        let weights = Weights::of(&model);
        let fast = numbers(model.embed(&batch_of(&asts, *model.layout(), &device)));
        for (ast, fast) in asts.iter().zip(fast.chunks_exact(8)) {
            let off = off(fast, &slow_vector(&weights, &config, ast));
            assert!(off < 2e-5, "{config:?}: {off}");
        }
    }
}

/// A vector does not depend on the company of a tree, training reaches every parameter, and it learns.
#[test]
fn encoders_keep_what_all_promise() {
    let (asts, device) = (asts(&[12, 20, 7, 15, 9, 11, 14, 8]), device());
    for config in configs() {
        let encoder = config.init(usize::from(TYPES), ATTRIBUTES, 1, &device);
        let d = encoder.d_embedding();
        let all = numbers(encoder.embed(&batch_of(&asts, *encoder.layout(), &device)));
        let alone = numbers(encoder.embed(&batch_of(&asts[3..4], *encoder.layout(), &device)));
        assert!(gap(&alone, &all[3 * d..4 * d]) < 1e-5, "{config:?}");
        assert!(gap(&all[..d], &all[d..2 * d]) > 1e-3, "{config:?}");
        let tokens: Vec<Vec<usize>> = asts.iter().map(|ast| vec![ast.attributes[1] as usize % 3, 3]).collect();
        let table = AstTable::new(&asts, *encoder.layout()).unwrap().with_tokens(&tokens);
        let batch = table.batch(&(0..asts.len()).collect::<Vec<_>>(), &device);
        let model = HeadConfig::Tokens { n_positions: 2, n_tokens: 4 }.init(encoder, 2, &device);
        assert_all_graded(&model, model.loss(&batch.clone().train(1)));
        let losses = fit(model, 60, 1e-2, |model, seed| model.loss(&batch.clone().train(seed)));
        assert_learns(&losses);
    }
}

/// The floor knows what nodes there are, and nothing about edges.
#[test]
fn a_bag_does_not_see_edges() {
    let (mut asts, device) = (asts(&[30]), device());
    let model = AstBagConfig { d_model: 8, dropout: 0.0 }.init(usize::from(TYPES), ATTRIBUTES, 1, &device);
    let embed = |asts: &[Ast]| numbers(model.embed(&batch_of(asts, *model.layout(), &device)));
    let before = embed(&asts);
    let ops: Vec<u16> = asts[0].dag.ops().collect();
    asts[0].dag = pace_graph::Dag::new(ops, (1..30).map(|node| (0, node))).unwrap();
    asts[0].depths = (0..30).map(|node| u32::from(node > 0)).collect();
    assert_eq!(before, embed(&asts));
    asts[0].attributes[7] = (asts[0].attributes[7] + 1) % ATTRIBUTES as u32;
    assert_ne!(before, embed(&asts));
}

#[test]
fn encoders_have_names_and_a_serde_form() {
    for name in AstEncoderConfig::NAMES {
        let config = AstEncoderConfig::named(name).unwrap();
        assert_eq!(config.name(), *name);
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<AstEncoderConfig>(&text).unwrap(), config);
        let narrow = config.with_width(16);
        assert_eq!(narrow.init(7, 20, 1, &device()).d_embedding(), 16);
        assert!(narrow.init(7, 20, 1, &device()).num_params() > 0);
    }
    assert!(AstEncoderConfig::named("nothing").is_none());
    // Configurations from before the fields existed.
    let mut value = serde_json::to_value(AstPaceConfig::code2()).unwrap();
    ["attends", "readout", "messages"].iter().for_each(|field| {
        value.as_object_mut().unwrap().remove(*field);
    });
    assert_eq!(serde_json::from_value::<AstPaceConfig>(value).unwrap(), AstPaceConfig::code2());
}
