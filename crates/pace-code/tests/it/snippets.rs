//! Every statement and expression of Python 3.11, each compared with CPython node by node.

use crate::cpython::{Request, compare, python};

/// Modules that CPython 3.11 parses. Sources are separated by lines of dashes.
const SNIPPETS: &str = include_str!("../python/snippets.txt");
const SEPARATOR: &str = "\n-----\n";

fn request(source: impl Into<String>, functions: bool) -> Request {
    Request { source: source.into(), functions }
}

#[test]
fn every_construct_is_that_of_cpython() {
    let Some(python) = python() else { return };
    let snippets: Vec<&str> = SNIPPETS.split(SEPARATOR).collect();
    let requests = snippets.iter().flat_map(|snippet| [request(*snippet, false), request(*snippet, true)]);
    let outcome = compare(python, requests.collect::<Vec<_>>());
    assert_eq!((outcome.n_sources, outcome.n_refused), (2 * snippets.len(), 0), "CPython refuses a snippet");
    assert!(snippets.len() > 80);
}

/// Sources that cannot be written in a text file of lines.
#[test]
fn line_breaks_and_odd_letters_are_those_of_cpython() {
    let Some(python) = python() else { return };
    let sources = [
        "",
        "\n",
        "# nothing\n",
        "x = '''a\r\nb\rc\nd'''\r\ny = 1\r\n",
        "x = f'''a\r\n{b}\r{c = }\n'''\r",
        "def f():\r\n    '''doc\r\n    more'''\r\n    return 1\r\n",
        "x = 'a\\\r\nb'\r\n",
        "\x0cdef f():\n\x0c    return 1\n",
        "x = 'a\tb'\n",
        "if x:\n\ty = 1\n\tz = 2\n",
        "x = 1",
        "x = \\\n  1\n",
        "x = '\u{7f}\u{80}\u{2028}\u{10ffff}'\n",
        "x = b'\x01\x7f'\n",
    ];
    let requests: Vec<Request> =
        sources.iter().flat_map(|&source| [request(source, false), request(source, true)]).collect();
    let n_requests = requests.len();
    assert_eq!(compare(python, requests).n_sources, n_requests);
}

/// Numbers by the thousand: digits and layout of floats, bases and sizes of integers.
#[test]
fn numbers_are_printed_as_by_cpython() {
    let Some(python) = python() else { return };
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = pace_graph::split_mix(state);
        state % below
    };
    let mut numbers = Vec::new();
    for _ in 0..2000 {
        let value = f64::from_bits(next(u64::MAX) & !(1 << 63));
        if value.is_finite() {
            numbers.push(format!("{value:e}"));
            numbers.push(format!("{value:e}j"));
        }
        let (whole, fraction, exponent) = (next(100_000), next(1_000_000), next(40));
        numbers.push(format!("{whole}.{fraction:06}"));
        numbers.push(format!("{whole}.{fraction}e-{exponent}"));
        numbers.push(format!("{whole}E+{exponent}J"));
        numbers.push(format!(".{fraction}"));
    }
    for n_digits in 1..400 {
        let digits: String = (0..n_digits).map(|_| char::from(b'0' + next(10) as u8)).collect();
        let octal: String = (0..n_digits).map(|_| char::from(b'0' + next(8) as u8)).collect();
        let hexadecimal: String = (0..n_digits).map(|_| format!("{:x}", next(16))).collect();
        let binary: String = (0..n_digits).map(|_| char::from(b'0' + next(2) as u8)).collect();
        numbers.extend([format!("1{digits}"), format!("0o{octal}"), format!("0X{hexadecimal}"), format!("0b{binary}")]);
    }
    let sources = numbers.chunks(100).map(|chunk| format!("x = [{}]\n", chunk.join(", ")));
    let requests: Vec<Request> = sources.map(|source| request(source, false)).collect();
    let n_requests = requests.len();
    let outcome = compare(python, requests);
    assert_eq!(outcome.n_sources, n_requests);
    assert!(outcome.n_nodes > numbers.len());
}
