//! The x of each vertex: Brandes and Köpf, *Fast and simple horizontal coordinate assignment* (2001).
//!
//! Vertices are aligned with the median of their neighbours, in four ways: by those above or below, from the left or from the right.
//! Each way gives blocks of vertices on a vertical line, which are then pushed together. The mean of the two middle ways is the answer.
//! It keeps the free widths, since each way does. Blocks are pushed together along the graph of who stands left of whom, in two
//! passes, rather than by the classes of the paper, whose shifts the authors had to correct (Brandes, Walter and Zink, 2020).

use std::collections::HashSet;

use super::Spacing;
use super::layered::Layered;

/// The x of each vertex's centre. O(n + e).
pub fn place(layered: &Layered, spacing: &Spacing) -> Vec<f64> {
    let conflicts = conflicts(layered);
    let ways = [(true, false), (true, true), (false, false), (false, true)];
    let mut xs: Vec<Vec<f64>> = Vec::with_capacity(ways.len());
    for (by_above, mirrored) in ways {
        let layers = turned(layered, by_above, mirrored);
        let way = Way { layered, by_above, mirrored, layers: &layers, conflicts: &conflicts };
        let roots = way.align();
        let way_xs = way.compact(&roots, spacing);
        xs.push(way_xs.iter().map(|x| if mirrored { -x } else { *x }).collect());
    }
    let extents: Vec<(f64, f64)> = xs.iter().map(|xs| extent(xs)).collect();
    let narrowest = extents.iter().copied().min_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)));
    let (left, right) = narrowest.unwrap_or_default();
    for ((xs, extent), (_, mirrored)) in xs.iter_mut().zip(&extents).zip(ways) {
        let shift = if mirrored { right - extent.1 } else { left - extent.0 };
        xs.iter_mut().for_each(|x| *x += shift);
    }
    let middle = |vertex: usize| {
        let mut four: Vec<f64> = xs.iter().map(|xs| xs[vertex]).collect();
        four.sort_by(f64::total_cmp);
        (four[1] + four[2]) / 2.0
    };
    (0..layered.places.len()).map(middle).collect()
}

/// The upper side of each layer.
pub fn tops(layered: &Layered, xs: &[f64], spacing: &Spacing) -> Vec<f64> {
    // Edges that go far to the side would lie on one another in a low gap.
    let farthest = |layer: &[usize]| {
        let pieces = layer.iter().flat_map(|&vertex| layered.below[vertex].iter().map(move |&below| (vertex, below)));
        pieces.map(|(vertex, below)| (xs[vertex] - xs[below]).abs()).fold(0.0, f64::max)
    };
    let mut tops = Vec::with_capacity(layered.layers.len());
    let mut top = 0.0;
    for layer in &layered.layers {
        tops.push(top);
        top += spacing.node_height + (spacing.layer_gap + 0.06 * farthest(layer)).min(2.0 * spacing.layer_gap);
    }
    tops
}

