//! Hill climbing: from the best known graph to an optimum, and on from a perturbed one.

use std::fs;
use std::sync::Mutex;

use pace_graph::enumerate::{Enas, Mutate};
use pace_graph::{Dag, GraphKey};
use pace_search::space::Open;
use pace_search::strategy::{LocalSearchConfig, Restart, Setting, Strategy, StrategyConfig};
use pace_search::{Header, Journal, Known, Origin, run};
use rand::Rng;
use tempfile::TempDir;

use crate::search_replay::{Peak, assert_replays, n_edits, rounds, searched};
use crate::search_sample::{Moves, chains};

/// The edits of a search, as they were made.
#[derive(Default)]
struct Recorded(Mutex<Vec<(Dag, Dag)>>);

impl Mutate for Recorded {
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        Moves.neighbours(dag)
    }

    fn mutate(&self, dag: &Dag, rng: &mut dyn Rng) -> Dag {
        let edited = Moves.mutate(dag, rng);
        self.0.lock().unwrap().push((dag.clone(), edited.clone()));
        edited
    }
}

/// A peak, and chains far from it whose scores are known.
fn world(seed: u64) -> (Peak, Known) {
    let dags = chains(5, seed).dags().to_vec();
    let peak = Peak(dags[0].clone());
    let known = peak.known(dags[1..].iter().cloned());
    assert!(known.best().unwrap().1 <= -4.0, "the climb takes a few steps");
    (peak, known)
}

fn with_climber<T>(
    config: &LocalSearchConfig,
    known: Option<&Known>,
    mutate: &dyn Mutate,
    act: impl FnOnce(&mut dyn Strategy) -> T,
) -> T {
    let enas = Enas::default();
    let open = Open::new(&enas);
    let setting = Setting { mutate: Some(mutate), known, ..Setting::new(&open) };
    act(&mut *StrategyConfig::Local(config.clone()).init(setting, 7).unwrap())
}

#[test]
fn every_climb_goes_from_its_start_to_better_neighbours_and_the_first_from_the_best_known_graph() {
    for (batch, seed) in [(1, 4), (5, 5)] {
        let (peak, known) = world(seed);
        let history = with_climber(&LocalSearchConfig::hill_climbing(), Some(&known), &Moves, |climber| {
            searched(climber, &peak, 800, batch)
        });
        let (mut at, mut score) = known.best().unwrap().clone();
        for round in rounds(&history) {
            for entry in round {
                match entry.candidate.origin {
                    Origin::Neighbour => assert_eq!(n_edits(&at, &entry.candidate.dag), 1, "query {}", entry.id),
                    origin => assert_eq!((origin, round.len()), (Origin::Mutation, 1)),
                }
            }
            let is_start = round[0].candidate.origin == Origin::Mutation;
            for entry in round {
                if is_start || entry.score().unwrap() > score {
                    (at, score) = (entry.candidate.dag.clone(), entry.score().unwrap());
                }
            }
        }
        assert_eq!(history.trace().best(), Some(0.0), "batches of {batch}");
    }
}

