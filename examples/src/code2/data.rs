//! [`Code`]: the functions as tables of trees, with their names.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use anyhow::{Result, ensure};
use pace_code::{AttributeVocabulary, Counts, Dialect, Extractor, Filter, Origin, Part, Sample, VocabularyBuilder};
use pace_graph::dataset::{Ast, Code2, DataDir, read_mapping, read_split};
use pace_graph::{GOLDEN, split_mix};
use pace_model::ast::{AstLayout, AstTable};
use pace_model::objective::Vocabulary;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::plan::Plan;
use super::source::Source;
use super::{Args, MAX_WORDS, N_WORDS};
use crate::progress::rows_bar;

/// Trees with more pairs of a node and an ancestor than this are left out: a step keeps some hundred bytes of each, whatever the
/// number of nodes. A tree of 30,000 nodes that is 20 deep has 600,000.
const MAX_PAIRS: usize = 4_000_000;
/// What cannot be read is shown so many times.
const SHOWN_ERRORS: usize = 5;

/// A part of the functions.
#[derive(Clone, Debug)]
pub struct Functions {
    /// Their trees.
    pub table: AstTable,
    /// The words of their names.
    pub labels: Vec<Vec<String>>,
    /// Where they are.
    pub places: Vec<String>,
    /// Their depths.
    pub depths: Vec<usize>,
}

/// All functions.
#[derive(Clone, Debug)]
pub struct Code {
    /// To learn from.
    pub train: Functions,
    /// To choose by.
    pub valid: Functions,
    /// Some of these, to look at along the way.
    pub watched: Functions,
    /// To report.
    pub test: Functions,
    /// The words that are predicted.
    pub words: Vocabulary,
    /// Node types.
    pub n_types: usize,
    /// Attributes.
    pub n_attributes: usize,
    /// What could not be read, and what was left out.
    pub skipped: String,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [train, valid, test] = [&self.train, &self.valid, &self.test].map(|part| part.table.len());
        write!(f, "{train} functions to train, {valid} to validate, {test} to test; {} node types, ", self.n_types)?;
        write!(f, "{} attributes, {} words; {}", self.n_attributes, self.words.n_tokens(), self.skipped)
    }
}

/// A function before its part is made.
#[derive(Clone)]
struct Entry {
    ast: Ast,
    place: String,
}

/// Functions by part, with their vocabularies' sizes.
struct Entries {
    parts: [Vec<Entry>; 3],
    n_types: usize,
    n_attributes: usize,
    skipped: String,
}

const PARTS: [Part; 3] = [Part::Train, Part::Valid, Part::Test];

/// Reads all functions and keeps as many as were asked for.
///
/// # Errors
/// If nothing can be read, or a part is empty.
pub fn read(source: &Source, args: &Args, plan: &Plan) -> Result<Code> {
    let entries = match source {
        Source::Official(data, folder) => official(data, folder, plan.functions, args.run.seed)?,
        _ => from_python(source, args, plan.functions)?,
    };
    let Entries { parts, n_types, n_attributes, skipped } = entries;
    let layout = plan.encoder.layout(n_types, n_attributes);
    let words = Vocabulary::new(parts[0].iter().map(|entry| entry.ast.label.as_slice()), MAX_WORDS);
    let watched = functions(parts[1].iter().take(plan.n_watched).cloned().collect(), layout, &words)?;
    let [train, valid, test] = parts.map(|part| functions(part, layout, &words));
    let (train, valid, test) = (train?, valid?, test?);
    ensure!(
        !train.table.is_empty() && !valid.table.is_empty() && !test.table.is_empty(),
        "{} functions to train, {} to validate and {} to test: too few to learn from; --no-filter takes undocumented ones, too",
        train.table.len(),
        valid.table.len(),
        test.table.len()
    );
    Ok(Code { train, valid, watched, test, words, n_types, n_attributes, skipped })
}

fn functions(entries: Vec<Entry>, layout: AstLayout, words: &Vocabulary) -> Result<Functions> {
    let mut table = AstTable::empty(layout);
    let (mut labels, mut places, mut depths) = (Vec::new(), Vec::new(), Vec::new());
    for Entry { ast, place } in entries {
        table.push(&ast)?;
        depths.push(ast.depths.iter().copied().max().unwrap_or(0) as usize);
        labels.push(ast.label);
        places.push(place);
    }
    let tokens: Vec<Vec<usize>> = labels.iter().map(|label| words.encode(label, N_WORDS)).collect();
    Ok(Functions { table: table.with_tokens(&tokens), labels, places, depths })
}

