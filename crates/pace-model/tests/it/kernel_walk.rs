//! The fused recurrent units and the classifier of pairs against their twins, with and without a gradient.

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use pace_model::internals::{
    LinearParams, RowPairs, Tabled, Telling, WalkBuilder, WalkInputs, WalkLists, WalkParams, gru_gates, linear,
    pair_logits, plain, walk,
};
use proptest::prelude::{any, proptest};
use proptest::sample::select;

use crate::kernel_case::{Case, Draw, Outcome, cases};

/// Values and gradients, and values alone on a device without autodiff, of both ways to compute the same.
fn check(case: &Case, fused: impl Fn(&mut Draw) -> Tensor<2>, twin: impl Fn(&mut Draw) -> Tensor<2>) {
    Outcome::of(case, &fused).assert_close(&Outcome::of(case, &twin));
    let infer = |f: &dyn Fn(&mut Draw) -> Tensor<2>| {
        let mut draw = case.draw();
        draw.device = Device::flex();
        Outcome(vec![("output".to_owned(), f(&mut draw).into_data().try_to_vec::<f32>().unwrap())])
    };
    infer(&fused).assert_close(&infer(&twin));
}

fn gates(draw: &mut Draw, rows: usize, d: usize, with_h: bool, fused: bool) -> Tensor<2> {
    let (a, c) = (draw.leaf("a", [rows, 3 * d], 3.0), draw.leaf("c", [rows, 3 * d], 3.0));
    let h = with_h.then(|| draw.leaf("h", [rows, d], 1.0));
    if fused { gru_gates(a, c, h) } else { plain::gru_gates(a, c, h) }
}

/// Random graphs over `n_given` given messages. Node 0 hears all of these and node 1 hears node 0, so that everything has a
/// gradient. Of the others, every third hears nothing.
fn lists(draw: &mut Draw, n_nodes: usize, n_given: usize, only_given: bool) -> Arc<WalkLists> {
    let mut builder = WalkBuilder::new(n_given);
    for node in 0..n_nodes {
        let count = if only_given { n_given } else { n_given + node };
        let sources: Vec<u32> = match node {
            0 => (0..n_given as u32).collect(),
            1 if !only_given => vec![n_given as u32],
            node if node % 3 == 2 => Vec::new(),
            _ => (0..draw.below(4)).map(|_| draw.below(count) as u32).collect(),
        };
        builder.push(sources);
    }
    builder.finish().0
}

/// Rows of a table of three.
fn tabled(draw: &mut Draw, name: &str, count: usize, width: usize) -> Tabled {
    let rows = (0..count).map(|_| draw.below(3) as u32).collect();
    Tabled { table: draw.leaf(name, [3, width], 1.0), rows }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Gated,
    Attended,
    Given,
}

fn walked(draw: &mut Draw, case: &Case, way: Way, n_given: usize, fused: bool) -> Tensor<2> {
    let (d, n_nodes) = (case.d, case.batch * case.n + 1);
    let only_given = matches!(way, Way::Given);
    let n_given = if only_given { n_given + 1 } else { n_given };
    let lists = lists(draw, n_nodes, n_given, only_given);
    let a = match case.pre_norm {
        true => WalkInputs::Rows(draw.leaf("a", [n_nodes, 3 * d], 2.0)),
        false => WalkInputs::Tabled(tabled(draw, "a", n_nodes, 3 * d)),
    };
    let given = (n_given > 0).then(|| draw.leaf("given", [n_given, d], 1.0));
    let scale = (3.0 / d as f32).sqrt() / 2.0;
    let hidden = draw.leaf("hidden", [d, 3 * d], scale);
    let hidden_bias = draw.leaf("hidden_bias", [3 * d], 0.5);
    let n_told = lists.n_told();
    let mut told =
        |width: usize, scale: f32| (draw.leaf("weight", [d, width], scale), tabled(draw, "addend", n_told, width));
    let telling = match way {
        Way::Gated => {
            let (weight, addend) = told(2 * d, scale);
            Telling::Gated { weight, addend }
        }
        Way::Attended => {
            let (weight, addend) = told(1, 3.0 * scale);
            Telling::Attended { weight, addend }
        }
        Way::Given => Telling::Given,
    };
    let params = WalkParams { hidden, hidden_bias, telling };
    if fused { walk(a, given, &lists, params) } else { plain::walk(a, given, &lists, params) }
}

