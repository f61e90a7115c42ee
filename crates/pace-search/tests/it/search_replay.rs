//! A landscape with one known peak, and the check that a search follows from its history alone.

use pace_graph::{Dag, canonical};
use pace_search::oracle::Oracle;
use pace_search::strategy::Strategy;
use pace_search::{Candidate, Entry, Error, Header, History, Journal, run};

use crate::search_sample::one_hot;

/// Minus the number of edits between a chain and this one: 0 at the peak, and every graph but the peak has a better neighbour.
pub struct Peak(pub Dag);

impl Peak {
    pub fn score(&self, dag: &Dag) -> f64 {
        -(n_edits(&self.0, dag) as f64)
    }

    /// Graphs with their scores.
    pub fn known(&self, dags: impl IntoIterator<Item = Dag>) -> pace_search::Known {
        pace_search::Known::new(dags.into_iter().map(|dag| (dag.clone(), self.score(&dag))).collect())
    }
}

impl Oracle for Peak {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        Ok(dags.iter().map(|dag| self.score(dag)).collect())
    }
}

/// How many edits lead from one chain to another. Another operation changes two numbers of a one-hot vector, a skip one.
pub fn n_edits(a: &Dag, b: &Dag) -> usize {
    const N_OPS: usize = 36;
    let (a, b) = (one_hot(&canonical(a)), one_hot(&canonical(b)));
    let differ = |a: &[f32], b: &[f32]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    differ(&a[..N_OPS], &b[..N_OPS]) / 2 + differ(&a[N_OPS..], &b[N_OPS..])
}

/// The same graph with its nodes numbered backwards.
pub fn backwards(dag: &Dag) -> Dag {
    dag.relabel(&(0..dag.n_nodes()).rev().collect::<Vec<_>>())
}

/// The history of a whole search.
pub fn searched(strategy: &mut dyn Strategy, oracle: &dyn Oracle, budget: usize, batch: usize) -> History {
    let mut journal = Journal::in_memory(Header::new("test", 0, serde_json::Value::Null));
    run(strategy, oracle, &mut journal, budget, batch, &mut |_| {}).unwrap();
    journal.history().clone()
}

/// The queries of each round.
pub fn rounds(history: &History) -> Vec<&[Entry]> {
    history.entries().chunk_by(|a, b| a.round == b.round).collect()
}

/// Asserts that a new strategy, given the rounds before, proposes each round of a search again; but for the last, which the
/// budget may have cut.
pub fn assert_replays(history: &History, mut propose: impl FnMut(&History) -> Vec<Candidate>) {
    let rounds = rounds(history);
    for (number, round) in rounds[..rounds.len() - 1].iter().enumerate() {
        let asked: Vec<Candidate> = round.iter().map(|entry| entry.candidate.clone()).collect();
        assert_eq!(propose(&before_round(history, number)), asked, "round {number}");
    }
}

/// The history at the beginning of a round.
pub fn before_round(history: &History, round: usize) -> History {
    let mut before = History::default();
    for entries in &rounds(history)[..round] {
        before.ask(entries.iter().map(|entry| entry.candidate.clone()));
        entries.iter().for_each(|entry| before.tell(entry.id, entry.outcome.clone().unwrap()).unwrap());
    }
    before
}
