//! How fast sources become trees: functions and megabytes per second, on one thread and on all.
//!
//! `cargo bench -p pace-code` measures on the corpus of `code2/py_functions.jsonl`, or on one small function if there is no
//! such file.

use std::hint::black_box;
use std::io::BufRead;
use std::time::{Duration, Instant};

use pace_checkout::data_dir;
use pace_code::{Dialect, Extractor, Function, VocabularyBuilder};

const MIN_PASSES: usize = 3;
const BUDGET: Duration = Duration::from_secs(4);
/// What is measured if there is no corpus.
const SMALL: &str =
    "def area(self, scale=1.0):\n    \"\"\"The area.\"\"\"\n    return scale * self.width * self.height[0]\n";

fn main() {
    let rows = rows();
    let sources: Vec<String> = rows.iter().map(|row| code(row)).collect();
    let mean = |n_bytes: usize| n_bytes as f64 / sources.len() as f64;
    println!("{} functions of {:.0} bytes", sources.len(), mean(sources.iter().map(String::len).sum()));

    for dialect in [Dialect::Python311, Dialect::Python37] {
        let extractor = Extractor { dialect, ..Extractor::default() };
        report(&format!("{dialect:?}, one thread"), &sources, || {
            for source in &sources {
                black_box(extractor.function(black_box(source)).expect("Python"));
            }
        });
    }
    let extractor = Extractor::default();
    let lines = rows.join("\n");
    report("JSON lines, all threads", &sources, || {
        assert_eq!(extractor.corpus(lines.as_bytes(), "rows").filter(Result::is_ok).count(), sources.len());
    });

    let parse = |source: &String| extractor.function(source).expect("Python").expect("no filter");
    let functions: Vec<Function> = sources.iter().map(parse).collect();
    println!("{:.1} nodes in the mean", mean(functions.iter().map(|function| function.tree.n_nodes()).sum()));
    let mut builder = VocabularyBuilder::default();
    functions.iter().for_each(|function| builder.add(function));
    let vocabularies = builder.build(10_000);
    report("encode, one thread", &sources, || {
        for function in &functions {
            black_box(vocabularies.encode(black_box(function)));
        }
    });
}

/// Up to 20,000 rows of the corpus.
fn rows() -> Vec<String> {
    match data_dir(None).open("code2", "py_functions.jsonl") {
        Ok(reader) => reader.lines().take(20_000).collect::<Result<_, _>>().expect("readable"),
        Err(missing) => {
            println!("{missing}");
            vec![serde_json::json!({ "code": SMALL }).to_string(); 20_000]
        }
    }
}

fn code(row: &str) -> String {
    let row: serde_json::Value = serde_json::from_str(row).expect("a row of JSON");
    row["code"].as_str().expect("a source").to_owned()
}

/// Prints the rate of the fastest pass.
fn report(what: &str, sources: &[String], work: impl Fn()) {
    let (mut fastest, mut spent, mut passes) = (Duration::MAX, Duration::ZERO, 0);
    while spent < BUDGET || passes < MIN_PASSES {
        let start = Instant::now();
        work();
        let elapsed = start.elapsed();
        (fastest, spent, passes) = (fastest.min(elapsed), spent + elapsed, passes + 1);
    }
    let seconds = fastest.as_secs_f64();
    let n_bytes: usize = sources.iter().map(String::len).sum();
    println!(
        "{what:24} {:9.0} functions/s {:7.1} MB/s {:6.2} us each",
        sources.len() as f64 / seconds,
        n_bytes as f64 / seconds / 1e6,
        seconds * 1e6 / sources.len() as f64,
    );
}
