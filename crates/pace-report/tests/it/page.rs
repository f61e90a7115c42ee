//! Whole pages.

use pace_graph::{DagSpec, Vectors};
use pace_report::{LatentMap, Line, MapConfig, MapData, Neighbour, Report, Similar, line_chart};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::markup;

/// A page with `text` wherever text goes.
fn everywhere(text: &str) -> Report {
    let owned = || text.to_owned();
    let spec = DagSpec::new(text, [owned(), owned()], 4);
    let dag: pace_graph::Dag = "0 1 : 0>1".parse().unwrap();
    let mut report = Report::new(text);
    report.heading(text);
    report.heading(text);
    report.heading(text);
    report.text(text);
    report.note(text);
    report.table(&[vec![owned(), owned()], vec![owned()]]);
    report.plot(line_chart(text, &[Line { name: owned(), points: vec![(0.0, 1.0)], band: Vec::new() }]));
    report.figure(text, "<svg></svg>");
    report.dags(&spec, &[(owned(), dag.clone())]);
    let neighbour = Neighbour { caption: owned(), dag: dag.clone(), distance: 1.5 };
    report.similar(&spec, &Similar { caption: owned(), dag: dag.clone(), neighbours: vec![neighbour] });
    let config = MapConfig { caption: owned(), score: owned(), ..MapConfig::default() };
    let data = MapData { vectors: &Vectors::new(vec![1.0], 1), scores: &[1.0], dags: &[dag] };
    report.map(LatentMap::of(&data, &spec, &config).unwrap());
    report.provenance(&[(owned(), owned())]);
    report.seconds(&[(owned(), 2.0)]);
    report
}

/// The number of tags, without the text between them.
fn n_tags(html: &str) -> usize {
    html.matches('<').count()
}

/// What markup is made of, and what it must not hold.
const PIECES: [&str; 16] =
    ["<", ">", "&", "\"", "'", "/", "!--", "-->", "]]>", "script", "a", " ", "\0", "\u{1b}", "λ", "\u{ffff}"];

#[test]
fn text_is_text() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for _ in 0..200 {
        let length = rng.random_range(0..30);
        let text: String = (0..length).map(|_| PIECES[rng.random_range(0..PIECES.len())]).collect();
        markup::check_page(&everywhere(&text).html());
    }
}

#[test]
fn hostile_text_adds_no_tag() {
    let plain = everywhere("plain").html();
    for text in [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "'\"><svg onload=x>",
        "</style>",
        "<!--",
        "]]>",
    ] {
        let hostile = everywhere(text).html();
        // A name that is shortened in a box gets a title, which is two tags.
        let titles = 2 * hostile.matches("<title>").count() - 2 * plain.matches("<title>").count();
        assert_eq!(n_tags(&hostile), n_tags(&plain) + titles, "{text}");
    }
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let html = everywhere("a").html();
    for forbidden in ["http://", "https://", "src=", "@import", "url(", "<link", "onload", "eval("] {
        let found = html.replace("http://www.w3.org/2000/svg", "").contains(forbidden);
        assert!(!found, "{forbidden}");
    }
    assert!(html.contains("content=\"default-src 'none'; style-src '") && html.contains("; script-src 'sha256-"));
    assert!(!Report::new("a").html().contains("script"));
}

#[test]
fn headings_are_listed_once_there_are_some() {
    let mut report = Report::new("a");
    report.heading("one");
    assert!(!report.html().contains("<nav"));
    let mut other = Report::new("b");
    other.heading("two");
    other.heading("three");
    report.append(other);
    let html = report.html();
    assert!(html.contains("<a href=\"#part-3\">three</a>") && html.contains("<h2 id=\"part-3\">three</h2>"));
    assert_eq!(report.title(), "a");
}
