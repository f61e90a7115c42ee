//! Attention along lists of keys: the fused path against its twin, on trees and on lists without any order.

use pace_model::internals::{self as kernel, PairLists, plain};
use proptest::prelude::{Strategy, any, proptest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::kernel_case::{Case, Outcome, cases};

/// How the lists of a case come about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Any keys in any order, without a seam; a third of the rows have none.
    Anywhere,
    /// Every row sees itself alone.
    Own,
    /// Trees of up to N nodes in DFS order: every node sees its subtree.
    Trees,
}

impl Shape {
    pub fn any() -> impl Strategy<Value = Self> {
        proptest::sample::select(vec![Self::Anywhere, Self::Own, Self::Trees])
    }

    /// Lists over B*N rows or a few less.
    pub fn keys(self, case: &Case) -> Vec<Vec<u32>> {
        let mut rng = ChaCha8Rng::seed_from_u64(case.seed);
        let rows = (case.batch * case.n) as u32;
        match self {
            Self::Anywhere => {
                let row = |_| {
                    let count = if rng.random_bool(0.3) { 0 } else { rng.random_range(1..=rows.min(9)) };
                    rand::seq::index::sample(&mut rng, rows as usize, count as usize)
                        .iter()
                        .map(|key| key as u32)
                        .collect()
                };
                (0..rows).map(row).collect()
            }
            Self::Own => (0..rows).map(|row| vec![row]).collect(),
            Self::Trees => {
                let mut lists = Vec::new();
                for _ in 0..case.batch {
                    let (root, size) = (lists.len() as u32, rng.random_range(1..=case.n as u32));
                    subtrees(root, root + size, &mut rng, &mut lists);
                }
                lists
            }
        }
    }
}

/// The list of the root of the rows first..end, then those of its children, among which it divides the rest at random.
fn subtrees(first: u32, end: u32, rng: &mut ChaCha8Rng, lists: &mut Vec<Vec<u32>>) {
    lists.push((first..end).collect());
    let mut child = first + 1;
    while child < end {
        let next = rng.random_range(child + 1..=end);
        subtrees(child, next, rng, lists);
        child = next;
    }
}

pub fn pair_lists(keys: &[Vec<u32>], device: &burn::tensor::Device) -> PairLists {
    let ends = keys.iter().scan(0, |end, keys| {
        *end += keys.len() as u32;
        Some(*end)
    });
    PairLists::new(std::iter::once(0).chain(ends).collect(), keys.concat(), device)
}

fn attend(case: &Case, shape: Shape, fused: bool) -> Outcome {
    Outcome::of(case, |draw| {
        let lists = pair_lists(&shape.keys(case), &draw.device);
        let qkv = draw.leaf("qkv", [lists.n_rows(), 3 * case.d], 2.0);
        let f = if fused { kernel::sparse_attention } else { plain::sparse_attention };
        f(qkv, &lists, case.n_heads, case.dropout())
    })
}

fn encode(case: &Case, shape: Shape, fused: bool) -> Outcome {
    Outcome::of(case, |draw| {
        let lists = pair_lists(&shape.keys(case), &draw.device);
        let x = draw.leaf("x", [lists.n_rows(), case.d], 1.0);
        let layers = draw.encoder_params(case);
        let f = if fused { kernel::sparse_encoder } else { plain::sparse_encoder };
        f(x, &lists, layers, &case.config())
    })
}

/// Enough rows for several groups and chunks, and the width that has loops of its own.
pub fn large(layers: usize) -> Case {
    let (batch, n, n_heads, d, hidden) = (12, 90, 2, 64, 24);
    Case { batch, n, m: 1, n_heads, d, hidden, layers, seed: 3, p: 0.2, pre_norm: false }
}

/// Trees that are cut into chunks of rows, and small ones between them.
pub fn large_trees(layers: usize) -> Case {
    Case { batch: 4, n: 900, ..large(layers) }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn sparse_attention(case in Case::any(), shape in Shape::any()) {
        attend(&case, shape, true).assert_close(&attend(&case, shape, false));
    }

    #[test]
    fn sparse_inference(case in Case::any(), shape in Shape::any()) {
        values(&case, shape, true).assert_close(&values(&case, shape, false));
    }

    #[test]
    fn sparse_encoder(case in Case::any(), shape in Shape::any(), wide in any::<bool>()) {
        let case = if wide { Case { d: 32 * case.n_heads, ..case } } else { case };
        encode(&case, shape, true).assert_close(&encode(&case, shape, false));
    }
}

#[test]
fn large_packed_batches_agree_with_the_twin() {
    for shape in [Shape::Anywhere, Shape::Own, Shape::Trees] {
        attend(&large(1), shape, true).assert_close(&attend(&large(1), shape, false));
        encode(&large(2), shape, true).assert_close(&encode(&large(2), shape, false));
    }
}

