//! [`Group`]: some variables of a component, within which a bound allows no cycle.

use super::set::VarSet;

/// Dynamic programming over the subsets of some variables, for one vector of costs of families.
pub(super) struct Group {
    /// The variables, by their numbers in the component.
    members: Vec<usize>,
    /// For each member, parents within the group (a bit each) and number of each family.
    families: Vec<Vec<(u32, u32)>>,
    /// `best[member << size | subset]`: the cheapest family of a member whose parents in the group are in the subset.
    best: Vec<f64>,
    /// The cheapest choice of families for each subset without cycles in it.
    cheapest: Vec<f64>,
}

impl Group {
    /// The families are given by variable, parents and number.
    pub(super) fn new(members: Vec<usize>, families: impl Iterator<Item = (usize, VarSet, u32)>) -> Group {
        let mut found = vec![Vec::new(); members.len()];
        for (variable, parents, number) in families {
            if let Ok(member) = members.binary_search(&variable) {
                let inside = members.iter().enumerate().filter(|(_, other)| parents.contains(**other));
                found[member].push((inside.fold(0, |set, (bit, _)| set | 1 << bit), number));
            }
        }
        let n_subsets = 1 << members.len();
        Group { best: vec![0.0; n_subsets * members.len()], cheapest: vec![0.0; n_subsets], members, families: found }
    }

    /// The cost of the cheapest choice without a cycle within the group. O(size^2 2^size).
    pub(super) fn solve(&mut self, costs: &[f64]) -> f64 {
        let size = self.members.len();
        for (families, best) in self.families.iter().zip(self.best.chunks_exact_mut(1 << size)) {
            best.fill(f64::INFINITY);
            for &(parents, number) in families {
                let best = &mut best[parents as usize];
                *best = best.min(costs[number as usize]);
            }
            for bit in 0..size {
                for pair in best.chunks_exact_mut(2 << bit) {
                    let (without, with) = pair.split_at_mut(1 << bit);
                    with.iter_mut().zip(without).for_each(|(with, without)| *with = with.min(*without));
                }
            }
        }
        for subset in 1..1_usize << size {
            let sinks = bits(subset).map(|sink| {
                let rest = subset & !(1 << sink);
                self.cheapest[rest] + self.best[sink << size | rest]
            });
            self.cheapest[subset] = sinks.fold(f64::INFINITY, f64::min);
        }
        self.cheapest[(1 << size) - 1]
    }

    /// The families of the cheapest choice, after [`Group::solve`] with the same costs.
    pub(super) fn chosen(&self, costs: &[f64]) -> Vec<u32> {
        let size = self.members.len();
        let mut subset = (1_usize << size) - 1;
        let mut chosen = Vec::with_capacity(size);
        while subset != 0 {
            let cost = |sink: usize| {
                let rest = subset & !(1 << sink);
                self.cheapest[rest] + self.best[sink << size | rest]
            };
            let Some(sink) = bits(subset).min_by(|&a, &b| cost(a).total_cmp(&cost(b))) else { break };
            subset &= !(1 << sink);
            let fits = self.families[sink].iter().filter(|(parents, _)| *parents as usize & !subset == 0);
            let cheapest = fits.min_by(|a, b| costs[a.1 as usize].total_cmp(&costs[b.1 as usize]));
            chosen.extend(cheapest.map(|(_, number)| *number));
        }
        chosen
    }

    /// By how much each family raises the cost if it has to be chosen, as (number, cost), after [`Group::solve`] with the same
    /// costs.
    pub(super) fn raised(&self, costs: &[f64]) -> Vec<(u32, f64)> {
        let size = self.members.len();
        let full = (1_usize << size) - 1;
        // The cheapest way to add what is missing from each subset.
        let mut rest = vec![f64::INFINITY; full + 1];
        rest[full] = 0.0;
        for subset in (0..full).rev() {
            let next = bits(full & !subset).map(|sink| self.best[sink << size | subset] + rest[subset | 1 << sink]);
            rest[subset] = next.fold(f64::INFINITY, f64::min);
        }
        let mut raised = Vec::new();
        for (member, families) in self.families.iter().enumerate() {
            // The cheapest choice of all others if the member comes after a superset of the subset.
            let around = |subset: usize| match subset >> member & 1 {
                0 => self.cheapest[subset] + rest[subset | 1 << member],
                _ => f64::INFINITY,
            };
            let mut around: Vec<f64> = (0..=full).map(around).collect();
            for bit in 0..size {
                for pair in around.chunks_exact_mut(2 << bit) {
                    let (without, with) = pair.split_at_mut(1 << bit);
                    without.iter_mut().zip(with).for_each(|(without, with)| *without = without.min(*with));
                }
            }
            let raise = |&(parents, number): &(u32, u32)| {
                (number, costs[number as usize] + around[parents as usize] - self.cheapest[full])
            };
            raised.extend(families.iter().map(raise));
        }
        raised
    }
}

fn bits(set: usize) -> impl Iterator<Item = usize> {
    let mut left = set;
    std::iter::from_fn(move || {
        (left != 0).then(|| {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            bit
        })
    })
}
