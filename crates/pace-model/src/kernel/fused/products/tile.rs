//! The tiles of a product: a few rows times a few vectors of columns, with every sum in a register.
//!
//! A tile has [`TILE_ROWS`] rows and [`Simd::TILE_VECTORS`] vectors: 6 x 16 in the 16 registers of AVX2, 6 x 64 in the 32 of AVX-512.
//! In every step over K it reads 6 numbers of the left matrix and its vectors of the right one. The sums of each row have a name, so
//! that the compiler need not find out that an array can live in registers.
//!
//! A sum goes over K in order, whatever the tile. So the product of a row depends neither on the rows around it nor on the level.

use crate::kernel::fused::simd::{LANES, Simd, kernel};

/// Rows of a tile.
const TILE_ROWS: usize = 6;

/// Steps over K after which the sums leave the registers, if the left matrix is read by columns: so many rows of the right one, 64
/// columns wide, fill half of the first cache.
const DEPTH: usize = 128;

/// Some columns of the right matrix, [K, columns], as rows of whole vectors.
#[derive(Clone, Copy)]
pub(crate) struct Panel<'a> {
    /// Row k begins at k * `stride` and has `vectors` vectors, which may reach beyond `columns`.
    pub(crate) values: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) vectors: usize,
    pub(crate) columns: usize,
}

/// The left matrix, [M, K], by rows or by columns.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) values: &'a [f32],
    /// Between two rows, or between two columns.
    pub(crate) stride: usize,
    pub(crate) m: usize,
    pub(crate) k: usize,
}

/// What becomes of the sums: \[out +\] scale * sum + bias, then ReLU if `relu`.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a> {
    /// Whether the old content of the result is added.
    pub(crate) add: bool,
    pub(crate) scale: f32,
    /// One number for each column of the panel, or empty.
    pub(crate) bias: &'a [f32],
    pub(crate) relu: bool,
}

