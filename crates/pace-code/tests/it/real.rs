//! Real functions: the standard library of this machine, and the corpus if a data folder has it.

use std::path::{Path, PathBuf};
use std::process::Command;

use pace_checkout::data_with;
use pace_code::{Counts, Dialect, Extractor, Filter, Part, VocabularyBuilder};

use crate::cpython::{Outcome, Request, compare, python};

const CORPUS: [(&str, &str); 1] = [("code2", "py_functions.jsonl")];

/// The sources of the standard library, every `step`-th of them. Those that are not UTF-8 are left out.
fn library(mut python: Command, step: usize) -> Vec<Request> {
    let printed = python.arg("--library").output().expect("python3 runs").stdout;
    let root = PathBuf::from(String::from_utf8(printed).expect("a path").trim());
    let mut paths = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the library") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                // What others have installed is no part of the library.
                true if path.ends_with("site-packages") => {}
                true => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "py") => paths.push(path),
                false => {}
            }
        }
    }
    paths.sort_unstable();
    let read = |path: &PathBuf| std::fs::read_to_string(path).ok();
    paths.iter().step_by(step).filter_map(read).map(|source| Request { source, functions: true }).collect()
}

fn report(what: &str, outcome: Outcome) {
    let Outcome { n_sources, n_equal, n_nodes, n_refused } = outcome;
    println!(
        "{what}: {n_equal} functions of {n_sources} sources with {n_nodes} nodes equal those of CPython in both \
         dialects; CPython refuses {n_refused} sources"
    );
}

#[test]
fn the_standard_library_is_that_of_cpython() {
    let (Some(python), Some(asking)) = (python(), python()) else { return };
    let outcome = compare(python, library(asking, 12));
    report("every 12th file of the library", outcome);
    assert!(outcome.n_equal > 1000, "{outcome:?}");
}

/// Takes a minute or two.
#[test]
#[ignore = "long: all of the standard library"]
fn all_of_the_standard_library_is_that_of_cpython() {
    let (Some(python), Some(asking)) = (python(), python()) else { return };
    let outcome = compare(python, library(asking, 1));
    report("all of the library", outcome);
    assert!(outcome.n_equal > 10_000, "{outcome:?}");
}

fn corpus(step: usize) -> Option<Vec<Request>> {
    let dir = data_with(&CORPUS)?;
    let reader = dir.open(CORPUS[0].0, CORPUS[0].1).expect("the corpus opens");
    let code = |line: std::io::Result<String>| {
        let row: serde_json::Value = serde_json::from_str(&line.expect("a row")).expect("JSON");
        row["code"].as_str().expect("a source").to_owned()
    };
    let sources = std::io::BufRead::lines(reader).step_by(step).map(code);
    Some(sources.map(|source| Request { source, functions: false }).collect())
}

#[test]
fn the_corpus_is_that_of_cpython() {
    let (Some(python), Some(requests)) = (python(), corpus(18)) else { return };
    let n_requests = requests.len();
    let outcome = compare(python, requests);
    report("every 18th function of the corpus", outcome);
    assert!(outcome.n_equal > 5000 && outcome.n_equal == n_requests, "{outcome:?}");
}

/// Takes a minute or two.
#[test]
#[ignore = "long: all of the corpus"]
fn all_of_the_corpus_is_that_of_cpython() {
    let (Some(python), Some(requests)) = (python(), corpus(1)) else { return };
    let n_requests = requests.len();
    let outcome = compare(python, requests);
    report("all of the corpus", outcome);
    assert_eq!(outcome.n_equal, n_requests);
}

/// The counts that the makers of the corpus published with it.
#[test]
fn the_corpus_is_whole() {
    let Some(dir) = data_with(&CORPUS) else { return };
    let extractor = Extractor { dialect: Dialect::Python311, filter: Filter::default() };
    let mut corpus = extractor.corpus(dir.open(CORPUS[0].0, CORPUS[0].1).expect("the corpus opens"), CORPUS[0].1);
    let (mut n_parts, mut n_nodes) = ([0; 3], 0);
    let mut builder = VocabularyBuilder::default();
    for sample in corpus.by_ref() {
        let sample = sample.expect("every row is a function");
        let part = sample.origin.part.expect("every row has a part");
        n_parts[part as usize] += 1;
        n_nodes += sample.function.tree.n_nodes();
        if part == Part::Train {
            builder.add(&sample.function);
        }
        assert!(sample.function.n_lines >= 3, "{:?}", sample.origin);
        assert!(sample.function.has_docstring, "{:?}", sample.origin);
    }
    assert_eq!(n_parts, [65_231, 7_742, 18_166]);
    assert_eq!(corpus.counts(), Counts { n_sources: 91_139, n_functions: 91_139, n_refused: 0, n_errors: 0 });
    assert_eq!((n_nodes as f64 / 91_139.0).round(), 120.0, "nodes in the mean");
    let vocabularies = builder.build(10_000);
    assert_eq!(vocabularies.attributes.words().len(), 10_002, "the mask is among the most frequent");
    assert_eq!(vocabularies.attributes.index(Some("self")), 0);
}

/// Reads `path` twice, whole and as part of its folder.
#[test]
fn a_folder_of_the_library_reads_as_its_files() {
    let Some(mut asking) = python() else { return };
    let printed = asking.arg("--library").output().expect("python3 runs").stdout;
    let root = Path::new(String::from_utf8(printed).expect("a path").trim()).join("json");
    let extractor = Extractor::default();
    let mut folder = extractor.folder(&root).expect("a folder");
    let samples: Vec<_> = folder.by_ref().map(|sample| sample.expect("Python")).collect();
    let decoder = extractor.file(&root.join("decoder.py")).expect("Python");
    let found: Vec<_> = samples.iter().filter(|sample| sample.origin.path.ends_with("decoder.py")).collect();
    assert!(decoder.len() > 5 && found.iter().map(|sample| &sample.function).eq(&decoder));
    assert_eq!(folder.counts().n_functions, samples.len());
}
