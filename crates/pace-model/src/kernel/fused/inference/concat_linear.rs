//! A linear map of the rows of a graph side by side, from the vectors of their pasts.
//!
//! Each position has its part of the matrix. A past is multiplied by it once for each position at which it stands, and a graph adds
//! up the products of its rows. The long rows of graphs are never written.

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::kernel::fused::block::cut::split;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{PLAIN, Panels};
use crate::kernel::fused::simd::{Simd, kernel, map};
use crate::kernel::pasts::{Group, Pasts};

/// Pasts that are multiplied together.
const STRIP_ROWS: usize = 96;

/// y [pasts, D], weight [N*D, Z], bias `[Z]` -> [B, Z].
pub(crate) fn concat_linear(y: &[f32], pasts: &Pasts, weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let (n, width) = (pasts.n(), bias.len());
    let d = weight.len() / (n * width);
    let panels: Vec<Panels> = weight.chunks_exact(d * width).map(|weight| Panels::new(weight, d)).collect();
    let mut graphs = vec![0.0; pasts.n_rows() / n * width];
    let parts = split(&mut graphs, pasts.groups.iter().map(|group| group.rows.len() / n * width));
    pasts.groups.par_iter().zip(parts).for_each(|(group, graphs)| {
        let members = Members::new(pasts, group);
        let mut mapped = Buffer::stale(members.pasts.len() * width);
        let mut block = Buffer::stale(STRIP_ROWS * d);
        for (panels, range) in panels.iter().zip(members.ends.windows(2)) {
            let (pasts, mapped) = (&members.pasts[range[0]..range[1]], &mut mapped[range[0] * width..range[1] * width]);
            for (pasts, mapped) in pasts.chunks(STRIP_ROWS).zip(mapped.chunks_mut(STRIP_ROWS * width)) {
                for (block, &past) in block.chunks_exact_mut(d).zip(pasts) {
                    block.copy_from_slice(&y[past as usize * d..][..d]);
                }
                panels.product(&block[..pasts.len() * d], mapped, width, PLAIN);
            }
        }
        add_up(&members.places, n, &mapped, bias, graphs);
    });
    graphs
}

kernel! {
    /// The sum of the bias and the `n` rows of each graph: `places` [graphs * N] are rows of `mapped` [.., Z]; -> [graphs, Z].
    fn add_up(places: &[u32], n: usize, mapped: &[f32], bias: &[f32], graphs: &mut [f32]) = add_up_body
}

#[inline(always)]
fn add_up_body<S: Simd>(s: S, places: &[u32], n: usize, mapped: &[f32], bias: &[f32], graphs: &mut [f32]) {
    let width = bias.len();
    for (graph, places) in graphs.chunks_exact_mut(width).zip(places.chunks_exact(n)) {
        graph.copy_from_slice(bias);
        for &place in places {
            map!(s, graph, [&mapped[place as usize * width..][..width]], |_, sum, [value]| s.add(sum, value));
        }
    }
}

/// The distinct pasts at each position of a group's graphs.
struct Members {
    /// Position after position.
    pasts: Vec<u32>,
    /// Those at position p are `ends[p]..ends[p + 1]`.
    ends: Vec<usize>,
    /// For each row, the index of its past in `pasts`.
    places: Vec<u32>,
}

impl Members {
    fn new(pasts: &Pasts, group: &Group) -> Self {
        let (n, of_row) = (pasts.n(), &pasts.of_row[group.rows.clone()]);
        let mut members = Self { pasts: Vec::new(), ends: vec![0], places: vec![0; of_row.len()] };
        // For each past, its index at the last position at which it was found; an index before `first` is of an earlier position.
        let mut known = vec![u32::MAX; group.pasts.len()];
        for position in 0..n {
            let first = members.pasts.len() as u32;
            for row in (position..of_row.len()).step_by(n) {
                let known = &mut known[of_row[row] as usize - group.pasts.start];
                if *known < first || *known == u32::MAX {
                    *known = members.pasts.len() as u32;
                    members.pasts.push(of_row[row]);
                }
                members.places[row] = *known;
            }
            members.ends.push(members.pasts.len());
        }
        members
    }
}
