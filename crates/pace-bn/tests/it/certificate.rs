//! Certificates: three methods agree, and bounds hold.

use pace_bn::{CandidateConfig, Candidates, ExactConfig, Limits, OrderConfig, Points, ScoreKind, Scorer, certify};

use crate::support::{all_structures, sampled};

const ONE: OrderConfig = OrderConfig { rounds: 0, disturbance: 1, seed: 3 };

#[test]
fn dynamic_programming_finds_the_best_of_all_structures() {
    for seed in 0..6 {
        let table = sampled(4, 60, seed);
        for kind in [ScoreKind::Bic, ScoreKind::Aic, ScoreKind::Bdeu { sample_size: 2.0 }] {
            let scorer = Scorer::new(&table, kind).unwrap();
            let best = all_structures(4).iter().map(|structure| scorer.structure(structure)).max().unwrap();
            let config = CandidateConfig { max_parents: None, ..CandidateConfig::default() };
            let candidates = Candidates::all(&scorer, &config).unwrap();
            let found = certify(&candidates, None, &ExactConfig::default(), &Limits::default()).unwrap();
            assert_eq!(found.score, best);
            assert_eq!(scorer.structure(&found.structure), best);
            assert!(found.is_proven());
        }
    }
}

#[test]
fn branch_and_cut_agrees_with_dynamic_programming() {
    for seed in 0..12 {
        let table = sampled(10, 100 + 150 * seed as usize, 40 + seed);
        let kind = if seed % 2 == 0 { ScoreKind::Bic } else { ScoreKind::Bdeu { sample_size: 5.0 } };
        let scorer = Scorer::new(&table, kind).unwrap();
        let config = CandidateConfig { max_parents: Some(2 + seed as usize % 3), ..CandidateConfig::default() };
        let candidates = Candidates::all(&scorer, &config).unwrap();
        let exact = certify(&candidates, None, &ExactConfig::default(), &Limits::default()).unwrap();
        // A poor start, so that the branches have something to do; without groups, with small ones, and with one of all.
        for max_group in [0, 3, 5, 20] {
            let config = ExactConfig { start: ONE, max_subsets: 0, max_group, max_nodes: u64::MAX };
            let cut = certify(&candidates, None, &config, &Limits::default()).unwrap();
            assert_eq!(cut.score, exact.score, "seed {seed}: {cut:?}");
            assert!(cut.is_proven() && exact.is_proven(), "seed {seed}: {cut:?}");
            assert_eq!(scorer.structure(&cut.structure), cut.score);
        }
    }
}

#[test]
fn a_search_that_is_stopped_has_a_bound_that_holds() {
    let table = sampled(12, 300, 77);
    let scorer = Scorer::new(&table, ScoreKind::Aic).unwrap();
    let candidates = Candidates::all(&scorer, &CandidateConfig::default()).unwrap();
    let best = certify(&candidates, None, &ExactConfig::default(), &Limits::default()).unwrap();
    for max_nodes in [0, 1, 2, 5] {
        for max_group in [0, 5] {
            let config = ExactConfig { start: ONE, max_subsets: 0, max_group, max_nodes };
            let found = certify(&candidates, None, &config, &Limits::default()).unwrap();
            assert!(found.score <= best.score && found.upper_bound >= best.score.nats() - 1e-6, "{found:?}");
            assert!(found.n_nodes <= max_nodes * found.components.len() as u64);
        }
    }
    let stop = || true;
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let config = ExactConfig { max_subsets: 0, ..ExactConfig::default() };
    let found = certify(&candidates, None, &config, &limits).unwrap();
    assert!(found.upper_bound >= best.score.nats() && found.score > Points::MIN);
}

#[test]
fn components_are_solved_one_by_one() {
    let table = sampled(12, 2000, 5);
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    let candidates = Candidates::all(&scorer, &CandidateConfig::default()).unwrap();
    let found = certify(&candidates, None, &ExactConfig::default(), &Limits::default()).unwrap();
    assert_eq!(found.components.iter().sum::<usize>(), 12);
    let config = ExactConfig { max_subsets: 3, start: ONE, ..ExactConfig::default() };
    let mixed = certify(&candidates, Some(&found.structure), &config, &Limits::default()).unwrap();
    assert_eq!((mixed.score, mixed.is_proven()), (found.score, true));
}
