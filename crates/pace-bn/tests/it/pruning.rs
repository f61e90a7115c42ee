//! Pruning loses nothing that a best network may need.

use pace_bn::{CandidateConfig, Candidates, ScoreKind, Scorer, Structure};

use crate::support::{KINDS, sampled, subsets};

/// For each set of allowed parents, the best family among the candidates is as good as the best of all.
fn check(n: usize, n_rows: usize, seed: u64, kind: ScoreKind, max_parents: Option<usize>) {
    let table = sampled(n, n_rows, seed);
    let scorer = Scorer::new(&table, kind).unwrap();
    let config = CandidateConfig { max_parents, ..CandidateConfig::default() };
    let candidates = Candidates::all(&scorer, &config).unwrap();
    assert!(candidates.is_complete());
    for variable in 0..n as u16 {
        let families = candidates.families(variable);
        assert!(families.is_sorted_by(|a, b| a.score >= b.score) && families.last().unwrap().parents.is_empty());
        let all = subsets(n, variable, max_parents.unwrap_or(n));
        for allowed in subsets(n, variable, n) {
            let is_allowed = |parents: &[u16]| parents.iter().all(|parent| allowed.contains(parent));
            let best = all.iter().filter(|set| is_allowed(set)).map(|set| scorer.family(variable, set)).max();
            let kept = families.iter().filter(|family| is_allowed(&family.parents)).map(|family| family.score).max();
            assert_eq!(best, kept, "{kind}, {variable} within {allowed:?}");
        }
    }
}

#[test]
fn nothing_optimal_is_lost() {
    for kind in KINDS {
        for (seed, n_rows) in [(1, 20), (2, 200), (3, 2000)] {
            check(6, n_rows, seed, kind, None);
            check(6, n_rows, seed, kind, Some(2));
        }
    }
}

#[test]
fn bounds_spare_most_of_the_counting() {
    let table = sampled(14, 500, 7);
    let all = 14 * (1 << 13);
    for (kind, limit) in [(ScoreKind::Bic, all / 2), (ScoreKind::Bdeu { sample_size: 1.0 }, all)] {
        let scorer = Scorer::new(&table, kind).unwrap();
        let config = CandidateConfig { max_parents: None, ..CandidateConfig::default() };
        Candidates::all(&scorer, &config).unwrap();
        assert!(scorer.n_families() < limit, "{kind}: {}", scorer.n_families());
    }
}

#[test]
fn too_many_families_are_refused() {
    let table = sampled(10, 100, 8);
    let scorer = Scorer::new(&table, ScoreKind::LogLikelihood).unwrap();
    let config = CandidateConfig { max_parents: Some(4), max_families: 500 };
    let message = Candidates::all(&scorer, &config).unwrap_err().to_string();
    assert!(message.starts_with("families to score: ") && message.contains("allow fewer parents"), "{message}");
}

#[test]
fn candidates_near_a_structure_hold_its_families() {
    let table = sampled(10, 1000, 9);
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    let found = pace_bn::climb(&scorer, &Structure::empty(10), &Default::default(), &Default::default());
    let config = CandidateConfig { max_parents: None, ..CandidateConfig::default() };
    let near = Candidates::near(&scorer, &found.structure, 2, &config).unwrap();
    assert!(!near.is_complete());
    for variable in 0..10 {
        let own = scorer.family(variable, found.structure.parents(variable));
        // Its family, or one of fewer parents that is at least as good.
        assert!(near.families(variable).iter().any(|family| family.score >= own));
    }
}
