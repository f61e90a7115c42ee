//! Some rows of a stack's result, against all rows of the twin's.

use burn::tensor::{Device, Int, Tensor, TensorData};
use pace_model::internals::{self as kernel, plain};
use proptest::prelude::{any, proptest};

use crate::kernel_case::{Case, Outcome, cases};
use crate::kernel_sparse::{Shape, large, large_trees, pair_lists};

/// Every row with a bit in `chosen`, at least the last.
fn rows(count: usize, chosen: u64) -> Vec<u32> {
    let wanted = |row: &u32| chosen >> (row % 61) & 1 == 1 || *row as usize + 1 == count;
    (0..count as u32).filter(wanted).collect()
}

fn select(nodes: Tensor<2>, rows: &[u32], device: &Device) -> Tensor<2> {
    let rows: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
    let count = rows.len();
    nodes.select(0, Tensor::<1, Int>::from_data(TensorData::new(rows, [count]), device))
}

fn dense(case: &Case, chosen: u64, fused: bool) -> Outcome {
    Outcome::of(case, |draw| {
        let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
        let bias = draw.bias([case.batch, case.n, case.n]);
        let (layers, rows) = (draw.encoder_params(case), rows(case.batch * case.n, chosen));
        match fused {
            true => kernel::encoder_rows(x, bias, &rows, layers, &case.config()),
            false => select(plain::encoder(x, bias, layers, &case.config()), &rows, &draw.device),
        }
    })
}

fn sparse(case: &Case, shape: Shape, chosen: u64, fused: bool) -> Outcome {
    Outcome::of(case, |draw| {
        let lists = pair_lists(&shape.keys(case), &draw.device);
        let x = draw.leaf("x", [lists.n_rows(), case.d], 1.0);
        let (layers, rows) = (draw.encoder_params(case), rows(lists.n_rows(), chosen));
        match fused {
            true => kernel::sparse_encoder_rows(x, &lists, &rows, layers, &case.config()),
            false => select(plain::sparse_encoder(x, &lists, layers, &case.config()), &rows, &draw.device),
        }
    })
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn rows_of_dense_stacks(case in Case::any(), chosen in any::<u64>()) {
        dense(&case, chosen, true).assert_close(&dense(&case, chosen, false));
    }

    #[test]
    fn rows_of_packed_stacks(case in Case::any(), shape in Shape::any(), chosen in any::<u64>()) {
        sparse(&case, shape, chosen, true).assert_close(&sparse(&case, shape, chosen, false));
    }
}

/// Several groups and chunks of reads, few of the rows and many.
#[test]
fn rows_of_large_batches() {
    for chosen in [1 << 7, 0b1001 << 20, u64::MAX] {
        for shape in [Shape::Anywhere, Shape::Trees] {
            sparse(&large(2), shape, chosen, true).assert_close(&sparse(&large(2), shape, chosen, false));
        }
        let (trees, cells) = (large_trees(2), Case { n: 7, batch: 300, ..large(2) });
        sparse(&trees, Shape::Trees, chosen, true).assert_close(&sparse(&trees, Shape::Trees, chosen, false));
        dense(&cells, chosen, true).assert_close(&dense(&cells, chosen, false));
    }
}

/// A penalty neither allows nor forbids, and a pre-norm block normalises every row: in both cases all rows are computed.
#[test]
fn what_cannot_be_read_alone_is_still_right() {
    for pre_norm in [false, true] {
        let case = Case { pre_norm, n: 5, ..large(2) };
        let run = |fused: bool| {
            Outcome::of(&case, |draw| {
                let x = draw.leaf("x", [case.batch * case.n, case.d], 1.0);
                let bias = draw.bias([case.batch, case.n, case.n]).clamp_min(-1e9);
                let (layers, rows) = (draw.encoder_params(&case), rows(case.batch * case.n, 1));
                match fused {
                    true => kernel::encoder_rows(x, bias, &rows, layers, &case.config()),
                    false => select(plain::encoder(x, bias, layers, &case.config()), &rows, &draw.device),
                }
            })
        };
        run(true).assert_close(&run(false));
    }
}

/// Bit for bit the same on any number of threads, run after run.
#[test]
fn reads_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (dense(&Case { n: 30, ..large(2) }, 77, true), sparse(&large(2), Shape::Trees, 77, true)))
    };
    let one = run(1);
    assert_eq!(one, run(1));
    assert_eq!(one, run(3));
}
