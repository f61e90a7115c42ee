//! Distances between structures.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cpdag::Cpdag;
use super::dag::Structure;

/// The structural Hamming distance of two classes (Tsamardinos, Brown & Aliferis 2006): the number of pairs of variables that
/// are linked differently, be it not at all, by an edge or by an arc. bnlearn's `shd` is this.
///
/// # Panics
/// If the classes have different numbers of variables.
pub fn shd(a: &Cpdag, b: &Cpdag) -> usize {
    assert_eq!(a.n_variables(), b.n_variables(), "classes over the same variables");
    let pairs: BTreeSet<(u16, u16)> = a.pairs().into_iter().chain(b.pairs()).collect();
    pairs.into_iter().filter(|&(x, y)| a.link(x, y) != b.link(x, y)).count()
}

/// The structural Hamming distance of two structures as they stand: arcs to add, delete or reverse.
///
/// # Panics
/// If the structures have different numbers of variables.
pub fn shd_dags(a: &Structure, b: &Structure) -> usize {
    assert_eq!(a.n_variables(), b.n_variables(), "structures over the same variables");
    let pairs: BTreeSet<(u16, u16)> = a.arcs().chain(b.arcs()).map(|(x, y)| (x.min(y), x.max(y))).collect();
    let differs = |&(x, y): &(u16, u16)| a.has_arc(x, y) != b.has_arc(x, y) || a.has_arc(y, x) != b.has_arc(y, x);
    pairs.iter().filter(|pair| differs(pair)).count()
}

/// What a learnt structure gets right and wrong, whatever the directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Pairs that both link.
    pub found: usize,
    /// Pairs that only the true structure links.
    pub missed: usize,
    /// Pairs that only the learnt structure links.
    pub invented: usize,
}

impl Confusion {
    /// Compares the linked pairs of a learnt class with those of the true one.
    pub fn of(learnt: &Cpdag, truth: &Cpdag) -> Confusion {
        let [learnt, truth] = [learnt, truth].map(|class| class.pairs().into_iter().collect::<BTreeSet<_>>());
        let found = learnt.intersection(&truth).count();
        Confusion { found, missed: truth.len() - found, invented: learnt.len() - found }
    }
}
