//! The order within each layer, so that few edges cross.
//!
//! The exact problem is NP-hard. Barycentres (Sugiyama, Tagawa and Toda, 1981) sort each layer by the mean place of its neighbours,
//! in sweeps down and up; then neighbours are exchanged while that helps (Gansner, Koutsofios, North and Vo, 1993). The best order
//! seen is kept, so there are never more crossings than at the start.

use super::crossings;
use super::layered::Layered;

/// Sweeps at most.
const MAX_SWEEPS: usize = 32;
/// Sweeps without a better order, after which it is given up.
const PATIENCE: usize = 6;
/// Exchanges compare all pairs of edges of two vertices: only for drawings that one can still read.
const MAX_EXCHANGED: usize = 2_000;

/// Orders all layers; returns the number of crossings that are left.
pub fn reduce(layered: &mut Layered) -> usize {
    let mut best = (crossings::count(layered), layered.layers.clone());
    let mut n_failures = 0;
    for sweep in 0..MAX_SWEEPS {
        if best.0 == 0 || n_failures == PATIENCE {
            break;
        }
        sort_layers(layered, sweep);
        if layered.places.len() <= MAX_EXCHANGED {
            exchange(layered);
        }
        let n_crossings = crossings::count(layered);
        n_failures += 1;
        if n_crossings < best.0 {
            best = (n_crossings, layered.layers.clone());
            n_failures = 0;
        }
    }
    best.1.into_iter().enumerate().for_each(|(layer, vertices)| layered.set_layer(layer, vertices));
    best.0
}

/// Sorts every layer by the barycentres of its neighbours: those above in even sweeps, those below in odd ones.
fn sort_layers(layered: &mut Layered, sweep: usize) {
    let n_layers = layered.layers.len();
    let goes_down = sweep.is_multiple_of(2);
    for step in 1..n_layers {
        let layer = if goes_down { step } else { n_layers - 1 - step };
        let mut keyed: Vec<(f64, usize)> =
            layered.layers[layer].iter().map(|&vertex| (barycentre(layered, vertex, goes_down), vertex)).collect();
        // Every other pair of sweeps turns ties around, which leads out of orders that only ties keep.
        if sweep % 4 >= 2 {
            keyed.reverse();
        }
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        layered.set_layer(layer, keyed.into_iter().map(|(_, vertex)| vertex).collect());
    }
}

/// The mean place of a vertex's neighbours as a share of their layer; its own place if it has none there.
fn barycentre(layered: &Layered, vertex: usize, goes_down: bool) -> f64 {
    let neighbours = if goes_down { &layered.above[vertex] } else { &layered.below[vertex] };
    let share = |vertex: usize| {
        let n_beside = layered.layers[layered.layer(vertex)].len();
        (layered.places[vertex] as f64 + 0.5) / n_beside as f64
    };
    let sum: f64 = neighbours.iter().map(|&neighbour| share(neighbour)).sum();
    if neighbours.is_empty() { share(vertex) } else { sum / neighbours.len() as f64 }
}

/// Exchanges neighbours of a layer as long as that removes crossings. Each exchange removes one, so it ends.
fn exchange(layered: &mut Layered) {
    let mut improved = true;
    while improved {
        improved = false;
        for layer in 0..layered.layers.len() {
            for place in 1..layered.layers[layer].len() {
                let pair = (layered.layers[layer][place - 1], layered.layers[layer][place]);
                if crossings_of(layered, pair.1, pair.0) < crossings_of(layered, pair.0, pair.1) {
                    layered.layers[layer].swap(place - 1, place);
                    (layered.places[pair.0], layered.places[pair.1]) = (place, place - 1);
                    improved = true;
                }
            }
        }
    }
}

/// The crossings among the edges of two vertices, if `left` stands left of `right`.
fn crossings_of(layered: &Layered, left: usize, right: usize) -> usize {
    [&layered.above, &layered.below]
        .into_iter()
        .flat_map(|side| side[left].iter().flat_map(move |one| side[right].iter().map(move |other| (one, other))))
        .filter(|&(&one, &other)| layered.places[one] > layered.places[other])
        .count()
}