/// A tree that is cut into chunks of rows agrees with the twin, in post-norm and in pre-norm.
#[test]
fn large_trees_agree_with_the_twin() {
    let keys = Shape::Trees.keys(&large_trees(1));
    let roots = std::iter::successors(Some(0), |&root: &usize| Some(root + keys.get(root)?.len()));
    let sizes: Vec<usize> = roots.filter_map(|root| Some(keys.get(root)?.len())).collect();
    assert!(sizes.iter().any(|size| *size > 512) && sizes.iter().any(|size| *size < 256), "{sizes:?}");
    for pre_norm in [false, true] {
        let case = Case { pre_norm, ..large_trees(2) };
        encode(&case, Shape::Trees, true).assert_close(&encode(&case, Shape::Trees, false));
        let case = Case { pre_norm, ..large(2) };
        encode(&case, Shape::Anywhere, true).assert_close(&encode(&case, Shape::Anywhere, false));
    }
}

/// Values alone, without autodiff and dropout: the path of encoding, in which 4, 8 or 16 heads are lanes.
fn values(case: &Case, shape: Shape, fused: bool) -> Outcome {
    let case = Case { p: 0.0, ..*case };
    let mut draw = case.draw();
    draw.device = burn::tensor::Device::flex();
    let lists = pair_lists(&shape.keys(&case), &draw.device);
    let x = draw.constant([lists.n_rows(), case.d], 1.0);
    let layers = draw.encoder_params(&case);
    let f = if fused { kernel::sparse_encoder } else { plain::sparse_encoder };
    let y = f(x, &lists, layers, &case.config());
    Outcome(vec![("output".to_owned(), y.into_data().try_to_vec::<f32>().unwrap())])
}

/// Graphs of one strip, of several and of many, one tree after the other and lists without order.
#[test]
fn encoding_agrees_with_the_twin() {
    for (n_heads, d) in [(4, 32), (8, 256), (8, 64), (8, 24), (16, 64), (2, 32)] {
        for (shape, batch, n) in [(Shape::Trees, 4, 900), (Shape::Trees, 12, 90), (Shape::Anywhere, 5, 41)] {
            for layers in [0, 2] {
                let case = Case { batch, n, n_heads, d, ..large(layers) };
                values(&case, shape, true).assert_close(&values(&case, shape, false));
            }
        }
    }
}

/// Bit for bit the same on any number of threads, and whatever is encoded beside it.
#[test]
fn encodings_do_not_depend_on_threads_or_company() {
    let case = Case { n_heads: 8, ..large_trees(2) };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| values(&case, Shape::Trees, true))
    };
    assert_eq!(run(1), run(3));
    // The first of several trees, by itself.
    let (all, keys) = (run(2), Shape::Trees.keys(&case));
    let rows = keys[0].len();
    let mut draw = Case { p: 0.0, ..case }.draw();
    draw.device = burn::tensor::Device::flex();
    let x = draw.constant([keys.len(), case.d], 1.0).narrow(0, 0, rows);
    let layers = draw.encoder_params(&case);
    let lists = pair_lists(&keys[..rows], &draw.device);
    let config = Case { p: 0.0, ..case }.config();
    let one = kernel::sparse_encoder(x, &lists, layers, &config).into_data().try_to_vec::<f32>().unwrap();
    assert_eq!(one, all.0[0].1[..rows * case.d]);
}

/// A graph's vectors are the same whether they are kept for a gradient or not.
#[test]
fn large_trees_encode_as_they_train() {
    let case = Case { p: 0.0, ..large_trees(2) };
    let run = |device: burn::tensor::Device| {
        let mut draw = case.draw();
        draw.device = device;
        let lists = pair_lists(&Shape::Trees.keys(&case), &draw.device);
        let x = draw.constant([lists.n_rows(), case.d], 1.0);
        let layers = draw.encoder_params(&case);
        kernel::sparse_encoder(x, &lists, layers, &case.config()).into_data().try_to_vec::<f32>().unwrap()
    };
    assert_eq!(run(burn::tensor::Device::flex()), run(burn::tensor::Device::flex().autodiff()));
}

/// More blocks than one operation takes.
#[test]
fn six_layers_agree_with_the_twin() {
    for pre_norm in [false, true] {
        let case = Case { batch: 5, n: 9, pre_norm, ..large(6) };
        encode(&case, Shape::Trees, true).assert_close(&encode(&case, Shape::Trees, false));
    }
}

/// Bit for bit the same on any number of threads, run after run.
#[test]
fn packed_results_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let both = |shape| (attend(&large(1), shape, true), encode(&large(2), shape, true));
        pool.install(|| ([Shape::Anywhere, Shape::Trees].map(both), encode(&large_trees(2), Shape::Trees, true)))
    };
    let one = run(1);
    assert_eq!(one, run(1));
    assert_eq!(one, run(3));
}