/// The least and the greatest.
fn extent(xs: &[f64]) -> (f64, f64) {
    let least = xs.iter().copied().fold(f64::INFINITY, f64::min);
    (least, xs.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The layers in the order in which one way walks over them.
fn turned(layered: &Layered, by_above: bool, mirrored: bool) -> Vec<Vec<usize>> {
    let mut layers = layered.layers.clone();
    if !by_above {
        layers.reverse();
    }
    if mirrored {
        layers.iter_mut().for_each(|layer| layer.reverse());
    }
    layers
}

/// The pieces `(upper, lower)` that cross the inner piece of a long edge: they give way, so that long edges are straight.
fn conflicts(layered: &Layered) -> HashSet<(usize, usize)> {
    let mut conflicts = HashSet::new();
    for [upper, layer] in layered.layers.array_windows() {
        let (mut before, mut scanned) = (0, 0);
        for (place, &vertex) in layer.iter().enumerate() {
            let inner =
                layered.above[vertex].first().filter(|&&above| layered.is_virtual(vertex) && layered.is_virtual(above));
            if inner.is_none() && place + 1 < layer.len() {
                continue;
            }
            let after = inner.map_or(upper.len(), |&above| layered.places[above]);
            for &lower in &layer[scanned..=place] {
                let crosses = |above: usize| layered.places[above] < before || layered.places[above] > after;
                let is_inner = |above: usize| layered.is_virtual(above) && layered.is_virtual(lower);
                let found = layered.above[lower].iter().filter(|&&above| crosses(above) && !is_inner(above));
                conflicts.extend(found.map(|&above| (above, lower)));
            }
            (before, scanned) = (after, place + 1);
        }
    }
    conflicts
}

/// One of the four ways.
struct Way<'a> {
    layered: &'a Layered,
    by_above: bool,
    mirrored: bool,
    layers: &'a [Vec<usize>],
    conflicts: &'a HashSet<(usize, usize)>,
}

impl Way<'_> {
    /// The place of a vertex as this way counts.
    fn place(&self, vertex: usize) -> usize {
        let place = self.layered.places[vertex];
        if self.mirrored { self.layered.layers[self.layered.layer(vertex)].len() - 1 - place } else { place }
    }

    /// The first vertex of the block of each vertex.
    fn align(&self) -> Vec<usize> {
        let n_vertices = self.layered.places.len();
        let mut roots: Vec<usize> = (0..n_vertices).collect();
        let mut is_taken = vec![false; n_vertices];
        for layer in self.layers {
            // The first place that is still free: blocks must not cross.
            let mut free = 0;
            for &vertex in layer {
                let side = if self.by_above { &self.layered.above } else { &self.layered.below };
                let mut neighbours = side[vertex].clone();
                neighbours.sort_by_key(|&neighbour| self.place(neighbour));
                let medians = neighbours.len().saturating_sub(1) / 2..neighbours.len() / 2 + 1;
                for &neighbour in neighbours.get(medians).unwrap_or_default() {
                    let piece = if self.by_above { (neighbour, vertex) } else { (vertex, neighbour) };
                    let fits = roots[vertex] == vertex && !is_taken[neighbour] && self.place(neighbour) >= free;
                    if fits && !self.conflicts.contains(&piece) {
                        roots[vertex] = roots[neighbour];
                        is_taken[neighbour] = true;
                        free = self.place(neighbour) + 1;
                    }
                }
            }
        }
        roots
    }

    /// The x of each vertex, blocks pushed to the left, then to the right as far as that shortens edges and moves nothing else.
    fn compact(&self, roots: &[usize], spacing: &Spacing) -> Vec<f64> {
        let n_vertices = roots.len();
        let mut right_of: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_vertices];
        let mut n_left_of = vec![0; n_vertices];
        for [left, right] in self.layers.iter().flat_map(|layer| layer.array_windows()) {
            right_of[roots[*left]].push((roots[*right], self.distance(*left, *right, spacing)));
            n_left_of[roots[*right]] += 1;
        }
        let is_first = |&vertex: &usize| roots[vertex] == vertex && n_left_of[vertex] == 0;
        let mut blocks: Vec<usize> = (0..n_vertices).filter(is_first).collect();
        let mut xs = vec![0.0_f64; n_vertices];
        let mut next = 0;
        while let Some(&block) = blocks.get(next) {
            next += 1;
            for &(right, distance) in &right_of[block] {
                xs[right] = xs[right].max(xs[block] + distance);
                n_left_of[right] -= 1;
                if n_left_of[right] == 0 {
                    blocks.push(right);
                }
            }
        }
        for &block in blocks.iter().rev() {
            let room =
                right_of[block].iter().map(|&(right, distance)| xs[right] - distance).fold(f64::INFINITY, f64::min);
            if room.is_finite() {
                xs[block] = room.max(xs[block]);
            }
        }
        roots.iter().map(|&root| xs[root]).collect()
    }

    /// The distance that the centres of two neighbours keep.
    fn distance(&self, left: usize, right: usize, spacing: &Spacing) -> f64 {
        let n_virtual = [left, right].into_iter().filter(|&vertex| self.layered.is_virtual(vertex)).count();
        let gap = if n_virtual == 0 { spacing.node_gap } else { spacing.edge_gap };
        (self.layered.width(left) + self.layered.width(right)) / 2.0 + gap
    }
}
