//! [`Scorer`]: scores of families and structures, each counted once.

use std::sync::atomic::{AtomicU64, Ordering};

use super::count::Counter;
use super::kind::ScoreKind;
use super::points::Points;
use super::store::Store;
use crate::data::Table;
use crate::error::Error;
use crate::structure::Structure;

/// Scores families of one table. It remembers what it counted, and may be shared by threads.
pub struct Scorer<'a> {
    counter: Counter<'a>,
    kind: ScoreKind,
    penalty: Points,
    store: Store,
    n_families: AtomicU64,
}

impl<'a> Scorer<'a> {
    /// A scorer that has counted nothing yet.
    ///
    /// # Errors
    /// If the score has a parameter out of range.
    pub fn new(table: &'a Table, kind: ScoreKind) -> Result<Scorer<'a>, Error> {
        kind.check()?;
        let (counter, penalty) = (Counter::new(table, kind), kind.penalty(table.n_rows()));
        Ok(Scorer { counter, kind, penalty, store: Store::new(), n_families: AtomicU64::new(0) })
    }

    /// The data.
    pub fn table(&self) -> &'a Table {
        self.counter.table()
    }

    /// The score.
    pub fn kind(&self) -> ScoreKind {
        self.kind
    }

    /// How many families have been scored, those included that were scored again from memory.
    pub fn n_families(&self) -> u64 {
        self.n_families.load(Ordering::Relaxed)
    }

    /// How many sets of variables have been counted and are remembered.
    pub fn n_counted(&self) -> usize {
        self.store.len()
    }

    pub(crate) fn counter(&self) -> &Counter<'a> {
        &self.counter
    }

    /// Adds to the count of scored families.
    pub(crate) fn note_families(&self, n: usize) {
        self.n_families.fetch_add(n as u64, Ordering::Relaxed);
    }

    /// The number of free parameters of a family, (r_v - 1) * product of the parents' levels.
    pub fn n_parameters(&self, variable: u16, parents: &[u16]) -> u128 {
        let levels = |variable: u16| self.table().n_levels(variable.into()) as u128;
        parents.iter().fold(levels(variable) - 1, |product, &parent| product.saturating_mul(levels(parent)))
    }

    /// What the parameters of a family cost.
    pub(crate) fn penalty(&self, variable: u16, parents: &[u16]) -> Points {
        self.penalty.times(self.n_parameters(variable, parents))
    }

    /// The score of a variable given its parents, which are sorted.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn family(&self, variable: u16, parents: &[u16]) -> Points {
        self.note_families(1);
        let whole = with(parents, variable);
        self.potential(&whole) - self.potential(parents) - self.penalty(variable, parents)
    }

    /// The scores of one variable given each of several sorted sets of parents; what is not known yet is counted in parallel.
    pub fn families(&self, families: &[(u16, Vec<u16>)]) -> Vec<Points> {
        self.note_families(families.len());
        let mut missing: Vec<Vec<u16>> = Vec::new();
        for (variable, parents) in families {
            let whole = with(parents, *variable);
            missing.extend(self.store.get(&whole).is_none().then_some(whole));
            missing.extend(self.store.get(parents).is_none().then(|| parents.clone()));
        }
        self.count(missing);
        let score = |(variable, parents): &(u16, Vec<u16>)| {
            self.potential(&with(parents, *variable)) - self.potential(parents) - self.penalty(*variable, parents)
        };
        families.iter().map(score).collect()
    }

    /// The score of a structure.
    ///
    /// # Panics
    /// If it has other variables than the table.
    pub fn structure(&self, structure: &Structure) -> Points {
        assert_eq!(structure.n_variables(), self.table().n_variables(), "a structure over the variables of the table");
        (0..structure.n_variables() as u16).map(|variable| self.family(variable, structure.parents(variable))).sum()
    }

    /// The potential of a sorted set.
    fn potential(&self, set: &[u16]) -> Points {
        if let Some(known) = self.store.get(set) {
            return known;
        }
        let potential = self.counter.potentials(&[set])[0].points;
        self.store.insert(set, potential);
        potential
    }

    /// Counts sets, in parallel, and remembers them.
    fn count(&self, mut sets: Vec<Vec<u16>>) {
        sets.sort_unstable();
        sets.dedup();
        let slices: Vec<&[u16]> = sets.iter().map(Vec::as_slice).collect();
        let potentials = self.counter.potentials(&slices);
        slices.iter().zip(potentials).for_each(|(set, potential)| self.store.insert(set, potential.points));
    }
}

/// A sorted set with one more member.
pub(crate) fn with(set: &[u16], member: u16) -> Vec<u16> {
    let at = set.partition_point(|&known| known < member);
    let mut larger = Vec::with_capacity(set.len() + 1);
    larger.extend_from_slice(&set[..at]);
    larger.push(member);
    larger.extend_from_slice(&set[at..]);
    larger
}

/// A set without a member.
pub(crate) fn without(set: &[u16], member: u16) -> Vec<u16> {
    set.iter().copied().filter(|&known| known != member).collect()
}
