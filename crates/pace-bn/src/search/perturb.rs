//! Random steps away from a local optimum.

use rand::{Rng, RngExt};

use super::arcs::{Arcs, Move};

/// Makes some random moves, each drawn from all that are possible.
pub(super) fn perturb(arcs: &mut Arcs, n_moves: usize, rng: &mut impl Rng) {
    for _ in 0..n_moves {
        let moves: Vec<Move> = arcs.moves().map(|(step, _)| step).collect();
        if moves.is_empty() {
            return;
        }
        arcs.make(moves[rng.random_range(0..moves.len())]);
    }
}
