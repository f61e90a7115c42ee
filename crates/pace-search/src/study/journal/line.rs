//! One line of a [`Journal`](super::Journal): a query or an answer.

use pace_graph::Dag;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::candidate::{Candidate, Origin};
use crate::history::Outcome;

/// The content of a line.
pub(super) enum Line {
    Blank,
    Ask { id: usize, left: usize, candidate: Box<Candidate> },
    Tell { id: usize, outcome: Outcome },
}

#[derive(Serialize, Deserialize)]
struct Ask {
    ask: usize,
    round: usize,
    /// Lines of this round that still follow.
    left: usize,
    by: Origin,
    graph: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vector: Option<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
struct Tell {
    tell: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

pub(super) fn ask(candidate: &Candidate, id: usize, round: usize, left: usize) -> String {
    let Candidate { dag, place, vector, origin } = candidate;
    let (graph, place, vector) = (dag.to_string(), *place, vector.clone());
    serde_json::to_string(&Ask { ask: id, round, left, by: *origin, graph, place, vector })
        .expect("a query is plain data")
}

pub(super) fn tell(id: usize, outcome: &Outcome) -> String {
    let (score, failed) = match outcome {
        Outcome::Score(score) => (Some(*score), None),
        Outcome::Failed(reason) => (None, Some(reason.clone())),
    };
    serde_json::to_string(&Tell { tell: id, score, failed }).expect("an answer is plain data")
}

/// Parses a line; the error says in words what is wrong with it.
pub(super) fn parse(text: &[u8]) -> Result<Line, String> {
    if text.trim_ascii().is_empty() {
        return Ok(Line::Blank);
    }
    let value: Value = serde_json::from_slice(text).or_else(|error| {
        // Python writes NaN and Infinity, which are not JSON; as scores they mean failure.
        let plain = String::from_utf8_lossy(text).replace("-Infinity", "null").replace("Infinity", "null");
        serde_json::from_str(&plain.replace("NaN", "null"))
            .map_err(|_| format!("this is not a JSON object ({error}); mend or remove the line"))
    })?;
    let explain = |error: serde_json::Error| format!("{error}; mend or remove the line");
    if value.get("ask").is_some() {
        let line: Ask = serde_json::from_value(value).map_err(explain)?;
        let dag: Dag =
            line.graph.parse().map_err(|error| format!("the graph cannot be read: {error}; mend the line"))?;
        let candidate = Candidate { dag, place: line.place, vector: line.vector, origin: line.by };
        return Ok(Line::Ask { id: line.ask, left: line.left, candidate: Box::new(candidate) });
    }
    if value.get("tell").is_some() {
        let no_number = value.get("score").is_some_and(Value::is_null);
        let line: Tell = serde_json::from_value(value).map_err(explain)?;
        let outcome = match (line.score, line.failed) {
            (Some(score), None) => Outcome::of(score),
            (None, Some(reason)) => Outcome::Failed(reason),
            (None, None) if no_number => Outcome::of(f64::NAN),
            _ => return Err("an answer has either 'score' or 'failed'; mend the line".to_owned()),
        };
        return Ok(Line::Tell { id: line.tell, outcome });
    }
    Err("neither 'ask' nor 'tell'; mend or remove the line".to_owned())
}
