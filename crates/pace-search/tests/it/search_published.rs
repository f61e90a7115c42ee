//! The published loop, with its mistakes.

use pace_graph::Dag;
use pace_search::oracle::Oracle;
use pace_search::strategy::{BayesianOptimisationConfig, Protocol, StrategyConfig};
use pace_search::{Error, Header, History, Journal, Origin, run};

use crate::search_sample::{bayes, chains, with_strategy};

/// Scores by a function.
struct Score(fn(&Dag) -> f64);

impl Oracle for Score {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        Ok(dags.iter().map(self.0).collect())
    }
}

fn searched(config: BayesianOptimisationConfig, oracle: Score, budget: usize) -> History {
    let config = StrategyConfig::Bayes(Box::new(config));
    let mut journal = Journal::in_memory(Header::new("test", 1, serde_json::Value::Null));
    with_strategy(&config, &chains(200, 1), 1, |strategy| {
        run(strategy, &oracle, &mut journal, budget, 5, &mut |_| {}).unwrap()
    });
    journal.history().clone()
}

fn origins(history: &History) -> Vec<Origin> {
    history.entries().iter().map(|entry| entry.candidate.origin).collect()
}

fn published(protocol: Protocol, local_search: bool) -> BayesianOptimisationConfig {
    BayesianOptimisationConfig { initial: 16, protocol, local_search, ..bayes() }
}

#[test]
fn it_runs_past_its_budget() {
    let edges = || Score(|dag| dag.n_edges() as f64);
    assert_eq!(searched(published(Protocol::Published, false), edges(), 31).n_asked(), 32);
    assert_eq!(searched(published(Protocol::Published, true), edges(), 31).n_asked(), 33);
    assert_eq!(searched(published(Protocol::Ours, true), edges(), 31).n_asked(), 31);
}

#[test]
fn it_starts_over_after_twenty_rounds() {
    use Origin::{Acquisition, Random};
    let history = searched(published(Protocol::Published, false), Score(|_| 0.5), 16 + 100 + 16 + 10);
    let mut expected = vec![Random; 16];
    expected.extend([Acquisition; 100]);
    expected.extend([Random; 16]);
    expected.extend([Acquisition; 11]);
    assert_eq!(origins(&history), expected);
}

#[test]
fn its_local_search_skips_what_was_just_shown() {
    use Origin::{Acquisition, Neighbour, Random};
    // All scores are equal, so every one of the best was just shown, and no neighbour is ever asked.
    let history = searched(published(Protocol::Published, true), Score(|_| 0.5), 30);
    assert!(!origins(&history).contains(&Neighbour));
    // Scores that differ: up to 5 neighbours of the best, or 1, after each round of 5.
    let spread =
        || Score(|dag| dag.ops().enumerate().map(|(node, op)| f64::from(op) * 1.37_f64.powi(node as i32)).sum());
    for (protocol, n_neighbours) in [(Protocol::Published, 1..=5), (Protocol::PublishedNas301, 1..=1)] {
        let history = searched(published(protocol, true), spread(), 60);
        let mut rounds: Vec<Vec<Origin>> = vec![Vec::new(); history.n_rounds()];
        history.entries().iter().for_each(|entry| rounds[entry.round].push(entry.candidate.origin));
        assert_eq!(rounds[0], [Random; 16]);
        assert_eq!(rounds[1], [Acquisition; 5]);
        let asked: Vec<usize> = rounds.iter().filter(|round| round[0] == Neighbour).map(Vec::len).collect();
        assert!(!asked.is_empty() && asked.iter().all(|n| n_neighbours.contains(n)), "{asked:?}");
        // The nearest to a proposed sample is itself.
        let neighbours = history.entries().iter().filter(|entry| entry.candidate.origin == Neighbour);
        let repeated = neighbours.filter(|entry| {
            history.entries()[..entry.id].iter().any(|other| other.candidate.place == entry.candidate.place)
        });
        assert!(repeated.count() > 0);
    }
}