/// From Python source: parsed, split, counted, encoded.
fn from_python(source: &Source, args: &Args, limit: usize) -> Result<Entries> {
    let dialect = if args.python37 { Dialect::Python37 } else { Dialect::default() };
    let bar = rows_bar("functions");
    let mut parts: [Vec<Sample>; 3] = Default::default();
    let (mut counts, mut shown) = (Counts::default(), 0);
    let mut take = |sample: Result<Sample, pace_code::Error>, part: &dyn Fn(&Origin) -> Part| match sample {
        Ok(sample) => {
            bar.inc(1);
            let part = sample.origin.part.unwrap_or_else(|| part(&sample.origin));
            parts[PARTS.iter().position(|&other| other == part).unwrap_or(0)].push(sample);
        }
        Err(error) => {
            shown += 1;
            if shown <= SHOWN_ERRORS {
                bar.suspend(|| eprintln!("skipped: {error}"));
            }
        }
    };
    if let Some((reader, name)) = source.json_lines()? {
        let mut rows = Extractor { dialect, filter: Filter::default() }.corpus(reader, &name);
        for sample in rows.by_ref() {
            take(sample, &|origin| part_of(if origin.project.is_empty() { &origin.path } else { &origin.project }));
        }
        counts = rows.counts();
    } else if let Some(folder) = source.folder() {
        let filter = if args.no_filter { Filter::default() } else { Filter::code_search_net() };
        let mut files = Extractor { dialect, filter }.folder(folder)?;
        for sample in files.by_ref() {
            take(sample, &|origin| part_of(&package(&origin.path, folder)));
        }
        counts = files.counts();
    }
    bar.finish_and_clear();
    let n_heavy = parts.iter_mut().map(drop_heavy).sum::<usize>();
    let [train, valid, test] = &mut parts;
    for (part, limit) in [(train, limit), (valid, limit / 4), (test, limit / 4)] {
        shuffle(part, args.run.seed);
        part.truncate(limit.max(1));
    }
    let mut builder = VocabularyBuilder::default();
    parts[0].iter().for_each(|sample| builder.add(&sample.function));
    let vocabularies = builder.build(AttributeVocabulary::OGB_SIZE);
    let entry = |sample: Sample| Entry {
        ast: vocabularies.encode(&sample.function),
        place: format!("{}:{} {}", sample.origin.path, sample.function.line, sample.function.name),
    };
    let skipped = format!(
        "{} of {} files or rows could not be read, {} functions were filtered out, {n_heavy} had more than {MAX_PAIRS} pairs of nodes",
        counts.n_errors, counts.n_sources, counts.n_refused
    );
    let parts = parts.map(|part| part.into_iter().map(entry).collect());
    let (n_types, n_attributes) = (vocabularies.types.words().len(), vocabularies.attributes.words().len());
    Ok(Entries { parts, n_types, n_attributes, skipped })
}

fn drop_heavy(part: &mut Vec<Sample>) -> usize {
    let before = part.len();
    part.retain(|sample| sample.function.tree.nodes().map(|node| node.depth + 1).sum::<usize>() <= MAX_PAIRS);
    before - part.len()
}

/// In an order that any prefix of which is a fair sample.
fn shuffle<T>(items: &mut [T], seed: u64) {
    items.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
}

/// Eight of ten names are to train; functions of one project are in one part.
fn part_of(name: &str) -> Part {
    let hash = name.bytes().fold(GOLDEN, |hash, byte| split_mix(hash ^ u64::from(byte)));
    match hash % 10 {
        8 => Part::Valid,
        9 => Part::Test,
        _ => Part::Train,
    }
}

/// Folders that hold packages of other people.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

/// The first name below the folder, or below its installed packages: a package or a module.
fn package(path: &str, folder: &Path) -> String {
    let below = Path::new(path).strip_prefix(folder).unwrap_or(Path::new(path));
    let mut names = below.components().map(|name| name.as_os_str().to_string_lossy().into_owned());
    names.find(|name| !INSTALLED.contains(&&**name)).unwrap_or_default()
}

/// The files of the Open Graph Benchmark.
fn official(data: &DataDir, folder: &str, limit: usize, seed: u64) -> Result<Entries> {
    let open = |file: &str| data.open(folder, file);
    let names = |file: &str| anyhow::Ok(read_mapping(open(file)?, file)?);
    let (types, attributes) = (names("mapping/typeidx2type.csv")?, names("mapping/attridx2attr.csv")?);
    let (n_types, n_attributes) = (types.len(), attributes.len());
    let mut wanted: HashMap<usize, usize> = HashMap::new();
    for (part, (file, limit)) in [("train", limit), ("valid", limit / 4), ("test", limit / 4)].into_iter().enumerate() {
        let file = format!("split/project/{file}.csv");
        let mut graphs = read_split(open(&file)?, &file, usize::MAX)?;
        shuffle(&mut graphs, seed);
        graphs.truncate(limit.max(1));
        wanted.extend(graphs.into_iter().map(|graph| (graph, part)));
    }
    let bar = rows_bar("functions");
    let mut parts: [Vec<Entry>; 3] = Default::default();
    for (graph, ast) in Code2::open(types, open)?.enumerate() {
        bar.inc(1);
        let ast = ast?;
        if let Some(&part) = wanted.get(&graph) {
            let place = format!("graph {graph} {}", ast.label.join("_"));
            parts[part].push(Entry { ast, place });
        }
    }
    bar.finish_and_clear();
    Ok(Entries { parts, n_types, n_attributes, skipped: "nothing was skipped".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_stay_together() {
        let root = Path::new("/lib");
        assert_eq!(package("/lib/email/mime/text.py", root), "email");
        assert_eq!(package("/lib/ast.py", root), "ast.py");
        assert_eq!(package("/lib/site-packages/pip/main.py", root), "pip");
        assert_eq!(part_of("email"), part_of("email"));
        let parts: Vec<Part> = (0..1000).map(|name| part_of(&name.to_string())).collect();
        let count = |part| parts.iter().filter(|&&other| other == part).count();
        assert!((740..860).contains(&count(Part::Train)), "{}", count(Part::Train));
        assert!(count(Part::Valid) > 60 && count(Part::Test) > 60);
    }
}
