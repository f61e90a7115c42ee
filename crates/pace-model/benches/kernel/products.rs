//! The products of a linear map against the `gemm` crate, which Burn multiplies by, at the shapes of PACE. One thread each.

use gemm::Parallelism;
use pace_model::internals::bench::{Weight, weight_grad};
use serde_json::json;

use super::time;

/// Rows, K and N: the maps of ENAS graphs and cells, and those of trees.
const SHAPES: [[usize; 3]; 6] =
    [[96, 64, 64], [96, 64, 128], [288, 64, 192], [512, 64, 64], [96, 256, 256], [512, 256, 768]];

/// A product, as `gemm` wants it: result [rows, columns] and the strides of both sides, between columns and between rows.
struct Plain<'a> {
    shape: [usize; 3],
    left: (&'a [f32], [usize; 2]),
    right: (&'a [f32], [usize; 2]),
    add: bool,
}

/// Measures all products whose name contains `only`.
pub fn run(only: Option<&str>) {
    for [m, k, n] in SHAPES {
        let values = |count: usize| (0..count).map(|index| (index * 7 % 97) as f32 * 0.02 - 0.97).collect::<Vec<f32>>();
        let (x, w, dy) = (values(m * k), values(k * n), values(m * n));
        let weight = Weight::new(&w, k);
        let forward = Plain { shape: [m, k, n], left: (&x, [1, k]), right: (&w, [1, n]), add: false };
        let input = Plain { shape: [m, n, k], left: (&dy, [1, n]), right: (&w, [n, 1]), add: false };
        let weights = Plain { shape: [k, m, n], left: (&x, [k, 1]), right: (&dy, [1, n]), add: true };
        compare(only, "product", [m, k, n], forward, |out| weight.forward(&x, out));
        compare(only, "product_input_grad", [m, k, n], input, |out| weight.input_grad(&dy, out));
        compare(only, "product_weight_grad", [m, k, n], weights, |out| weight_grad(&x, &dy, out, m));
    }
}

/// Prints one line: our product, with weights that are laid out already, and the crate's.
fn compare(only: Option<&str>, name: &str, shape: [usize; 3], plain: Plain<'_>, fused: impl Fn(&mut [f32])) {
    if only.is_some_and(|only| !format!("{name}:{}", shape[0]).contains(only)) {
        return;
    }
    let out = std::cell::RefCell::new(vec![0.0; plain.shape[0] * plain.shape[2]]);
    // Several at a time: one alone is too short for the clock.
    let times = (20_000_000 / (2 * shape.iter().product::<usize>())).max(1);
    let each = |f: &dyn Fn(&mut [f32])| time(|| (0..times).for_each(|_| f(&mut out.borrow_mut())))[0] / times as f64;
    let (ours, crates) = (each(&fused), each(&|out| gemm(&plain, out)));
    let flops = 2.0 * shape.iter().product::<usize>() as f64;
    println!(
        "{}",
        json!({
            "op": name, "shape": shape, "threads": 1, "fused_us": ours * 1e6, "gemm_us": crates * 1e6,
            "fused_gflops": (flops / ours / 1e8).round() / 10.0, "gemm_gflops": (flops / crates / 1e8).round() / 10.0,
            "speed_up": (crates / ours * 100.0).round() / 100.0,
        })
    );
}

#[allow(unsafe_code)]
fn gemm(p: &Plain<'_>, out: &mut [f32]) {
    let [m, k, n] = p.shape;
    let holds = |(values, [column, row]): (&[f32], [usize; 2]), rows: usize, columns: usize| {
        (rows - 1) * row + (columns - 1) * column < values.len()
    };
    assert!(out.len() == m * n && holds(p.left, m, k) && holds(p.right, k, n));
    let ((left, [lcs, lrs]), (right, [rcs, rrs])) = (p.left, p.right);
    let stride = |stride: usize| stride as isize;
    // SAFETY: the assertion places every element inside its slice, and `out` is borrowed alone.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            stride(n),
            p.add,
            left.as_ptr(),
            stride(lcs),
            stride(lrs),
            right.as_ptr(),
            stride(rcs),
            stride(rrs),
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
