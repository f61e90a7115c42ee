//! [`OracleArg`]: who says how good a graph is: a command, or a table of scores.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pace_graph::{Dag, DagSpec, GraphKey, Named};
use pace_kit::Graphs;
use pace_search::Outcome;
use serde_json::{Value, json};

use crate::source::{self, HowArgs, SourceArgs};
use crate::terminal::Terminal;

/// Where scores come from, as written after `--oracle`.
#[derive(Clone, Debug, PartialEq)]
pub enum OracleArg {
    /// A shell command that is started once per graph.
    Command(String),
    /// A file of graphs with scores.
    Table(PathBuf),
}

impl FromStr for OracleArg {
    type Err = String;

    fn from_str(text: &str) -> Result<OracleArg, String> {
        match text.split_once(':') {
            Some(("cmd", command)) if !command.trim().is_empty() => Ok(OracleArg::Command(command.to_owned())),
            Some(("table", path)) if !path.is_empty() => Ok(OracleArg::Table(path.into())),
            _ => {
                Err("it must be cmd:COMMAND, e.g. cmd:./score.sh, or table:FILE, a file of graphs with scores"
                    .to_owned())
            }
        }
    }
}

/// Says how good a graph is. Several threads may ask at once.
#[derive(Debug)]
pub enum Scorer {
    /// By a command.
    Command {
        /// The command, for `sh -c`.
        command: String,
        /// What the graphs look like.
        spec: DagSpec,
        /// How long it may take.
        timeout: Option<Duration>,
    },
    /// By a table.
    Table {
        /// The score of each class of isomorphic graphs.
        scores: HashMap<GraphKey, f64>,
    },
}

impl Scorer {
    /// The scorer of an option; a table comes with its graphs.
    ///
    /// # Errors
    /// If the table cannot be read, or holds no scores.
    pub fn of(
        arg: &OracleArg,
        how: &HowArgs,
        spec: Option<&DagSpec>,
        timeout: Option<Duration>,
        terminal: &Terminal,
    ) -> Result<(Scorer, Option<Graphs>)> {
        match arg {
            OracleArg::Command(command) => {
                let spec = spec.context("a command wants to know the spec of the graphs")?.clone();
                Ok((Scorer::Command { command: command.clone(), spec, timeout }, None))
            }
            OracleArg::Table(path) => {
                let source = SourceArgs { path: path.clone(), how: how.clone() };
                let graphs = source::load(&source, spec.cloned(), terminal)?;
                let (rows, targets) = graphs.scored_at_least(1)?;
                let mut scores = HashMap::with_capacity(rows.len());
                for (row, target) in rows.into_iter().zip(targets) {
                    let key = GraphKey::of(&graphs.dags[row]);
                    if scores.insert(key, target).is_some_and(|other| other != target) {
                        terminal.warn(format!(
                            "{}: graph '{}' is there twice with different scores; the last counts",
                            graphs.source, graphs.ids[row]
                        ));
                    }
                }
                Ok((Scorer::Table { scores }, Some(graphs)))
            }
        }
    }

    /// The score of a graph, or why there is none.
    pub fn score(&self, id: usize, dag: &Dag) -> Outcome {
        match self {
            Scorer::Table { scores } => match scores.get(&GraphKey::of(dag)) {
                Some(&score) => Outcome::of(score),
                None => Outcome::Failed("the table does not have this graph".to_owned()),
            },
            Scorer::Command { command, spec, timeout } => ask(command, spec, *timeout, id, dag)
                .map_or_else(|error| Outcome::Failed(format!("{error:#}")), Outcome::of),
        }
    }
}

/// Starts the command, hands it the graph as one line of JSON, and reads the score from the last line it prints.
fn ask(command: &str, spec: &DagSpec, timeout: Option<Duration>, id: usize, dag: &Dag) -> Result<f64> {
    let named = Named::of(spec, dag)?;
    let query = json!({"query": id, "ops": named.ops, "edges": named.edges});
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("PACE_QUERY", id.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start a shell")?;
    let (mut input, mut output, mut errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let text = std::thread::scope(|scope| {
        let out = scope.spawn(move || drain(output.as_mut()));
        let err = scope.spawn(move || drain(errors.as_mut()));
        if let Some(mut input) = input.take() {
            // A command may score without reading; then the pipe is closed, and that is its business.
            writeln!(input, "{query}").ok();
        }
        let status = wait(&mut child, timeout);
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        let status = status?;
        if !status.success() {
            let said = err.lines().last().unwrap_or("it said nothing").to_owned();
            bail!("the command ended with {status}: {said}");
        }
        Ok(out)
    })?;
    parse(&text)
}

fn drain(pipe: Option<&mut impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.read_to_end(&mut bytes).ok();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn wait(child: &mut Child, timeout: Option<Duration>) -> Result<std::process::ExitStatus> {
    let Some(timeout) = timeout else { return Ok(child.wait()?) };
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > timeout {
            child.kill().ok();
            child.wait().ok();
            bail!("the command took longer than {} s and was ended", timeout.as_secs_f64());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The score in what a command printed: its last line, a number or an object with a field `score`.
fn parse(text: &str) -> Result<f64> {
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last.context("the command printed nothing; its last line must be the score")?;
    let from_json = || serde_json::from_str::<Value>(last).ok()?.get("score")?.as_f64();
    let score = last.parse().ok().or_else(from_json);
    score.with_context(|| format!("the last line of the command is '{last}', not a score"))
}

#[cfg(test)]
mod tests {
    use pace_graph::DagSpec;

    use super::*;

    #[test]
    fn the_last_line_is_the_score() {
        assert_eq!(parse("training ...\n0.93\n\n").unwrap(), 0.93);
        assert_eq!(parse("{\"score\": 0.5, \"epoch\": 3}").unwrap(), 0.5);
        assert!(parse("").unwrap_err().to_string().contains("printed nothing"));
        assert!(parse("0.9\ndone").unwrap_err().to_string().contains("'done', not a score"));
    }

    #[test]
    fn options_are_checked() {
        assert_eq!("cmd:./score.sh -x".parse(), Ok(OracleArg::Command("./score.sh -x".to_owned())));
        assert_eq!("table:a:b.jsonl".parse(), Ok(OracleArg::Table("a:b.jsonl".into())));
        for text in ["cmd:", "table:", "./score.sh", ""] {
            assert!(text.parse::<OracleArg>().is_err(), "{text}");
        }
    }

    fn score(command: &str, timeout: Option<Duration>) -> Outcome {
        let spec = DagSpec::new("mine", ["a", "b"], 3);
        let dag = spec.parse("a b : 0>1").unwrap();
        Scorer::Command { command: command.to_owned(), spec, timeout }.score(7, &dag)
    }

    #[test]
    fn commands_see_the_graph_and_their_failures_are_told() {
        assert_eq!(score(r#"grep -c '"ops":\["a","b"\]'"#, None), Outcome::Score(1.0));
        assert_eq!(score("cat > /dev/null; echo $PACE_QUERY", None), Outcome::Score(7.0));
        let failed = |outcome: Outcome| match outcome {
            Outcome::Failed(reason) => reason,
            Outcome::Score(score) => panic!("{score}"),
        };
        assert!(failed(score("echo no memory >&2; exit 3", None)).contains("exit status: 3: no memory"));
        assert!(!failed(score("echo nan", None)).is_empty());
        let slow = failed(score("sleep 10", Some(Duration::from_millis(50))));
        assert!(slow.contains("longer than 0.05 s"), "{slow}");
    }
}
