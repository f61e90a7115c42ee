//! How many pairs of edges cross.

use super::layered::Layered;

/// The crossings of all layers. O(e log n) by a Fenwick tree per pair of layers (Barth, Mutzel and Jünger, 2004).
pub fn count(layered: &Layered) -> usize {
    (1..layered.layers.len()).map(|layer| between(layered, layer)).sum()
}

/// The crossings between `layer` and the layer above it.
fn between(layered: &Layered, layer: usize) -> usize {
    let mut tree = Fenwick { counts: vec![0; layered.layers[layer].len() + 1] };
    let (mut n_seen, mut n_crossings) = (0, 0);
    for &upper in &layered.layers[layer - 1] {
        let lower = layered.below[upper].iter().map(|&vertex| layered.places[vertex]);
        // Edges that leave the same vertex do not cross: all are counted before any is added.
        n_crossings += lower.clone().map(|place| n_seen - tree.up_to(place)).sum::<usize>();
        lower.for_each(|place| tree.add(place));
        n_seen += layered.below[upper].len();
    }
    n_crossings
}

/// Counts that answer sums over the first places in O(log n).
struct Fenwick {
    counts: Vec<usize>,
}

impl Fenwick {
    fn add(&mut self, place: usize) {
        let mut index = place + 1;
        while index < self.counts.len() {
            self.counts[index] += 1;
            index += index & index.wrapping_neg();
        }
    }

    /// How many were added at `place` or before.
    fn up_to(&self, place: usize) -> usize {
        let (mut index, mut sum) = (place + 1, 0);
        while index > 0 {
            sum += self.counts[index];
            index &= index - 1;
        }
        sum
    }
}
