//! Weights laid out for inference: x W by tiles that read nothing but contiguous memory.
//!
//! A matrix is cut into panels of a few columns, each stored row after row. A tile is some rows of x times one panel, with all
//! of its sums in registers. `gemm` would bring a weight into such an order anew in every call; here that is done once for
//! all blocks of rows, so these can be small enough to stay in the second cache from one sublayer to the next.

use super::pool::Buffer;
use super::simd::{Level, fma, level, multiversion};

/// Rows of a tile: with 2 vectors of columns, 12 sums, which is what a core needs in flight and what 16 registers hold.
const TILE_ROWS: usize = 6;

/// A matrix [K, N] in panels.
#[derive(Debug)]
pub(crate) struct Panels {
    d_in: usize,
    d_out: usize,
    /// Columns of a panel, 16 or 32: two vectors of this machine.
    width: usize,
    /// Panel after panel, each [K, width], the last one filled up with zeros.
    values: Buffer,
}

/// What becomes of a product before it is written.
#[derive(Clone, Copy)]
pub(crate) enum Finish<'a> {
    /// Nothing.
    Plain,
    /// A bias is added.
    Bias(&'a [f32]),
    /// A bias is added and negative sums become 0.
    Relu(&'a [f32]),
}

impl Panels {
    /// Of a row-major matrix with `d_in` rows.
    pub(crate) fn new(weight: &[f32], d_in: usize) -> Self {
        let d_out = weight.len() / d_in;
        Self::of_columns(weight, d_out, 0, d_out)
    }

    /// Of `d_out` columns, from column `first` on, of a row-major matrix of `stride` columns.
    pub(crate) fn of_columns(weight: &[f32], stride: usize, first: usize, d_out: usize) -> Self {
        Self::of_width(weight, stride, [first, d_out], if level() == Level::V4 { 32 } else { 16 })
    }

    fn of_width(weight: &[f32], stride: usize, [first, d_out]: [usize; 2], width: usize) -> Self {
        let d_in = weight.len() / stride;
        let mut values = Buffer::stale(d_in * d_out.next_multiple_of(width));
        for (number, panel) in values.chunks_exact_mut(d_in * width).enumerate() {
            let column = number * width;
            let (from, used) = (&weight[first + column..], width.min(d_out - column));
            match width {
                16 if used == width => fill::<16>(panel, from, stride),
                32 if used == width => fill::<32>(panel, from, stride),
                _ => {
                    for (to, from) in panel.chunks_exact_mut(width).zip(from.chunks(stride)) {
                        to[..used].copy_from_slice(&from[..used]);
                        to[used..].fill(0.0);
                    }
                }
            }
        }
        Self { d_in, d_out, width, values }
    }

    /// x W. Shapes: x [rows, K] -> `out` [rows, N] with `stride` between rows.
    ///
    /// A row's product does not depend on the rows around it: its sums go over K in order, whatever the tile.
    pub(crate) fn product(&self, x: &[f32], out: &mut [f32], stride: usize, finish: Finish<'_>) {
        product(self, x, out, stride, finish);
    }
}

/// A full panel from the first W columns of rows at a distance of `stride`: with the length known, a copy is two instructions.
fn fill<const W: usize>(panel: &mut [f32], from: &[f32], stride: usize) {
    for (to, from) in panel.as_chunks_mut::<W>().0.iter_mut().zip(from.chunks(stride)) {
        *to = from[..W].try_into().expect("a slice of W");
    }
}

multiversion! {
    /// See [`Panels::product`].
    fn product(p: &Panels, x: &[f32], out: &mut [f32], stride: usize, finish: Finish<'_>) = product_body
}

#[inline(always)]
fn product_body<const FMA: bool>(p: &Panels, x: &[f32], out: &mut [f32], stride: usize, finish: Finish<'_>) {
    match (p.width, finish) {
        (16, Finish::Plain) => by_panel::<16, FMA, false>(p, x, out, stride, &[]),
        (16, Finish::Bias(bias)) => by_panel::<16, FMA, false>(p, x, out, stride, bias),
        (16, Finish::Relu(bias)) => by_panel::<16, FMA, true>(p, x, out, stride, bias),
        (32, Finish::Plain) => by_panel::<32, FMA, false>(p, x, out, stride, &[]),
        (32, Finish::Bias(bias)) => by_panel::<32, FMA, false>(p, x, out, stride, bias),
        (32, Finish::Relu(bias)) => by_panel::<32, FMA, true>(p, x, out, stride, bias),
        (width, _) => unreachable!("panels of {width} columns"),
    }
}

#[inline(always)]
fn by_panel<const W: usize, const FMA: bool, const RELU: bool>(
    p: &Panels,
    x: &[f32],
    out: &mut [f32],
    stride: usize,
    bias: &[f32],
) {
    let (k, rows) = (p.d_in, x.len() / p.d_in);
    for (number, panel) in p.values.chunks_exact(k * W).enumerate() {
        let (panel, column) = (panel.as_chunks::<W>().0, number * W);
        let used = W.min(p.d_out - column);
        let mut start = [0.0; W];
        if !bias.is_empty() {
            start[..used].copy_from_slice(&bias[column..][..used]);
        }
        for row in (0..rows).step_by(TILE_ROWS) {
            let count = TILE_ROWS.min(rows - row);
            let (x, out) = (&x[row * k..], &mut out[row * stride + column..]);
            if used == W {
                tile_of::<W, FMA, RELU>(count, panel, x, &start, out, stride);
                continue;
            }
            let mut whole = [[0.0; W]; TILE_ROWS];
            tile_of::<W, FMA, RELU>(count, panel, x, &start, whole.as_flattened_mut(), W);
            for (out, whole) in out.chunks_mut(stride).zip(&whole[..count]) {
                out[..used].copy_from_slice(&whole[..used]);
            }
        }
    }
}

/// A tile of `count` rows.
#[inline(always)]
fn tile_of<const W: usize, const FMA: bool, const RELU: bool>(
    count: usize,
    panel: &[[f32; W]],
    x: &[f32],
    bias: &[f32; W],
    out: &mut [f32],
    stride: usize,
) {
    match count {
        1 => tile::<1, W, FMA, RELU>(panel, x, bias, out, stride),
        2 => tile::<2, W, FMA, RELU>(panel, x, bias, out, stride),
        3 => tile::<3, W, FMA, RELU>(panel, x, bias, out, stride),
        4 => tile::<4, W, FMA, RELU>(panel, x, bias, out, stride),
        5 => tile::<5, W, FMA, RELU>(panel, x, bias, out, stride),
        _ => tile::<TILE_ROWS, W, FMA, RELU>(panel, x, bias, out, stride),
    }
}

/// R rows of x times a panel, plus bias. The sums stay in registers only as long as every index of theirs is known, so the loops
/// over R have to be short enough to be unrolled.
#[inline(always)]
fn tile<const R: usize, const W: usize, const FMA: bool, const RELU: bool>(
    panel: &[[f32; W]],
    x: &[f32],
    bias: &[f32; W],
    out: &mut [f32],
    stride: usize,
) {
    let k = panel.len();
    let mut rows = [&x[..k]; R];
    for r in 1..R {
        rows[r] = &x[r * k..][..k];
    }
    let mut sums = [[0.0; W]; R];
    for (index, weights) in panel.iter().enumerate() {
        for r in 0..R {
            let x = rows[r][index];
            for lane in 0..W {
                sums[r][lane] = fma::<FMA>(x, weights[lane], sums[r][lane]);
            }
        }
    }
    for r in 0..R {
        let out: &mut [f32; W] = (&mut out[r * stride..r * stride + W]).try_into().expect("a slice of W");
        for lane in 0..W {
            let sum = sums[r][lane] + bias[lane];
            out[lane] = if RELU { sum.max(0.0) } else { sum };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Finish, Panels};
    use crate::kernel::fused::linear::{linear, linear_unbiased};

    fn values(count: usize, step: usize) -> Vec<f32> {
        (0..count).map(|index| (index * step % 97) as f32 * 0.02 - 0.97).collect()
    }

    /// x W in memory of its own.
    fn times(panels: &Panels, x: &[f32], finish: Finish<'_>) -> Vec<f32> {
        let mut out = vec![f32::NAN; x.len() / panels.d_in * panels.d_out];
        panels.product(x, &mut out, panels.d_out, finish);
        out
    }

    fn close(got: &[f32], want: &[f32]) {
        assert_eq!(got.len(), want.len());
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-4), "{got:?} instead of {want:?}");
    }

    /// Every number of rows left over, full and partial panels, both widths, on whatever machine.
    #[test]
    fn products_are_those_of_the_matrix() {
        for width in [16, 32] {
            for (rows, d_in, d_out) in (1..=13).flat_map(|rows| [(rows, 5, 3), (rows, 64, 64), (rows, 8, 40)]) {
                let (x, w, bias) = (values(rows * d_in, 7), values(d_in * d_out, 11), values(d_out, 5));
                let panels = Panels::of_width(&w, d_out, [0, d_out], width);
                close(&times(&panels, &x, Finish::Plain), &linear_unbiased(&x, rows, &w));
                let mut want = linear(&x, rows, &w, &bias);
                close(&times(&panels, &x, Finish::Bias(&bias)), &want);
                want.iter_mut().for_each(|value| *value = value.max(0.0));
                close(&times(&panels, &x, Finish::Relu(&bias)), &want);
            }
        }
    }

    #[test]
    fn some_columns_into_wider_rows() {
        let (x, w) = (values(7 * 4, 3), values(4 * 9, 5));
        let whole = linear_unbiased(&x, 7, &w);
        let mut out = vec![8.0; 7 * 6];
        Panels::of_columns(&w, 9, 2, 5).product(&x, &mut out, 6, Finish::Plain);
        for (row, out) in out.chunks_exact(6).enumerate() {
            close(&out[..5], &whole[row * 9 + 2..][..5]);
            assert_eq!(out[5], 8.0, "outside the columns");
        }
    }

    /// What stands around a row does not change a bit of it.
    #[test]
    fn rows_do_not_depend_on_their_tile() {
        let (x, w) = (values(11 * 64, 3), values(64 * 48, 5));
        let panels = Panels::new(&w, 64);
        let all = times(&panels, &x, Finish::Plain);
        for (row, x) in x.chunks_exact(64).enumerate() {
            assert_eq!(times(&panels, x, Finish::Plain)[..], all[row * 48..][..48]);
        }
    }
}