#[test]
fn after_an_optimum_it_continues_at_the_best_graph_with_as_many_edits_as_configured() {
    let (peak, known) = world(4);
    for n_edits in [2, 3] {
        let config = LocalSearchConfig { restart: Restart::Perturb { n_edits }, ..LocalSearchConfig::hill_climbing() };
        let (history, recorded) = (
            with_climber(&config, Some(&known), &Moves, |climber| searched(climber, &peak, 800, 5)),
            Recorded::default(),
        );
        let all = rounds(&history);
        let starts: Vec<usize> =
            (0..all.len()).filter(|&round| all[round][0].candidate.origin == Origin::Mutation).collect();
        assert!(starts.len() >= 2, "{} restarts", starts.len());
        for &start in &starts {
            let before = crate::search_replay::before_round(&history, start);
            let (best, _) = before.best().unwrap();
            assert_eq!(best.score(), Some(0.0), "a climb of one peak ends on it");
            for neighbour in Moves.neighbours(&best.candidate.dag) {
                let key = GraphKey::of(&neighbour);
                assert!(before.contains(&key) || known.contains(&key), "a neighbour is left");
            }
            recorded.0.lock().unwrap().clear();
            let asked = with_climber(&config, Some(&known), &recorded, |climber| climber.propose(&before, 5).unwrap());
            assert_eq!(asked, [all[start][0].candidate.clone()]);
            let steps = recorded.0.lock().unwrap();
            assert_eq!(steps.len() % n_edits, 0, "every attempt has the same number of edits");
            let last = &steps[steps.len() - n_edits..];
            assert_eq!(last[0].0, best.candidate.dag);
            assert!(last.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert_eq!(last[n_edits - 1].1, asked[0].dag);
        }
    }
}

#[test]
fn a_known_graph_that_no_query_has_reached_is_where_it_continues() {
    // The peak itself is known: nothing can be better, so every restart is an edit of it.
    let (peak, _) = world(4);
    let known = peak.known([peak.0.clone()]);
    let config = LocalSearchConfig { restart: Restart::Perturb { n_edits: 1 }, ..LocalSearchConfig::hill_climbing() };
    let recorded = Recorded::default();
    let history = with_climber(&config, Some(&known), &recorded, |climber| searched(climber, &peak, 60, 1));
    // All edits of the peak were asked before the first restart, so one edit leads nowhere new and a random graph is asked.
    let n_around = Moves.neighbours(&peak.0).len();
    let origins: Vec<Origin> = history.entries().iter().map(|entry| entry.candidate.origin).collect();
    assert!(origins[..n_around].iter().all(|&origin| origin == Origin::Neighbour));
    assert_eq!(origins[n_around], Origin::Random);
    assert!(recorded.0.lock().unwrap().iter().all(|(from, _)| *from == peak.0));
}

#[test]
fn without_known_graphs_it_starts_at_a_random_one() {
    let (peak, _) = world(4);
    let history =
        with_climber(&LocalSearchConfig::hill_climbing(), None, &Moves, |climber| searched(climber, &peak, 400, 1));
    assert_eq!(history.entries()[0].candidate.origin, Origin::Random);
    assert!(history.entries()[1..].iter().all(|entry| entry.candidate.origin != Origin::Random));
    assert_eq!(history.trace().best(), Some(0.0));
}

#[test]
fn killed_and_resumed_it_climbs_as_if_undisturbed() {
    let (peak, known) = world(4);
    let (config, budget) = (LocalSearchConfig::hill_climbing(), 300);
    for batch in [1, 5] {
        let whole = with_climber(&config, Some(&known), &Moves, |climber| searched(climber, &peak, budget, batch));
        assert!(whole.entries().iter().any(|entry| entry.candidate.origin == Origin::Mutation), "it restarts");
        assert_replays(&whole, |before| {
            with_climber(&config, Some(&known), &Moves, |climber| climber.propose(before, batch).unwrap())
        });
    }
    // The same through a file that ends in the middle of a round, in the first climb and in a later one.
    let folder = TempDir::new().unwrap();
    let (path, header) = (folder.path().join("journal"), Header::new("climb", 7, serde_json::Value::Null));
    let search = |budget| {
        let mut journal = Journal::open(&path, header.clone()).unwrap();
        with_climber(&config, Some(&known), &Moves, |climber| {
            run(climber, &peak, &mut journal, budget, 5, &mut |_| {}).unwrap();
        });
        journal.history().clone()
    };
    for n_asked in [23, 287, 300] {
        // A budget within a round cuts it: so ask for the whole round, and drop the end of the file.
        search(n_asked + 10);
        let text = fs::read_to_string(&path).unwrap();
        let n_told = text.lines().take_while(|line| !line.contains(&format!("\"tell\":{n_asked},"))).count();
        fs::write(&path, text.split_inclusive('\n').take(n_told).collect::<String>()).unwrap();
    }
    let whole = with_climber(&config, Some(&known), &Moves, |climber| searched(climber, &peak, 340, 5));
    assert_eq!(search(340), whole);
}
