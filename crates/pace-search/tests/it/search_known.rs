//! Scores that are known before a search: every strategy starts from them, and none asks for them.

use std::collections::HashSet;

use faer::MatRef;
use pace_graph::enumerate::{Enas, Mutate};
use pace_graph::{Dag, GraphKey, Vectors};
use pace_search::space::{Criterion, Embedded, Encoded, Open, Pool, Taken};
use pace_search::strategy::{
    BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Reach, Setting, StrategyConfig,
};
use pace_search::{History, Known, Matrix, Origin};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::search_encoded::features;
use crate::search_replay::{Peak, backwards, n_edits, searched};
use crate::search_sample::{Moves, bayes, chains, pool};

fn edits(n_centres: usize) -> BayesianOptimisationConfig {
    let reach = Reach::Edits { n_centres, n_twice: 10, n_random: 5 };
    BayesianOptimisationConfig { initial: 0, reach, ..bayes() }
}

/// Every strategy that can start from known scores.
fn configs() -> Vec<StrategyConfig> {
    vec![
        StrategyConfig::Random,
        StrategyConfig::Evolution(EvolutionConfig { population: 6, tournament: 3 }),
        StrategyConfig::Local(LocalSearchConfig { n_starts: 3, ..LocalSearchConfig::default() }),
        StrategyConfig::Local(LocalSearchConfig::hill_climbing()),
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig { initial: 0, ..bayes() })),
        StrategyConfig::Bayes(Box::new(edits(2))),
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig { local_search: true, ..edits(2) })),
    ]
}

fn keys(history: &History) -> HashSet<GraphKey> {
    history.entries().iter().map(|entry| entry.candidate.key()).collect()
}

#[test]
fn the_best_comes_first_and_classes_are_known() {
    let dags = chains(3, 1).dags().to_vec();
    let known = Known::new(vec![(dags[0].clone(), 1.0), (dags[1].clone(), 3.0), (dags[2].clone(), 1.0)]);
    assert_eq!(known.best(), Some(&(dags[1].clone(), 3.0)));
    assert_eq!(known.graphs().iter().map(|(dag, _)| dag).collect::<Vec<_>>(), [&dags[1], &dags[0], &dags[2]]);
    assert!(dags.iter().all(|dag| known.contains(&GraphKey::of(&backwards(dag)))));
    assert!(!known.contains(&GraphKey::of(&chains(4, 1).dags()[3])));
    assert!(Known::default().best().is_none());
}

#[test]
fn no_strategy_asks_for_a_graph_isomorphic_to_a_known_one() {
    // Some neighbours of the best known graph are known, too, and all under another numbering.
    let dags = chains(8, 2).dags().to_vec();
    let peak = Peak(dags[0].clone());
    let best = dags[1..].iter().max_by(|a, b| peak.score(a).total_cmp(&peak.score(b))).unwrap();
    let around = Moves.neighbours(best).into_iter().step_by(2).map(|dag| backwards(&dag));
    let known = peak.known(around.chain(dags[1..].iter().cloned()));
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    for config in configs() {
        let setting = Setting { space: &encoded, embedded: Some(&encoded), mutate: Some(&Moves), known: Some(&known) };
        let history = searched(&mut *config.init(setting, 3).unwrap(), &peak, 60, 4);
        assert_eq!((keys(&history).len(), history.n_asked()), (60, 60), "{config:?}");
        assert!(keys(&history).iter().all(|key| !known.contains(key)), "{config:?}");
    }
}

#[test]
fn what_is_left_of_a_pool_is_asked_and_no_more() {
    let listed = chains(60, 3);
    let peak = Peak(listed.dags()[0].clone());
    let known = peak.known(listed.dags()[20..].iter().map(backwards).chain(listed.dags()[20..].iter().cloned()));
    let (pool, rest) = (pool(&listed), listed.dags()[..20].iter().map(GraphKey::of).collect::<HashSet<_>>());
    for config in configs() {
        let setting = Setting { space: &pool, embedded: Some(&pool), mutate: Some(&Moves), known: Some(&known) };
        let history = searched(&mut *config.init(setting, 3).unwrap(), &peak, 1000, 4);
        assert_eq!((keys(&history), history.n_asked()), (rest.clone(), 20), "{config:?}");
    }
}

