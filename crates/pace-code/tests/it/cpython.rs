//! CPython's own trees, by the script in `tests/python`, and the comparison with ours.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use pace_checkout::say_skipped;
use pace_code::{Dialect, Error, Extractor, Tree};
use serde::{Deserialize, Serialize};

/// A question to CPython.
#[derive(Clone, Serialize)]
pub struct Request {
    /// The source.
    pub source: String,
    /// Whether to take its functions out.
    pub functions: bool,
}

/// A node: type, attribute, parent, depth.
type Node = (String, Option<String>, i64, usize);

/// Name, line, number of lines and docstring of a function; of a module nothing.
type Facts = (String, usize, usize, bool);

/// Facts, nodes of this Python, nodes of Python 3.7.
#[derive(Deserialize)]
struct Answered(Facts, Vec<Node>, Vec<Node>);

/// What CPython says.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    trees: Vec<Answered>,
    error: Option<String>,
}

/// How a comparison went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Sources that CPython parses, and we do.
    pub n_sources: usize,
    /// Trees that are equal in both dialects.
    pub n_equal: usize,
    /// Nodes of these trees.
    pub n_nodes: usize,
    /// Sources that CPython refuses.
    pub n_refused: usize,
}

/// A program that runs the script; `None`, with a line that says so, if there is no Python that has `Constant` nodes.
pub fn python() -> Option<Command> {
    let check = "import sys; sys.exit(0 if sys.version_info >= (3, 9) else 1)";
    let has_python = Command::new("python3").args(["-c", check]).status().is_ok_and(|status| status.success());
    if !has_python {
        say_skipped("no python3 of version 3.9 or later");
        return None;
    }
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/cpython_ast.py"));
    Some(command)
}

/// Asks CPython about every source and compares its trees with ours, in both dialects.
///
/// # Panics
/// At the first difference, which it shows.
pub fn compare(mut python: Command, requests: impl IntoIterator<Item = Request> + Send) -> Outcome {
    let mut child = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 starts");
    let mut stdin = BufWriter::new(child.stdin.take().expect("piped"));
    let stdout = BufReader::new(child.stdout.take().expect("piped"));
    // Sources wait here while CPython works on them.
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Request>(256);
    let outcome = thread::scope(|scope| {
        scope.spawn(move || {
            for request in requests {
                serde_json::to_writer(&mut stdin, &request).expect("python3 reads");
                stdin.write_all(b"\n").expect("python3 reads");
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        let mut outcome = Outcome::default();
        for (line, request) in stdout.lines().zip(receiver) {
            let answer = serde_json::from_str(&line.expect("python3 answers")).expect("an answer");
            check(&request, answer, &mut outcome);
        }
        outcome
    });
    assert!(child.wait().expect("python3 ends").success());
    outcome
}

fn check(request: &Request, answer: Answer, outcome: &mut Outcome) {
    if answer.error.is_some() {
        // We may accept it, as syntax of a later version, or refuse it, but must not panic.
        let _ = trees(request, Dialect::Python311);
        outcome.n_refused += 1;
        return;
    }
    outcome.n_sources += 1;
    for dialect in [Dialect::Python311, Dialect::Python37] {
        let ours = match trees(request, dialect) {
            Err(Error::Empty) if answer.trees.is_empty() => Vec::new(),
            ours => ours.unwrap_or_else(|error| panic!("{error}, but CPython parses:\n{}", request.source)),
        };
        assert_eq!(ours.len(), answer.trees.len(), "functions of\n{}", request.source);
        for ((facts, tree), Answered(wanted, python311, python37)) in ours.iter().zip(&answer.trees) {
            assert_eq!(facts, wanted, "facts about a function of\n{}", request.source);
            let nodes = if dialect == Dialect::Python311 { python311 } else { python37 };
            check_tree(tree, nodes, dialect, &format!("{} of\n{}", facts.0, request.source));
            if dialect == Dialect::Python37 {
                outcome.n_equal += 1;
                outcome.n_nodes += tree.n_nodes();
            }
        }
    }
}

/// Facts and trees by our own parser.
fn trees(request: &Request, dialect: Dialect) -> Result<Vec<(Facts, Tree)>, Error> {
    let extractor = Extractor { dialect, ..Extractor::default() };
    Ok(match request.functions {
        true => extractor
            .functions(&request.source)?
            .into_iter()
            .map(|one| ((one.name, one.line, one.n_lines, one.has_docstring), one.tree))
            .collect(),
        false => vec![(Facts::default(), extractor.module(&request.source)?)],
    })
}

fn check_tree(tree: &Tree, theirs: &[Node], dialect: Dialect, place: &str) {
    for (index, (ours, theirs)) in tree.nodes().zip(theirs).enumerate() {
        let parent = ours.parent.map_or(-1, |parent| parent as i64);
        let ours = (ours.kind.name(), ours.attribute, parent, ours.depth);
        let theirs = (&*theirs.0, theirs.1.as_deref(), theirs.2, theirs.3);
        assert_eq!(ours, theirs, "node {index} in {dialect:?} (ours left, CPython's right) of {place}");
    }
    assert_eq!(tree.n_nodes(), theirs.len(), "nodes in {dialect:?} of {place}");
}
