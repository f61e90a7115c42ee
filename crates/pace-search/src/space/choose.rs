//! [`choose`]: the best of a list of candidates, one after the other.

use super::{Criterion, Embedded};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;

/// The best candidates, among which a batch is chosen one by one. The others are too far behind to be worth another look.
const SHORTLIST: usize = 1000;

/// Chooses up to `n` of different candidates, one after the other, each the best by the criterion. The criterion imagines the
/// outcomes of all but the last. Ties go to the earlier candidate, and NaN comes last.
pub(crate) fn choose(
    n: usize,
    mut candidates: Vec<Candidate>,
    space: &dyn Embedded,
    criterion: &mut dyn Criterion,
) -> Result<Vec<Candidate>, Error> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut is_sorted = false;
    while found.len() < n && !candidates.is_empty() {
        if !is_sorted {
            sort(&mut candidates, space, criterion)?;
            candidates.truncate(SHORTLIST.max(n));
        }
        let next = Candidate { origin: Origin::Acquisition, ..candidates.remove(0) };
        if found.len() + 1 < n {
            let vector: Vec<f64> = space.vectors(&[&next])?.row(0).iter().copied().collect();
            is_sorted = !criterion.imagine(&vector);
        }
        found.push(next);
    }
    Ok(found)
}

/// Sorts candidates, the best by the criterion first.
fn sort(candidates: &mut Vec<Candidate>, space: &dyn Embedded, criterion: &dyn Criterion) -> Result<(), Error> {
    let vectors = space.vectors(&candidates.iter().collect::<Vec<_>>())?;
    let rank = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
    let scores = criterion.score(vectors.as_ref()).into_iter().map(rank);
    let mut scored: Vec<(f64, Candidate)> = scores.zip(std::mem::take(candidates)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    candidates.extend(scored.into_iter().map(|(_, candidate)| candidate));
    Ok(())
}

#[cfg(test)]
mod tests {
    use faer::MatRef;
    use pace_graph::Vectors;

    use super::*;
    use crate::space::{Listed, Pool};

    /// Wants large numbers, but none that is close to what was imagined, and does not know what to think of 7.
    struct Greed(Option<Vec<f64>>);

    impl Criterion for Greed {
        fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
            let is_near = |x: f64| self.0.iter().flatten().any(|other| (x - other).abs() < 1.5);
            let score = |x: f64| if x == 7.0 { f64::NAN } else { x - 100.0 * f64::from(u8::from(is_near(x))) };
            x.col(0).iter().map(|&x| score(x)).collect()
        }

        fn imagine(&mut self, vector: &[f64]) -> bool {
            self.0.iter_mut().for_each(|imagined| imagined.extend(vector));
            self.0.is_some()
        }
    }

    #[test]
    fn the_most_wanted_come_first_and_a_batch_spreads_out() {
        let dags = (2..8).map(|op| format!("0 {op} 1 : 0>1 1>2").parse().unwrap());
        let listed = Listed::new(dags.collect());
        let pool = Pool::new(&listed, Vectors::new(vec![3.0, 7.0, 5.0, 1.0, 4.0, 5.0], 1)).unwrap();
        let chosen = |n, mut greed: Greed| -> Vec<usize> {
            let all = (0..6).map(|row| pool.candidate(row, Origin::Random)).collect();
            let found = choose(n, all, &pool, &mut greed).unwrap();
            assert!(found.iter().all(|candidate| candidate.origin == Origin::Acquisition));
            found.iter().filter_map(|candidate| candidate.place).collect()
        };
        assert_eq!(chosen(3, Greed(None)), [2, 5, 4]);
        assert_eq!(chosen(9, Greed(None)), [2, 5, 4, 0, 3, 1]);
        assert_eq!(chosen(2, Greed(Some(Vec::new()))), [2, 0]);
        assert!(chosen(0, Greed(None)).is_empty());
    }
}