#[test]
fn known_rows_do_not_crowd_others_out_of_a_pool() {
    /// Wants the first rows, and sorts the rest anew after each choice.
    struct First;
    impl Criterion for First {
        fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
            x.col(0).iter().map(|place| -place).collect()
        }

        fn imagine(&mut self, _: &[f64]) -> bool {
            true
        }
    }
    let listed = chains(2600, 4);
    let places = (0..listed.dags().len()).map(|place| vec![place as f32]);
    let pool = Pool::new(&listed, Vectors::from_rows(places, 1)).unwrap();
    let known = Known::new(listed.dags()[..2500].iter().map(|dag| (dag.clone(), 0.0)).collect());
    let taken = Taken::default().or_known(Some(&known));
    let near = Matrix::zeros(0, 1);
    let found = pool.propose(5, &taken, near.as_ref(), &mut First, &mut ChaCha8Rng::seed_from_u64(0)).unwrap();
    assert_eq!(
        found.iter().filter_map(|candidate| candidate.place).collect::<Vec<_>>(),
        [2500, 2501, 2502, 2503, 2504]
    );
    assert!(!taken.is_empty() && Taken::default().is_empty());
}

#[test]
fn local_search_climbs_from_the_best_known_graph() {
    let dags = chains(30, 5).dags().to_vec();
    let peak = Peak(dags[0].clone());
    let known = peak.known(dags[1..].iter().cloned());
    let enas = Enas::default();
    let open = Open::new(&enas);
    for batch in [1, 5] {
        let setting = Setting { mutate: Some(&Moves), known: Some(&known), ..Setting::new(&open) };
        let mut local = StrategyConfig::Local(LocalSearchConfig::default()).init(setting, 3).unwrap();
        let first = local.propose(&History::default(), batch).unwrap();
        assert_eq!(first.len(), batch);
        for candidate in first {
            assert_eq!(candidate.origin, Origin::Neighbour);
            assert_eq!(n_edits(&known.best().unwrap().0, &candidate.dag), 1);
        }
    }
}

#[test]
fn the_first_children_of_evolution_are_edits_of_the_best_known_graphs() {
    let dags = chains(30, 6).dags().to_vec();
    let peak = Peak(dags[0].clone());
    let known = peak.known(dags[1..].iter().cloned());
    let enas = Enas::default();
    let open = Open::new(&enas);
    let setting = Setting { mutate: Some(&Moves), known: Some(&known), ..Setting::new(&open) };
    let config = EvolutionConfig { population: 4, tournament: 2 };
    let children =
        StrategyConfig::Evolution(config).init(setting, 3).unwrap().propose(&History::default(), 12).unwrap();
    let parents: Vec<&Dag> = known.graphs()[..4].iter().map(|(dag, _)| dag).collect();
    assert_eq!(children.len(), 12);
    for child in &children {
        assert!(parents.iter().any(|parent| n_edits(parent, &child.dag) == 1), "{}", child.dag);
    }
    // A population larger than what is known is filled with random graphs first.
    let config = EvolutionConfig { population: 31, tournament: 2 };
    let mixed = StrategyConfig::Evolution(config).init(setting, 3).unwrap().propose(&History::default(), 12).unwrap();
    let origins: Vec<Origin> = mixed.iter().map(|candidate| candidate.origin).collect();
    assert_eq!(origins[..2], [Origin::Random; 2]);
    assert_eq!(origins[2..], [Origin::Mutation; 10]);
}

