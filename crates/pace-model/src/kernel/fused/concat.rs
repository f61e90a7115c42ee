//! A linear map of the rows of a graph side by side, from the vectors of their pasts.
//!
//! Position by position: each past that stands there is multiplied once by the position's part of the matrix, and the graphs
//! add up what they have. The long rows of graphs are never written.

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::linear::{Into, Mat, product};
use super::pool::Buffer;
use super::rows;
use crate::kernel::pasts::{Group, Pasts};

/// Pasts that are multiplied together.
const BLOCK_ROWS: usize = 256;

/// y [pasts, D], weight [N*D, Z], bias `[Z]` -> [B, Z].
pub(crate) fn linear(y: &[f32], pasts: &Pasts, weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let (n, width) = (pasts.n(), bias.len());
    let mut graphs = vec![0.0; pasts.n_rows() / n * width];
    let (mut rest, mut parts) = (&mut graphs[..], Vec::new());
    for group in &pasts.groups {
        let (part, others) = rest.split_at_mut(group.rows.len() / n * width);
        rest = others;
        parts.push((group, part));
    }
    let d = weight.len() / (n * width);
    parts.into_par_iter().for_each(|(group, graphs)| {
        graphs.chunks_exact_mut(width).for_each(|graph| graph.copy_from_slice(bias));
        let mut members = Members::new(group);
        for (position, weight) in weight.chunks_exact(d * width).enumerate() {
            let of_row = &pasts.of_row[group.rows.clone()];
            let places = members.at(of_row.iter().skip(position).step_by(n).copied());
            let mapped = map(y, &members.pasts, weight, width);
            for (graph, &place) in graphs.chunks_exact_mut(width).zip(&places) {
                rows::add(graph, &mapped[place as usize * width..][..width]);
            }
        }
    });
    graphs
}

/// Some rows of y times a matrix [D, Z]: -> [rows, Z].
fn map(y: &[f32], rows: &[u32], weight: &[f32], width: usize) -> Buffer {
    let d = weight.len() / width;
    let (mut mapped, mut block) = (Buffer::stale(rows.len() * width), Buffer::stale(BLOCK_ROWS.min(rows.len()) * d));
    for (rows, mapped) in rows.chunks(BLOCK_ROWS).zip(mapped.chunks_mut(BLOCK_ROWS * width)) {
        for (block, &row) in block.chunks_exact_mut(d).zip(rows) {
            block.copy_from_slice(&y[row as usize * d..][..d]);
        }
        let (x, weight) = (Mat::new(&block, d), Mat::new(weight, width));
        product([rows.len(), d, width], mapped, width, Into::Replace, x, weight, 1.0);
    }
    mapped
}

/// The distinct pasts at one position.
struct Members {
    pasts: Vec<u32>,
    /// By past, its place among them if it has one: what stands there for others is left over from other positions.
    places: Vec<u32>,
    /// The first past of the group.
    origin: usize,
}

impl Members {
    fn new(group: &Group) -> Self {
        Self { pasts: Vec::new(), places: vec![0; group.pasts.len()], origin: group.pasts.start }
    }

    /// Takes in the past of each graph at another position; returns where it is.
    fn at(&mut self, pasts: impl Iterator<Item = u32>) -> Vec<u32> {
        self.pasts.clear();
        let place = |past: u32| {
            let place = &mut self.places[past as usize - self.origin];
            if self.pasts.get(*place as usize) != Some(&past) {
                *place = self.pasts.len() as u32;
                self.pasts.push(past);
            }
            *place
        };
        pasts.map(place).collect()
    }
}
