//! Laws of every search: independent of the order of columns, reproducible, and never worse than its start.

use pace_bn::{
    CandidateConfig, Candidates, ClimbConfig, Cpdag, ExactConfig, Found, LearnConfig, Limits, Method, NearConfig,
    OrderConfig, Points, ScoreKind, Scorer, Structure, Table, certify, climb, learn, search_orders,
};

use crate::support::{read, sampled, sampled_csv};

/// Every search by name: what it finds in a table.
fn searches(table: &Table, seed: u64) -> Vec<(&'static str, Structure, Points)> {
    let scorer = Scorer::new(table, ScoreKind::Bic).unwrap();
    let empty = Structure::empty(table.n_variables());
    let limits = Limits::default();
    let restarts = ClimbConfig { restarts: 3, seed, ..ClimbConfig::default() };
    let candidates = Candidates::all(&scorer, &CandidateConfig::default()).unwrap();
    let orders = OrderConfig { rounds: 5, disturbance: 2, seed };
    let exact = certify(&candidates, None, &ExactConfig::default(), &limits).unwrap();
    let cut = ExactConfig { max_subsets: 0, start: orders.clone(), ..ExactConfig::default() };
    let cut = certify(&candidates, None, &cut, &limits).unwrap();
    let of = |name, found: Found| (name, found.structure, found.score);
    vec![
        of("climb", climb(&scorer, &empty, &ClimbConfig::default(), &limits)),
        of("restarts", climb(&scorer, &empty, &restarts, &limits)),
        of("tabu", climb(&scorer, &empty, &ClimbConfig { seed, ..ClimbConfig::tabu() }, &limits)),
        of("orders", search_orders(&candidates, None, &orders, &limits)),
        ("exact", exact.structure, exact.score),
        ("cut", cut.structure, cut.score),
    ]
}

#[test]
fn no_search_depends_on_the_order_of_columns() {
    let orders: [Vec<usize>; 3] = [(0..9).collect(), (0..9).rev().collect(), vec![4, 7, 1, 0, 8, 2, 6, 3, 5]];
    let [one, other, third] = orders.map(|order| searches(&read(&sampled_csv(9, 800, 21, &order)).unwrap(), 7));
    for ((a, b), c) in one.iter().zip(&other).zip(&third) {
        assert_eq!((a, a), (b, c));
        assert_eq!(Cpdag::of(&a.1), Cpdag::of(&b.1));
    }
}

#[test]
fn scores_of_searches_are_scores_of_their_structures() {
    for seed in 0..5 {
        let table = sampled(9, 400, 60 + seed);
        let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
        let found = searches(&table, seed);
        assert_eq!(found, searches(&table, seed), "the same seed gives the same");
        let best = found.iter().find(|(name, ..)| *name == "exact").unwrap().2;
        for (name, structure, score) in &found {
            assert_eq!(scorer.structure(structure), *score, "{name}");
            let is_small = (0..9).all(|variable| structure.parents(variable).len() <= 3);
            assert!(*score <= best || !is_small, "{name} beats the exact search");
        }
        let score = |name: &str| found.iter().find(|(known, ..)| *known == name).unwrap().2;
        assert!(score("tabu") >= score("climb") && score("restarts") >= score("climb"));
    }
}

#[test]
fn a_climb_ends_where_no_move_helps() {
    let table = sampled(7, 500, 31);
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    let found = climb(&scorer, &Structure::empty(7), &ClimbConfig::default(), &Limits::default());
    let parents: Vec<Vec<u16>> = (0..7).map(|variable| found.structure.parents(variable).to_vec()).collect();
    for to in 0..7_u16 {
        for from in (0..7).filter(|&from| from != to) {
            let mut toggled = parents.clone();
            let family = &mut toggled[usize::from(to)];
            let was = family.iter().position(|&parent| parent == from);
            match was {
                Some(at) => drop(family.remove(at)),
                None => family.push(from),
            }
            let mut turned = toggled.clone();
            turned[usize::from(from)].extend(was.map(|_| to));
            for neighbour in [toggled, turned] {
                if let Ok(neighbour) = Structure::new(neighbour) {
                    assert!(scorer.structure(&neighbour) <= found.score);
                }
            }
        }
    }
}

#[test]
fn limits_are_kept_and_progress_is_written_down() {
    let table = sampled(12, 500, 13);
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    let candidates = Candidates::all(&scorer, &CandidateConfig::default()).unwrap();
    let limits = Limits { max_structures: Some(2000), ..Limits::default() };
    let tabu = climb(&scorer, &Structure::empty(12), &ClimbConfig { patience: 10_000, ..ClimbConfig::tabu() }, &limits);
    let orders = search_orders(&candidates, None, &OrderConfig { rounds: 1000, ..OrderConfig::default() }, &limits);
    for found in [tabu, orders] {
        // A step looks at all its neighbours before it asks.
        assert!(found.n_structures >= 2000 && found.n_structures < 2000 + 2 * 12 * 12, "{}", found.n_structures);
        assert!(found.progress.is_sorted_by(|a, b| a.n_structures <= b.n_structures && a.best < b.best));
        assert_eq!(found.progress.last().unwrap().best, found.score);
    }
    let stop = || true;
    let limits = Limits { stop: Some(&stop), ..Limits::default() };
    let found = climb(&scorer, &Structure::empty(12), &ClimbConfig::default(), &limits);
    assert_eq!((found.structure.n_arcs(), found.n_structures), (0, 1));
}

#[test]
fn limits_of_parents_are_kept() {
    let table = sampled(10, 2000, 17);
    let scorer = Scorer::new(&table, ScoreKind::Aic).unwrap();
    for max_parents in 0..3 {
        let config = ClimbConfig { max_parents: Some(max_parents), restarts: 2, ..ClimbConfig::tabu() };
        let found = climb(&scorer, &Structure::empty(10), &config, &Limits::default());
        assert!((0..10).all(|variable| found.structure.parents(variable).len() <= max_parents));
    }
}

#[test]
fn one_call_learns_a_network_by_every_method() {
    let table = sampled(8, 1000, 19);
    let exact = LearnConfig::default();
    let methods = [
        Method::Climb(ClimbConfig::default()),
        Method::Climb(ClimbConfig::tabu()),
        Method::Orders { climb: ClimbConfig::tabu(), near: NearConfig { n_likely: 4, ..NearConfig::default() } },
    ];
    let best = learn(&table, &exact, &Limits::default()).unwrap();
    let summary = pace_bn::Summary::of(&table, &exact, &best);
    assert!(summary.is_proven && summary.gap.unwrap() < 1e-6 && summary.score == best.score);
    for method in methods {
        let found = learn(&table, &LearnConfig { method, ..exact.clone() }, &Limits::default()).unwrap();
        assert!(found.score <= best.score && found.certificate.is_none());
        assert_eq!(found.network.names(), table.names());
    }
}