fn pairs(draw: &mut Draw, case: &Case, fused: bool) -> Tensor<2> {
    let (n_targets, n_sources, width) = (case.n, case.m, case.hidden);
    let mut list: Vec<(u32, u32)> =
        (0..case.batch * case.n * 4).map(|_| (draw.below(n_targets) as u32, draw.below(n_sources) as u32)).collect();
    list.sort_unstable();
    let pairs = RowPairs::new(list);
    let (target, source) = (draw.leaf("target", [n_targets, width], 1.0), draw.leaf("source", [n_sources, width], 1.0));
    let (out, bias) = (draw.leaf("out", [width, 1], 1.0), draw.leaf("bias", [1], 1.0));
    let f = if fused { pair_logits } else { plain::pair_logits };
    f(target, source, &pairs, out, bias)
}

fn mapped(draw: &mut Draw, case: &Case, fused: bool) -> Tensor<2> {
    let (n_rows, d, f) = (case.batch * case.n, case.d, case.hidden);
    let x = draw.leaf("x", [n_rows, d], 1.0);
    let weight = draw.leaf("weight", [d, f], 1.0);
    let bias = case.seed.is_multiple_of(2).then(|| draw.leaf("bias", [f], 1.0));
    // Some rows twice, some not at all.
    let rows = (case.m > 10).then(|| (0..n_rows + 3).map(|_| draw.below(n_rows) as u32).collect());
    let params = LinearParams { weight, bias, relu: case.pre_norm };
    if fused { linear(x, rows, params) } else { plain::linear_rows(x, rows, params) }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn maps_of_rows_and_their_gradients(case in Case::any()) {
        check(&case, |draw| mapped(draw, &case, true), |draw| mapped(draw, &case, false));
    }

    #[test]
    fn gates_and_their_gradients(case in Case::any(), with_h in any::<bool>()) {
        let rows = case.batch * case.n;
        check(&case, |draw| gates(draw, rows, case.hidden, with_h, true), |draw| gates(draw, rows, case.hidden, with_h, false));
    }

    #[test]
    fn walks_and_their_gradients(
        case in Case::any(),
        way in select(vec![Way::Gated, Way::Attended, Way::Given]),
        n_given in 0_usize..4,
    ) {
        check(&case, |draw| walked(draw, &case, way, n_given, true), |draw| walked(draw, &case, way, n_given, false));
    }

    #[test]
    fn pairs_and_their_gradients(case in Case::any()) {
        check(&case, |draw| pairs(draw, &case, true), |draw| pairs(draw, &case, false));
    }
}

/// Several tasks per level, bit for bit the same on any number of threads.
#[test]
fn wide_walks_on_any_number_of_threads() {
    let case =
        Case { batch: 40, n: 9, m: 33, n_heads: 1, d: 70, hidden: 90, layers: 1, seed: 3, p: 0.0, pre_norm: false };
    for way in [Way::Gated, Way::Attended] {
        let run = |threads: usize, fused: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let walked = Outcome::of(&case, |draw| walked(draw, &case, way, 3, fused));
                let mapped = Outcome::of(&case, |draw| mapped(draw, &case, fused));
                (walked, mapped, Outcome::of(&case, |draw| pairs(draw, &case, fused)))
            })
        };
        let (one, three, twin) = (run(1, true), run(3, true), run(1, false));
        assert_eq!(one, three);
        one.0.assert_close(&twin.0);
        one.1.assert_close(&twin.1);
        one.2.assert_close(&twin.2);
    }
}

/// A training that diverged is noticed.
#[test]
fn not_a_number_stays_one() {
    let device = Device::flex();
    let zeros = Tensor::<2>::zeros([1, 3], &device);
    for place in 0..3 {
        let mut row = [0.5_f32; 3];
        row[place] = f32::NAN;
        let h = gru_gates(Tensor::from_data([row], &device), zeros.clone(), Some(Tensor::ones([1, 1], &device)));
        assert!(h.into_scalar::<f32>().is_nan(), "gate {place}");
    }
}
