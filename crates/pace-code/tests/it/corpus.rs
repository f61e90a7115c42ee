//! JSON lines.

use std::io::{self, BufReader, Read};

use pace_code::{Corpus, Counts, Extractor, Filter, Origin, Part, Sample};
use serde_json::json;

fn corpus(text: &str) -> Corpus<&[u8]> {
    Extractor::default().corpus(text.as_bytes(), "my.jsonl")
}

#[test]
fn a_row_is_a_function_with_its_origin() {
    let row = json!({
        "split": "valid", "project": "p", "version": "1.0", "path": "p/a.py", "name": "A.sizeOf",
        "code": "@property\ndef sizeOf(self):\n    return 1\n", "stars": 5,
    });
    let samples: Vec<Sample> = corpus(&format!("{row}\n")).map(|sample| sample.expect("a row")).collect();
    let origin = Origin { path: "p/a.py".into(), project: "p".into(), version: "1.0".into(), part: Some(Part::Valid) };
    assert_eq!((samples.len(), &samples[0].origin), (1, &origin));
    assert_eq!((&*samples[0].function.name, samples[0].function.line), ("sizeOf", 2));
    assert_eq!(samples[0].function.label(), ["size", "of"]);

    let bare = json!({"code": "def f(): pass"});
    let samples: Vec<Sample> = corpus(&bare.to_string()).map(|sample| sample.expect("a row")).collect();
    assert_eq!(samples[0].origin, Origin::default());
}

#[test]
fn bad_rows_are_errors_and_the_rest_goes_on() {
    let code = |code: &str| json!({"code": code}).to_string();
    let rows = [
        code("def first(): pass"),
        String::new(),
        "{\"code\": \"def f(): pass\"".to_owned(),
        code("def f(:"),
        "  ".to_owned(),
        code(""),
        code("x = 1"),
        json!({"path": "no code"}).to_string(),
        json!({"code": "def f(): pass", "split": "dress rehearsal"}).to_string(),
        "[]".to_owned(),
        code("def last(): pass"),
    ];
    let mut corpus = Extractor::default().corpus(BufReader::with_capacity(3, Slow(rows.join("\r\n"), 0)), "my.jsonl");
    let found: Vec<String> = corpus
        .by_ref()
        .map(|sample| sample.map_or_else(|error| error.to_string(), |sample| sample.function.name))
        .collect();
    let starts = [
        "first",
        "my.jsonl, row 3: EOF while parsing",
        "my.jsonl, row 4: line 1: ",
        "my.jsonl, row 6: the source holds no statement",
        "my.jsonl, row 7: expected one function",
        "my.jsonl, row 8: missing field `code`",
        "my.jsonl, row 9: unknown variant `dress rehearsal`",
        "my.jsonl, row 10: invalid",
        "last",
    ];
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found} does not start with {start}");
    }
    assert_eq!(corpus.counts(), Counts { n_sources: 9, n_functions: 2, n_refused: 0, n_errors: 7 });
}

#[test]
fn bytes_that_are_no_text_cost_one_row() {
    let good = json!({"code": "def f(): pass"}).to_string();
    let bytes = [good.as_bytes(), b"\n{\"code\": \"\xff\"}\n", good.as_bytes()].concat();
    let found: Vec<_> = Extractor::default().corpus(&*bytes, "my.jsonl").collect();
    assert_eq!(found.len(), 3);
    assert!(found[0].is_ok() && found[2].is_ok());
    let message = found[1].as_ref().expect_err("no text").to_string();
    assert_eq!(message, "my.jsonl, row 2: line 1: not UTF-8; save the source as UTF-8");
}

#[test]
fn filters_count_what_they_refuse() {
    let rows: String =
        ["size", "test_size"].map(|name| json!({"code": format!("def {name}(): pass")}).to_string() + "\n").concat();
    let extractor = Extractor { filter: Filter { no_test: true, ..Filter::default() }, ..Extractor::default() };
    let mut corpus = extractor.corpus(rows.as_bytes(), "my.jsonl");
    assert_eq!(corpus.by_ref().count(), 1);
    assert_eq!(corpus.counts(), Counts { n_sources: 2, n_functions: 1, n_refused: 1, n_errors: 0 });
}

#[test]
fn order_survives_blocks_and_threads() {
    let padding = "    # padding\n".repeat(50);
    let row = |index: usize| json!({"code": format!("def f{index}():\n{padding}    pass")}).to_string() + "\n";
    let rows: String = (0..5000).map(row).collect();
    assert!(rows.len() > 3 << 20, "more than one block");
    let names: Vec<String> = corpus(&rows).map(|sample| sample.expect("a row").function.name).collect();
    assert_eq!(names, (0..5000).map(|index| format!("f{index}")).collect::<Vec<_>>());
}

#[test]
fn a_row_without_end_is_counted_and_passed_over() {
    let good = json!({"code": "def f(): pass"}).to_string() + "\n";
    let long = io::repeat(b'x').take(70 << 20);
    let reader = good.as_bytes().chain(long).chain(&b"\n"[..]).chain(good.as_bytes());
    let found: Vec<_> = Extractor::default().corpus(BufReader::new(reader), "my.jsonl").collect();
    assert_eq!((found.len(), found[0].is_ok(), found[2].is_ok()), (3, true, true));
    let message = found[1].as_ref().expect_err("too long").to_string();
    assert!(message.starts_with("my.jsonl, row 2: 73400321 bytes of source, and at most 67108864"), "{message}");
}

#[test]
fn a_reader_that_fails_ends_the_corpus() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let good = json!({"code": "def f(): pass"}).to_string() + "\n";
    let mut corpus = Extractor::default().corpus(BufReader::new(good.as_bytes().chain(Broken)), "my.jsonl");
    let found: Vec<_> = corpus.by_ref().collect();
    assert_eq!((found.len(), found[0].is_ok()), (2, true));
    let message = found[1].as_ref().expect_err("broken").to_string();
    assert!(message.starts_with("cannot read my.jsonl: the disk is gone"), "{message}");
    assert_eq!(corpus.counts().n_errors, 1);
}

/// Hands out a byte at a time.
struct Slow(String, usize);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let byte = self.0.as_bytes().get(self.1);
        if let (Some(&byte), [first, ..]) = (byte, buffer) {
            *first = byte;
            self.1 += 1;
            return Ok(1);
        }
        Ok(0)
    }
}