#[test]
fn the_first_guided_round_learns_from_known_scores() {
    let dags = chains(200, 7).dags().to_vec();
    let peak = Peak(dags[0].clone());
    let known = peak.known(dags[1..].iter().cloned());
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    let first = |known: &Known, config: BayesianOptimisationConfig| -> Vec<Dag> {
        let setting = Setting { space: &encoded, embedded: Some(&encoded), mutate: Some(&Moves), known: Some(known) };
        let mut strategy = StrategyConfig::Bayes(Box::new(config)).init(setting, 3).unwrap();
        strategy.propose(&History::default(), 5).unwrap().into_iter().map(|candidate| candidate.dag).collect()
    };
    let one_edit =
        BayesianOptimisationConfig { reach: Reach::Edits { n_centres: 1, n_twice: 0, n_random: 0 }, ..edits(1) };
    let (centre, best) = known.best().unwrap();
    let better = |dags: &[Dag]| dags.iter().filter(|dag| peak.score(dag) > *best).count();
    let around = Moves.neighbours(centre);
    let chosen = first(&known, one_edit.clone());
    assert!(chosen.iter().all(|dag| n_edits(centre, dag) == 1));
    assert!(3 * better(&around) < around.len(), "{} of all {} edits improve", better(&around), around.len());
    assert!(better(&chosen) >= 4, "{} of the 5 chosen improve", better(&chosen));
    // The opposite scores lead elsewhere, under any reach.
    let opposite = Known::new(known.graphs().iter().map(|(dag, score)| (dag.clone(), -score)).collect());
    let mean = |dags: &[Dag]| dags.iter().map(|dag| peak.score(dag)).sum::<f64>() / dags.len() as f64;
    let space = BayesianOptimisationConfig { initial: 0, ..bayes() };
    for config in [one_edit, edits(3), space] {
        let (up, down) = (mean(&first(&known, config.clone())), mean(&first(&opposite, config)));
        assert!(up > down + 2.0, "means of {up} and {down}");
    }
}

#[test]
fn random_queries_of_a_search_by_edits_are_edits_of_the_best_known_graph() {
    let dags = chains(10, 10).dags().to_vec();
    let peak = Peak(dags[0].clone());
    // All edits of the best but three are known.
    let around = Moves.neighbours(&dags[1]);
    let known = Known::new(around[3..].iter().map(|dag| (dag.clone(), 0.0)).chain([(dags[1].clone(), 1.0)]).collect());
    let enas = Enas::default();
    let open = Open::new(&enas);
    let encoded = Encoded::new(&open, &features);
    let setting = Setting { space: &encoded, embedded: Some(&encoded), mutate: Some(&Moves), known: Some(&known) };
    let config = BayesianOptimisationConfig { initial: 8, ..edits(1) };
    let history = searched(&mut *StrategyConfig::Bayes(Box::new(config)).init(setting, 3).unwrap(), &peak, 10, 2);
    let distances: Vec<usize> =
        history.entries()[..8].iter().map(|entry| n_edits(&dags[1], &entry.candidate.dag)).collect();
    assert_eq!(distances[..3], [1; 3]);
    assert!(distances[3..].iter().all(|&distance| distance > 1), "then random graphs: {distances:?}");
    let origins: Vec<Origin> = history.entries().iter().map(|entry| entry.candidate.origin).collect();
    assert_eq!((&origins[..8], &origins[8..]), (&[Origin::Random; 8][..], &[Origin::Acquisition; 2][..]));
    assert!(keys(&history).iter().all(|key| !known.contains(key)));
}

#[test]
fn known_graphs_outside_the_space_are_no_trouble() {
    let (listed, others) = (chains(40, 8), chains(30, 9));
    let strangers: Vec<Dag> = others.dags().iter().filter(|dag| !listed.dags().contains(dag)).cloned().collect();
    let peak = Peak(listed.dags()[0].clone());
    let known = peak.known(strangers);
    let pool = pool(&listed);
    for config in configs() {
        let setting = Setting { space: &pool, embedded: Some(&pool), mutate: Some(&Moves), known: Some(&known) };
        let history = searched(&mut *config.init(setting, 3).unwrap(), &peak, 60, 4);
        assert_eq!(history.n_asked(), 40, "{config:?}");
    }
}
