//! Enumerates families, level by level of the number of parents, and prunes what cannot be part of a best network.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::candidates::{CandidateConfig, Family};
use crate::error::Error;
use crate::score::{Counter, Mix, Points, Potential, ScoreKind, Scorer, with, without};

type Sets<T> = HashMap<Box<[u16]>, T, BuildHasherDefault<Mix>>;

/// The families of every variable that no subset of their parents beats, the best first.
///
/// A set of parents is *open* if a superset of it may still be worth considering; only supersets of open sets are scored.
/// Let b be the best score of a subset of P. No superset of P beats b, and P is closed, if b is at least
///
/// ```text
/// all scores    u_v - c * (r_v - 1) * prod_(p in P) r_p,   u_v = log-likelihood of v given all other variables
/// BDeu          - k_P * ln r_v,                            k_P = configurations of P that occur
/// ```
///
/// The first holds because conditioning on more never lowers a log-likelihood, no marginal likelihood exceeds it, and the
/// penalty grows with P; with u_v = 0 it is the bound of de Campos & Ji (2011, theorem 1). The second is their bound for
/// BDeu: within a configuration, the first row has probability 1 / r_v under the prior and the others at most 1; supersets
/// have at least as many configurations.
pub(super) fn enumerate(
    scorer: &Scorer,
    parents: &[Vec<u16>],
    config: &CandidateConfig,
) -> Result<Vec<Vec<Family>>, Error> {
    let n = parents.len();
    let ceilings = ceilings(scorer);
    let mut found: Vec<Vec<Family>> = vec![Vec::new(); n];
    // For each variable, the open sets of the level before, and the best score of each or its subsets.
    let mut open: Vec<Sets<Points>> = vec![Sets::default(); n];
    let mut known: Sets<Potential> = Sets::default();
    let mut n_families = 0;
    for level in 0..=config.max_parents.unwrap_or(n - 1).min(n - 1) {
        let mut families = candidates(level, parents, &open);
        n_families += families.len() as u64;
        if n_families > config.max_families {
            return Err(Error::TooLarge {
                what: "families to score",
                count: n_families,
                max: config.max_families,
                remedy: "allow fewer parents, or search without a certificate",
            });
        }
        count(scorer.counter(), families.iter().map(|(_, family)| family.parents.clone()), &mut known);
        families.retain(|(variable, family)| {
            let ceiling = ceilings[usize::from(*variable)];
            family.best_below.is_none_or(|best| best < bound(scorer, ceiling, *variable, &family.parents, &known))
        });
        let whole = |(variable, family): &(u16, Growing)| with(&family.parents, *variable).into_boxed_slice();
        count(scorer.counter(), families.iter().map(whole), &mut known);
        scorer.note_families(families.len());
        open.iter_mut().for_each(Sets::clear);
        for (variable, Growing { parents, best_below }) in families {
            let whole = &known[with(&parents, variable).as_slice()];
            let score = whole.points - known[&parents].points - scorer.penalty(variable, &parents);
            let is_best = best_below.is_none_or(|best| score > best);
            open[usize::from(variable)].insert(parents.clone(), best_below.map_or(score, |best| best.max(score)));
            if is_best {
                found[usize::from(variable)].push(Family { parents, score });
            }
        }
        // The sets of this level with the variable are the parents of the next one.
        known.retain(|set, _| set.len() == level + 1);
        if open.iter().all(Sets::is_empty) {
            break;
        }
    }
    for families in &mut found {
        families.sort_unstable_by(|a, b| b.score.cmp(&a.score).then_with(|| a.parents.cmp(&b.parents)));
    }
    Ok(found)
}

/// A set of parents that has not been scored.
struct Growing {
    parents: Box<[u16]>,
    /// The best score of its subsets.
    best_below: Option<Points>,
}

/// The sets of one level all of whose subsets are open, by variable.
fn candidates(level: usize, parents: &[Vec<u16>], open: &[Sets<Points>]) -> Vec<(u16, Growing)> {
    let mut families = Vec::new();
    for (variable, (parents, open)) in (0..).zip(parents.iter().zip(open)) {
        if level == 0 {
            families.push((variable, Growing { parents: Box::default(), best_below: None }));
            continue;
        }
        for set in open.keys() {
            let next = set.last().map_or(0, |&last| parents.partition_point(|&parent| parent <= last));
            for &parent in &parents[next..] {
                let grown: Box<[u16]> = set.iter().copied().chain([parent]).collect();
                let below = grown.iter().map(|&member| open.get(without(&grown, member).as_slice()).copied());
                // A closed subset closes it, too.
                let Some(below) = below.collect::<Option<Vec<Points>>>() else { continue };
                families.push((variable, Growing { parents: grown, best_below: below.into_iter().max() }));
            }
        }
    }
    families
}

/// Counts the sets that are not known yet.
fn count(counter: &Counter, sets: impl Iterator<Item = Box<[u16]>>, known: &mut Sets<Potential>) {
    let mut missing: Vec<Box<[u16]>> = sets.filter(|set| !known.contains_key(set)).collect();
    missing.sort_unstable();
    missing.dedup();
    let slices: Vec<&[u16]> = missing.iter().map(|set| &**set).collect();
    let potentials = counter.potentials(&slices);
    known.extend(missing.into_iter().zip(potentials));
}

/// The most that a variable can score given these parents or any superset of them.
fn bound(scorer: &Scorer, ceiling: Points, variable: u16, parents: &[u16], known: &Sets<Potential>) -> Points {
    let by_likelihood = ceiling - scorer.penalty(variable, parents);
    match scorer.kind() {
        ScoreKind::Bdeu { .. } => {
            let first_row = Points::of(-(scorer.table().n_levels(variable.into()) as f64).ln());
            by_likelihood.min(first_row.times(known[parents].n_cells.into()))
        }
        _ => by_likelihood,
    }
}

/// The log-likelihood of each variable given all others, and a little for rounding.
fn ceilings(scorer: &Scorer) -> Vec<Points> {
    let counter = Counter::new(scorer.table(), ScoreKind::LogLikelihood);
    let all: Vec<u16> = (0..scorer.table().n_variables() as u16).collect();
    let sets: Vec<Vec<u16>> = all.iter().map(|&variable| without(&all, variable)).chain([all.clone()]).collect();
    let slices: Vec<&[u16]> = sets.iter().map(Vec::as_slice).collect();
    let potentials = counter.potentials(&slices);
    let whole = potentials[all.len()].points;
    potentials[..all.len()].iter().map(|rest| whole - rest.points + Points::of(1e-6)).collect()
}
