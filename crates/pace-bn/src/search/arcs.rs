//! [`Arcs`]: a structure that changes arc by arc, and the gain of every change.

use crate::score::{Points, Scorer};
use crate::structure::Structure;

/// A change of one arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Add the arc.
    Add(u16, u16),
    /// Take the arc away.
    Delete(u16, u16),
    /// Turn the arc round.
    Reverse(u16, u16),
}

/// A structure with the score of each family, and of each family with one parent more or less.
pub(super) struct Arcs<'a, 'b> {
    scorer: &'a Scorer<'b>,
    max_parents: usize,
    parents: Vec<Vec<u16>>,
    families: Vec<Points>,
    /// `toggled[v * n + u]`: the family of v with u added, or taken away if it is a parent.
    toggled: Vec<Points>,
    /// A bit per descendant, `words` per variable.
    descendants: Vec<u64>,
    words: usize,
    hash: u64,
}

impl<'a, 'b> Arcs<'a, 'b> {
    /// Scores all neighbours of a structure.
    pub(super) fn new(scorer: &'a Scorer<'b>, start: &Structure, max_parents: usize) -> Arcs<'a, 'b> {
        let n = start.n_variables();
        let parents: Vec<Vec<u16>> = (0..n as u16).map(|variable| start.parents(variable).to_vec()).collect();
        let families = vec![Points::ZERO; n];
        let (toggled, words) = (vec![Points::MIN; n * n], n.div_ceil(64));
        let hash = start.arcs().fold(0, |hash, (from, to)| hash ^ key(from, to));
        let mut arcs =
            Arcs { scorer, max_parents, parents, families, toggled, descendants: vec![0; n * words], words, hash };
        let all: Vec<u16> = (0..n as u16).collect();
        arcs.rescore(&all);
        arcs.redescend();
        arcs
    }

    /// The number of variables.
    pub(super) fn n(&self) -> usize {
        self.parents.len()
    }

    /// The score of the structure.
    pub(super) fn score(&self) -> Points {
        self.families.iter().copied().sum()
    }

    /// The structure as it stands.
    pub(super) fn structure(&self) -> Structure {
        Structure::trusted(self.parents.clone())
    }

    /// A number that tells structures apart, but for coincidences.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// The same number, after a move.
    pub(super) fn hash_after(&self, step: Move) -> u64 {
        self.hash
            ^ match step {
                Move::Add(from, to) | Move::Delete(from, to) => key(from, to),
                Move::Reverse(from, to) => key(from, to) ^ key(to, from),
            }
    }

    /// Every move to another acyclic structure within the limit of parents, with its gain, by variables.
    pub(super) fn moves(&self) -> impl Iterator<Item = (Move, Points)> + '_ {
        let n = self.n() as u16;
        (0..n).flat_map(move |to| (0..n).filter(move |&from| from != to).map(move |from| (from, to))).flat_map(
            move |(from, to)| {
                let gain = self.gain(from, to);
                if self.parents[usize::from(to)].binary_search(&from).is_err() {
                    let is_allowed =
                        self.parents[usize::from(to)].len() < self.max_parents && !self.is_descendant(from, to);
                    return [is_allowed.then_some((Move::Add(from, to), gain)), None].into_iter().flatten();
                }
                let is_turnable =
                    self.parents[usize::from(from)].len() < self.max_parents && !self.has_detour(from, to);
                let turned = is_turnable.then(|| (Move::Reverse(from, to), gain + self.gain(to, from)));
                [Some((Move::Delete(from, to), gain)), turned].into_iter().flatten()
            },
        )
    }

    /// Makes a move, and scores the neighbours that are new.
    pub(super) fn make(&mut self, step: Move) {
        self.hash = self.hash_after(step);
        match step {
            Move::Add(from, to) | Move::Delete(from, to) => {
                self.toggle(from, to);
                self.rescore(&[to]);
            }
            Move::Reverse(from, to) => {
                self.toggle(from, to);
                self.toggle(to, from);
                self.rescore(&[from, to]);
            }
        }
        self.redescend();
    }

    /// What it brings to add, or to take away, one arc.
    fn gain(&self, from: u16, to: u16) -> Points {
        let to = usize::from(to);
        self.toggled[to * self.n() + usize::from(from)] - self.families[to]
    }

    fn toggle(&mut self, from: u16, to: u16) {
        let parents = &mut self.parents[usize::from(to)];
        match parents.binary_search(&from) {
            Ok(at) => {
                parents.remove(at);
            }
            Err(at) => parents.insert(at, from),
        }
    }

    /// Scores the families of these variables and all families that differ from them in one parent.
    fn rescore(&mut self, children: &[u16]) {
        let n = self.n() as u16;
        let mut families = Vec::new();
        for &child in children {
            let parents = &self.parents[usize::from(child)];
            families.push((child, parents.clone()));
            let is_full = parents.len() >= self.max_parents;
            for other in (0..n).filter(|&other| other != child) {
                match parents.binary_search(&other) {
                    Ok(_) => families.push((child, crate::score::without(parents, other))),
                    Err(_) if is_full => {}
                    Err(_) => families.push((child, crate::score::with(parents, other))),
                }
            }
        }
        let mut scores = self.scorer.families(&families).into_iter();
        for &child in children {
            let parents = &self.parents[usize::from(child)];
            let is_full = parents.len() >= self.max_parents;
            self.families[usize::from(child)] = scores.next().unwrap_or(Points::MIN);
            for other in (0..n).filter(|&other| other != child) {
                if !is_full || parents.binary_search(&other).is_ok() {
                    let at = usize::from(child) * usize::from(n) + usize::from(other);
                    self.toggled[at] = scores.next().unwrap_or(Points::MIN);
                }
            }
        }
    }

    /// Finds all descendants anew, from the last variables to the first: O((n + arcs) n / 64).
    fn redescend(&mut self) {
        let words = self.words;
        self.descendants.fill(0);
        for &child in self.structure_order().iter().rev() {
            let child = usize::from(child);
            for &parent in &self.parents[child] {
                let parent = usize::from(parent);
                for word in 0..words {
                    self.descendants[parent * words + word] |= self.descendants[child * words + word];
                }
                self.descendants[parent * words + child / 64] |= 1 << (child % 64);
            }
        }
    }

    fn structure_order(&self) -> Vec<u16> {
        self.structure().order()
    }

    /// Whether a path leads from `of` to `variable`.
    fn is_path(&self, of: u16, variable: u16) -> bool {
        let variable = usize::from(variable);
        self.descendants[usize::from(of) * self.words + variable / 64] >> (variable % 64) & 1 == 1
    }

    /// Whether `from` lies below `to`, so that an arc `from` -> `to` would close a cycle.
    fn is_descendant(&self, from: u16, to: u16) -> bool {
        self.is_path(to, from)
    }

    /// Whether another path leads along the arc, so that turning it round would close a cycle.
    fn has_detour(&self, from: u16, to: u16) -> bool {
        self.parents[usize::from(to)].iter().any(|&parent| parent != from && self.is_path(from, parent))
    }
}

/// The share of an arc in the hash of a structure (Zobrist 1970), by the finaliser of SplitMix64.
fn key(from: u16, to: u16) -> u64 {
    let mut mixed = (u64::from(from) << 16 | u64::from(to)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
