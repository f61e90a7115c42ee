//! Scores against their definitions.

use pace_bn::{ScoreKind, Scorer, Structure, Table};

use crate::support::{KINDS, all_structures, sampled, slow_family, subsets};

#[test]
fn families_score_as_defined() {
    for seed in 0..4 {
        let table = sampled(6, 300, seed);
        for kind in KINDS {
            let scorer = Scorer::new(&table, kind).unwrap();
            for variable in 0..6 {
                for parents in subsets(6, variable, 5) {
                    let (found, wanted) =
                        (scorer.family(variable, &parents).nats(), slow_family(&table, kind, variable, &parents));
                    assert!((found - wanted).abs() < 1e-8, "{kind} {variable} {parents:?}: {found} for {wanted}");
                }
            }
        }
    }
}

#[test]
fn configurations_beyond_a_dense_table_are_counted_too() {
    // 12 variables of 3 levels: 531,441 configurations, far more than rows.
    let table = sampled(12, 200, 9);
    let parents: Vec<u16> = (1..12).collect();
    for kind in KINDS {
        let scorer = Scorer::new(&table, kind).unwrap();
        let (found, wanted) = (scorer.family(0, &parents).nats(), slow_family(&table, kind, 0, &parents));
        // The price of a parameter is rounded to 2^-40, and there are 10^5 of them.
        assert!((found - wanted).abs() < 1e-12 * wanted.abs(), "{kind}: {found} for {wanted}");
    }
}

#[test]
fn many_levels_are_counted_too() {
    let names = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let levels = vec![(0..300).map(|level| level.to_string()).collect::<Vec<_>>(); 3];
    let column = |factor: u32| (0..5000_u32).map(|row| (row * factor % 300) as u16).collect();
    let table = Table::new(names, levels, vec![column(7), column(11), column(13)]).unwrap();
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    let (found, wanted) = (scorer.family(2, &[0, 1]).nats(), slow_family(&table, ScoreKind::Bic, 2, &[0, 1]));
    assert!((found - wanted).abs() < 1e-6 * wanted.abs(), "{found} for {wanted}");
}

#[test]
fn equivalent_structures_score_equally_to_the_last_bit() {
    let table = sampled(4, 150, 3);
    let scorer = Scorer::new(&table, ScoreKind::Bdeu { sample_size: 3.0 }).unwrap();
    let structures = all_structures(4);
    assert_eq!(structures.len(), 543);
    let mut by_class: Vec<(pace_bn::Cpdag, pace_bn::Points)> = Vec::new();
    for structure in &structures {
        let (class, score) = (pace_bn::Cpdag::of(structure), scorer.structure(structure));
        match by_class.iter().find(|(known, _)| *known == class) {
            Some((_, known)) => assert_eq!(*known, score),
            None => by_class.push((class, score)),
        }
    }
    assert_eq!(by_class.len(), 185);
}

#[test]
fn families_in_parallel_are_those_one_by_one() {
    let table = sampled(8, 400, 5);
    let families: Vec<(u16, Vec<u16>)> = (0..8)
        .flat_map(|variable| subsets(8, variable, 3).into_iter().map(move |parents| (variable, parents)))
        .collect();
    let (one, all) = (Scorer::new(&table, ScoreKind::Bic).unwrap(), Scorer::new(&table, ScoreKind::Bic).unwrap());
    let scores = all.families(&families);
    for ((variable, parents), score) in families.iter().zip(scores) {
        assert_eq!(one.family(*variable, parents), score);
    }
    assert_eq!(all.n_families(), families.len() as u64);
}

#[test]
fn an_empty_structure_is_a_sum_of_margins() {
    let table = sampled(5, 100, 6);
    let scorer = Scorer::new(&table, ScoreKind::Aic).unwrap();
    let sum: f64 = (0..5).map(|variable| slow_family(&table, ScoreKind::Aic, variable, &[])).sum();
    assert!((scorer.structure(&Structure::empty(5)).nats() - sum).abs() < 1e-9);
}

#[test]
fn scores_are_named_as_users_write_them() {
    for kind in KINDS {
        assert_eq!(kind.to_string().parse::<ScoreKind>().unwrap(), kind);
    }
    for wrong in ["BIC", "bdeu:", "bdeu:-1", "bdeu:inf", "k2"] {
        assert!(wrong.parse::<ScoreKind>().is_err(), "{wrong}");
    }
}
