//! [`Allow`]: a rule of the user's that no spec can say: a program that is asked about every graph, or a list of graphs.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use pace_graph::{Dag, DagSpec, GraphKey, Named};
use serde_json::json;

use crate::source::{self, HowArgs, SourceArgs};
use crate::terminal::Terminal;

/// How long the program may think about one graph.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which graphs are allowed, as written after `--allow`.
#[derive(Clone, Debug, PartialEq)]
pub enum AllowArg {
    /// A shell command that is started once and asked line by line.
    Command(String),
    /// A file of graphs: these and no others.
    List(PathBuf),
}

impl FromStr for AllowArg {
    type Err = String;

    fn from_str(text: &str) -> Result<AllowArg, String> {
        match text.split_once(':') {
            Some(("cmd", command)) if !command.trim().is_empty() => Ok(AllowArg::Command(command.to_owned())),
            Some(("list", path)) if !path.is_empty() => Ok(AllowArg::List(path.into())),
            _ => Err("it must be cmd:COMMAND, e.g. cmd:./valid.py, or list:FILE, a file of graphs".to_owned()),
        }
    }
}

impl fmt::Display for AllowArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllowArg::Command(command) => write!(f, "cmd:{command}"),
            AllowArg::List(path) => write!(f, "list:{}", path.display()),
        }
    }
}

/// Says whether a graph is allowed. Isomorphic graphs are asked about once.
pub struct Allow {
    spec: DagSpec,
    kind: Kind,
    /// The first thing that went wrong: from then on nothing is allowed, so that the search comes to its end.
    failure: Mutex<Option<anyhow::Error>>,
}

enum Kind {
    All,
    List(HashSet<GraphKey>),
    Command { program: Mutex<Program>, known: Mutex<HashMap<GraphKey, bool>> },
}

impl Allow {
    /// The rule of an option; without one everything is allowed.
    ///
    /// # Errors
    /// If the list cannot be read, or the program cannot be started.
    pub fn of(arg: Option<&AllowArg>, how: &HowArgs, spec: &DagSpec, terminal: &Terminal) -> Result<Allow> {
        let kind = match arg {
            None => Kind::All,
            Some(AllowArg::Command(command)) => {
                Kind::Command { program: Mutex::new(Program::start(command)?), known: Mutex::default() }
            }
            Some(AllowArg::List(path)) => {
                let source = SourceArgs { path: path.clone(), how: how.clone() };
                let graphs = source::load(&source, Some(spec.clone()), terminal)?;
                Kind::List(graphs.dags.iter().map(GraphKey::of).collect())
            }
        };
        Ok(Allow { spec: spec.clone(), kind, failure: Mutex::new(None) })
    }

    /// Whether this graph is allowed.
    pub fn allows(&self, dag: &Dag) -> bool {
        match &self.kind {
            Kind::All => true,
            Kind::List(list) => list.contains(&GraphKey::of(dag)),
            Kind::Command { program, known } => {
                let key = GraphKey::of(dag);
                if let Some(&answer) = locked(known).get(&key) {
                    return answer;
                }
                let mut failure = locked(&self.failure);
                if failure.is_some() {
                    return false;
                }
                match Named::of(&self.spec, dag).map_err(Into::into).and_then(|named| locked(program).ask(&named)) {
                    Ok(answer) => {
                        locked(known).insert(key, answer);
                        answer
                    }
                    Err(error) => {
                        *failure = Some(error);
                        false
                    }
                }
            }
        }
    }

    /// What went wrong, if something did.
    ///
    /// # Errors
    /// That.
    pub fn check(&self) -> Result<()> {
        locked(&self.failure).take().map_or(Ok(()), Err)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that answers a line for a line.
struct Program {
    child: Child,
    input: ChildStdin,
    lines: Receiver<std::io::Result<String>>,
}

impl Program {
    fn start(command: &str) -> Result<Program> {
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a shell")?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).context("the shell has no pipes")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || BufReader::new(output).lines().try_for_each(|line| sender.send(line)));
        Ok(Program { child, input, lines })
    }

    fn ask(&mut self, graph: &Named) -> Result<bool> {
        let question = json!({"ops": graph.ops, "edges": graph.edges});
        // A program that has ended answers nothing either, and that is what is reported.
        writeln!(self.input, "{question}").and_then(|()| self.input.flush()).ok();
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line.context("cannot read what the program of --allow says")?,
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait()?;
                bail!("the program of --allow ended with {status}; it must answer every line until its input ends")
            }
            Err(RecvTimeoutError::Timeout) => bail!(
                "the program of --allow did not answer within {} s; does it flush its output after every line?",
                PATIENCE.as_secs()
            ),
        };
        answer(&line)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn answer(line: &str) -> Result<bool> {
    match line.trim().to_ascii_lowercase().as_str() {
        "1" | "yes" | "true" => Ok(true),
        "0" | "no" | "false" => Ok(false),
        other => Err(anyhow!("the program of --allow answered '{other}'; it must be yes or no")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(command: &str) -> (Allow, [Dag; 2]) {
        let spec = DagSpec::new("mine", ["a", "b"], 3);
        let dags = ["a b : 0>1", "a a b : 0>1 1>2"].map(|text| spec.parse(text).unwrap());
        let arg = AllowArg::Command(command.to_owned());
        (
            Allow::of(Some(&arg), &HowArgs::default(), &spec, &Terminal { quiet: true, ..Terminal::default() })
                .unwrap(),
            dags,
        )
    }

    #[test]
    fn a_program_answers_line_by_line() {
        let (allow, [small, large]) =
            allow(r#"while read line; do case "$line" in *'"a","a"'*) echo No;; *) echo 1;; esac; done"#);
        assert!(allow.allows(&small) && !allow.allows(&large) && allow.allows(&small));
        allow.check().unwrap();
    }

    #[test]
    fn a_program_that_fails_allows_nothing_and_is_reported() {
        for (command, reason) in
            [("exit 3", "exit status: 3"), ("echo perhaps", "'perhaps'"), ("true", "until its input ends")]
        {
            let (allow, [small, _]) = allow(command);
            assert!(!allow.allows(&small) && !allow.allows(&small));
            let said = allow.check().unwrap_err().to_string();
            assert!(said.contains(reason), "{said}");
        }
    }

    #[test]
    fn options_are_checked() {
        assert_eq!("cmd:./valid.py -x".parse(), Ok(AllowArg::Command("./valid.py -x".to_owned())));
        assert_eq!("list:good.jsonl".parse(), Ok(AllowArg::List("good.jsonl".into())));
        assert!("good.jsonl".parse::<AllowArg>().is_err() && "cmd: ".parse::<AllowArg>().is_err());
    }
}