kernel! {
    /// The left matrix, by rows, times a panel whose rows follow each other; `out` [M, columns] with `stride` between rows.
    fn by_rows(left: Left<'_>, panel: Panel<'_>, out: &mut [f32], stride: usize, finish: Finish<'_>) = by_rows_body
}

kernel! {
    /// The left matrix, by columns, times a panel; `out` [M, columns] with `stride` between rows.
    fn by_columns(left: Left<'_>, panel: Panel<'_>, out: &mut [f32], stride: usize, finish: Finish<'_>) = by_columns_body
}

/// Calls a function with the number of vectors of the panel as a constant.
macro_rules! with_vectors {
    ($function:ident, $s:ident, $left:ident, $panel:ident, $out:ident, $stride:ident, $finish:ident) => {
        match $panel.vectors {
            4 if S::TILE_VECTORS >= 4 => $function::<S, 4>($s, $left, $panel, $out, $stride, $finish),
            3 if S::TILE_VECTORS >= 3 => $function::<S, 3>($s, $left, $panel, $out, $stride, $finish),
            2 if S::TILE_VECTORS >= 2 => $function::<S, 2>($s, $left, $panel, $out, $stride, $finish),
            1 => $function::<S, 1>($s, $left, $panel, $out, $stride, $finish),
            vectors => unreachable!("a panel of {vectors} vectors"),
        }
    };
}

#[inline(always)]
fn by_rows_body<S: Simd>(s: S, left: Left<'_>, panel: Panel<'_>, out: &mut [f32], stride: usize, finish: Finish<'_>) {
    with_vectors!(rows_of, s, left, panel, out, stride, finish);
}

#[inline(always)]
fn by_columns_body<S: Simd>(
    s: S,
    left: Left<'_>,
    panel: Panel<'_>,
    out: &mut [f32],
    stride: usize,
    finish: Finish<'_>,
) {
    with_vectors!(columns_of, s, left, panel, out, stride, finish);
}

/// Calls `tile!` with the names of as many rows as the tile has.
macro_rules! with_rows {
    ($count:expr, $tile:ident) => {
        match $count {
            1 => $tile!(0 a),
            2 => $tile!(0 a, 1 b),
            3 => $tile!(0 a, 1 b, 2 c),
            4 => $tile!(0 a, 1 b, 2 c, 3 d),
            5 => $tile!(0 a, 1 b, 2 c, 3 d, 4 e),
            TILE_ROWS => $tile!(0 a, 1 b, 2 c, 3 d, 4 e, 5 f),
            count => unreachable!("a tile of {count} rows"),
        }
    };
}

/// The first row and the number of rows of each tile: as few tiles as possible, as even as possible.
#[inline(always)]
fn tiles(m: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = m.div_ceil(TILE_ROWS);
    let (least, longer) = (m / count.max(1), m % count.max(1));
    (0..count).map(move |tile| (tile * least + tile.min(longer), least + usize::from(tile < longer)))
}

#[inline(always)]
fn rows_of<S: Simd, const C: usize>(
    s: S,
    left: Left<'_>,
    panel: Panel<'_>,
    out: &mut [f32],
    stride: usize,
    finish: Finish<'_>,
) {
    let k = left.k;
    let weights = &panel.values.as_chunks::<LANES>().0.as_chunks::<C>().0[..k];
    let bias = bias_of::<S, C>(s, finish.bias);
    for (first, count) in tiles(left.m) {
        macro_rules! tile {
            ($($row:literal $sum:ident),+) => {{
                let rows = [$(&left.values[(first + $row) * left.stride..][..k]),+];
                $(let mut $sum = [s.zero(); C];)+
                for (index, weights) in weights.iter().enumerate() {
                    let weights = load::<S, C>(s, weights);
                    $($sum = add_product::<S, C>(s, rows[$row][index], weights, $sum);)+
                }
                $(end::<S, C>(s, $sum, bias, &mut out[(first + $row) * stride..], panel.columns, finish);)+
            }};
        }
        with_rows!(count, tile);
    }
}

#[inline(always)]
fn columns_of<S: Simd, const C: usize>(
    s: S,
    left: Left<'_>,
    panel: Panel<'_>,
    out: &mut [f32],
    stride: usize,
    finish: Finish<'_>,
) {
    for depth in (0..left.k.max(1)).step_by(DEPTH) {
        let steps = depth..left.k.min(depth + DEPTH);
        // The bias and the old content are added once, and ReLU applies to the whole sum.
        let last = steps.end == left.k;
        let finish = Finish { add: finish.add || depth > 0, relu: finish.relu && last, ..finish };
        let bias = if last { finish.bias } else { &[] };
        for (first, count) in tiles(left.m) {
            macro_rules! tile {
                ($($row:literal $sum:ident),+) => {{
                    $(let mut $sum = [s.zero(); C];)+
                    for index in steps.clone() {
                        let weights = panel.values[index * panel.stride..][..C * LANES].as_chunks::<LANES>().0;
                        let weights = load::<S, C>(s, weights.first_chunk::<C>().expect("C vectors"));
                        let x = &left.values[index * left.stride + first..];
                        let x = x.first_chunk::<{ [$($row),+].len() }>().expect("a column of the tile");
                        $($sum = add_product::<S, C>(s, x[$row], weights, $sum);)+
                    }
                    // Here and not before, so that it takes no register from the sums.
                    let bias = bias_of::<S, C>(s, bias);
                    $(end::<S, C>(s, $sum, bias, &mut out[(first + $row) * stride..], panel.columns, finish);)+
                }};
            }
            with_rows!(count, tile);
        }
    }
}

/// C vectors.
#[inline(always)]
fn load<S: Simd, const C: usize>(s: S, from: &[[f32; LANES]; C]) -> [S::V; C] {
    let mut out = [s.zero(); C];
    for c in 0..C {
        out[c] = s.load(&from[c]);
    }
    out
}

/// sum + x weights.
#[inline(always)]
fn add_product<S: Simd, const C: usize>(s: S, x: f32, weights: [S::V; C], mut sum: [S::V; C]) -> [S::V; C] {
    let x = s.splat(x);
    for c in 0..C {
        sum[c] = s.fma(x, weights[c], sum[c]);
    }
    sum
}

/// The bias of the panel, or zeros if there is none.
#[inline(always)]
fn bias_of<S: Simd, const C: usize>(s: S, bias: &[f32]) -> [S::V; C] {
    let mut out = [s.zero(); C];
    for c in 0..C {
        if bias.len() > c * LANES {
            out[c] = s.load_part(&bias[c * LANES..bias.len().min((c + 1) * LANES)]);
        }
    }
    out
}

/// Finishes one row of a tile and writes its columns.
#[inline(always)]
fn end<S: Simd, const C: usize>(
    s: S,
    sum: [S::V; C],
    bias: [S::V; C],
    out: &mut [f32],
    columns: usize,
    finish: Finish<'_>,
) {
    let out = &mut out[..columns];
    for c in 0..C {
        let v = s.add(s.mul(sum[c], s.splat(finish.scale)), bias[c]);
        let end = |v: S::V| if finish.relu { s.max(v, s.zero()) } else { v };
        let Some(rest) = out.get_mut(c * LANES..) else { return };
        match rest.first_chunk_mut::<LANES>() {
            Some(whole) => {
                let v = if finish.add { s.add(s.load(whole), v) } else { v };
                s.store(end(v), whole);
            }
            None => {
                let v = if finish.add { s.add(s.load_part(rest), v) } else { v };
                s.store_part(end(v), rest);
            }
        }
    }
}
