//! Every kind of broken file, by its message.

use std::io::{self, BufReader, Read};

use pace_formats::{Error, Format, GraphFormat, ReadOptions};

use crate::support::{FILE, graph, message, read_with, written};

#[track_caller]
fn check(format: Format, text: &str, expected: &str) {
    assert_eq!(message(format, text.as_bytes()), format!("{FILE}, {expected}"), "{text}");
}

const CYCLE: &str = "the edges close a cycle through node 'b'; remove or turn around one of its edges";
const TWICE: &str = "edge 'a' -> 'b' is there twice; keep one of them";
const LOOP: &str = "node 'a' has an edge to itself; remove it, a DAG has none";
const DANGLING: &str = "edge 'a' -> 'x' names node 'x', which the graph does not have; add the node or remove the edge";
const CUT: &str = "it is cut off, fetch or write it again";

#[test]
fn json_lines() {
    let check = |text: &str, expected: &str| check(Format::JsonLines, text, expected);
    let ops = r#"{"ops": ["a", "b"], "edges": "#;
    check(
        &format!("{ops}[[0, 1], [1, 0]]}}"),
        "line 1: the edges close a cycle through node '1'; remove or turn around one of its edges",
    );
    check(&format!("{ops}[]}}\n\n{ops}[[0, 1], [0, 1]]}}"), "line 3: edge '0' -> '1' is there twice; keep one of them");
    check(&format!("{ops}[[0, 0]]}}"), "line 1: node '0' has an edge to itself; remove it, a DAG has none");
    check(
        &format!("{ops}[[0, 2]]}}"),
        "line 1: edge 0>2 names a node outside 0..2; nodes are numbered from 0 in the order of their operations",
    );
    check(r#"{"ops": [], "edges": []}"#, "line 1: the graph has no nodes; give it at least one, or leave it out");
    check(r#"{"edges": []}"#, "line 1: expected a field \"ops\", found a row without it");
    check(r#"{"ops": ["a"]}"#, "line 1: expected a field \"edges\", found a row without it");
    let expected =
        "line 1: expected a JSON object with \"ops\" and \"edges\" (for networkx' JSON choose node-link), found";
    check(r#"{"ops": ["a"], "ops": ["b"]}"#, &format!("{expected} the key \"ops\" is there twice at line 1 column 28"));
    check("[1]", &format!("{expected} invalid type: sequence, expected an object at line 1 column 0"));
    check(
        r#"{"ops": ["a"], "edges": [], "target": NaN}"#,
        &format!("{expected} expected value at line 1 column 39 (NaN and Infinity, which Python writes, are no JSON)"),
    );
    check(
        r#"{"ops": ["a"], "edges": [], "target": "inf"}"#,
        "line 1: the target 'target' is 'inf', not a finite number; leave the graph out or repair the value",
    );
    check(
        r#"{"ops": ["a"], "edges": ["#,
        &format!("line 1: the file ends in the middle of JSON (EOF while parsing a list at line 1 column 25); {CUT}"),
    );
    check(
        "{\"ops\": [\"a\"], \"edges\": []}\n{\"spec\": {\"name\": \"x\", \"ops\": [\"a\"], \"max_nodes\": 1, \"max_edges\": null, \"input\": null, \"output\": null, \"start\": null, \"validity\": \"any\"}}",
        "line 2: expected a graph; a spec stands alone in the first line, found '\"spec\"'",
    );
}

#[test]
fn node_link() {
    let check = |text: &str, expected: &str| check(Format::NodeLink, text, expected);
    let nodes = r#""nodes": [{"id": "a"}, {"id": "b"}], "#;
    let edge = |from: &str, to: &str| format!(r#"{{"source": "{from}", "target": "{to}"}}"#);
    let with = |edges: &[(&str, &str)]| {
        let edges: Vec<String> = edges.iter().map(|(from, to)| edge(from, to)).collect();
        format!("{{{nodes}\"links\": [{}]}}", edges.join(", "))
    };
    check(&with(&[("a", "b"), ("b", "a")]), &format!("graph 1: {CYCLE}"));
    check(&format!("{}\n{}", with(&[]), with(&[("a", "b"), ("a", "b")])), &format!("graph 2: {TWICE}"));
    check(&format!("[{}, {}]", with(&[]), with(&[("a", "a")])), &format!("graph 2: {LOOP}"));
    check(&with(&[("a", "x")]), &format!("graph 1: {DANGLING}"));
    check(
        r#"{"nodes": [{"id": 1}, {"id": 1}], "edges": []}"#,
        "graph 1: node '1' is there twice; rename or remove one of them",
    );
    check(
        r#"{"nodes": [{"op": 1}], "edges": []}"#,
        "graph 1: expected an \"id\" in every node, found a node without it",
    );
    check(
        r#"{"nodes": [{"id": [1]}], "edges": []}"#,
        "graph 1: expected a text or a number as the name of a node, found '[1]'",
    );
    check(
        r#"{"nodes": [{"id": 1}], "edges": [{"source": 1}]}"#,
        "graph 1: expected a \"target\" in every edge, found an edge without it",
    );
    check(r#"{"nodes": [{"id": 1}]}"#, "graph 1: expected a list \"edges\", found a graph without it");
    check(r#"{"nodes": [], "edges": []}"#, "graph 1: the graph has no nodes; give it at least one, or leave it out");
    check(
        r#"{"directed": false, "nodes": [], "edges": []}"#,
        "graph 1: the graph is undirected; make it a DAG first, e.g. a networkx.DiGraph",
    );
    let expected = "graph 1: expected a node-link graph in JSON, found";
    check(
        r#"{"nodes": [], "edges": [], "links": []}"#,
        &format!("{expected} edges are there twice, as \"edges\" or \"links\" at line 1 column 35"),
    );
    check(
        r#"{"nodes": [{"id": 1, "id": 2}]}"#,
        &format!("{expected} the key \"id\" is there twice at line 1 column 29"),
    );
    check(
        "{\"graph\": {\"target\": NaN},\n \"nodes\": []}",
        &format!("{expected} expected value at line 1 column 22 (NaN and Infinity, which Python writes, are no JSON)"),
    );
    check(
        &with(&[])[..30],
        &format!("graph 1: the file ends in the middle of JSON (EOF while parsing a value at line 1 column 30); {CUT}"),
    );
    check(
        &format!("[{}", with(&[])),
        &format!("graph 2: the file ends in the middle of JSON (EOF while parsing a list at line 1 column 51); {CUT}"),
    );
    check(
        &format!("[{}] x", with(&[])),
        "graph 2: expected a node-link graph in JSON, found trailing characters at line 1 column 54",
    );
}

#[test]
fn dot() {
    let check = |text: &str, expected: &str| check(Format::Dot, text, expected);
    check("digraph {\n a -> b -> a }", &format!("graph 1: {CYCLE}"));
    check("digraph { a } digraph two { a -> b; a -> b }", &format!("graph 2 ('two'): {TWICE}"));
    check("digraph { a -> a }", &format!("graph 1: {LOOP}"));
    check("digraph { }", "graph 1: the graph has no nodes; give it at least one, or leave it out");
    let remedy = "write digraph and ->, with edges that close no cycle";
    check("graph { a -- b }", &format!("line 1: a graph whose edges have no direction; {remedy}"));
    check("digraph {\n a -- b }", &format!("line 2: an edge without direction, --; {remedy}"));
    check("tree { }", "line 1: expected digraph, found 'tree'");
    check("digraph {\n a b -> }", "line 2: expected a node or a subgraph, found '}'");
    check("digraph { a [op] = 3 }", "line 1: expected a node or a subgraph, found '='");
    check("digraph { node = 3 }", "line 1: expected [ after node (to use it as a name, put it in quotes), found '='");
    check("digraph { a [op=node] }", "line 1: expected a value (keywords in quotes), found 'node'");
    check(
        "digraph { 3a }",
        "line 1: expected a number, or a name that begins with a letter (else put it in quotes), found '3a'",
    );
    check("digraph { a ? }", "line 1: expected a name, a value or a sign of DOT, found '?'");
    check("digraph {\n a", &format!("line 2: the file ends in the middle of a graph; {CUT}"));
    check("digraph {\n \"a", &format!("line 2: the file ends in the middle of quoted text; {CUT}"));
    check("digraph { <a", &format!("line 1: the file ends in the middle of HTML; {CUT}"));
    check("digraph { /* a", &format!("line 1: the file ends in the middle of a comment; {CUT}"));
    check(
        "digraph { target=\"-inf\" a }",
        "graph 1: the target 'target' is '-inf', not a finite number; leave the graph out or repair the value",
    );
}

#[test]
fn graphml() {
    let check = |text: &str, expected: &str| check(Format::GraphMl, &format!("<graphml>\n{text}</graphml>"), expected);
    let graph = |edges: &[(&str, &str)]| {
        let edges: String = edges.iter().map(|(from, to)| format!("<edge source='{from}' target='{to}'/>")).collect();
        format!("<graph edgedefault='directed'>{edges}<node id='a'/><node id='b'/></graph>")
    };
    check(&graph(&[("a", "b"), ("b", "a")]), &format!("graph 1: {CYCLE}"));
    check(&graph(&[("a", "b"), ("a", "b")]), &format!("graph 1: {TWICE}"));
    check(&graph(&[("a", "a")]), &format!("graph 1: {LOOP}"));
    check(&graph(&[("a", "x")]), &format!("line 2: {DANGLING}"));
    let undirected = "make it a DAG, with edgedefault=\"directed\"";
    check("<graph edgedefault='undirected'/>", &format!("line 2: an undirected graph; {undirected}"));
    check("<graph/>", "line 2: expected <graph edgedefault=\"...\">, found an element without it");
    let inside = |inside: &str| format!("<graph edgedefault='directed'>\n{inside}</graph>");
    check(&inside("<node/>"), "line 3: expected <node id=\"...\">, found an element without it");
    check(&inside("<node id='a'/><node id='a'/>"), "line 3: node 'a' is there twice; rename or remove one of them");
    check(
        &inside("<edge source='a' target='b' directed='false'/>"),
        &format!("line 3: an edge without direction; {undirected}"),
    );
    check(
        &inside("<node id='a'><graph edgedefault='directed'/></node>"),
        "line 3: a graph inside another; flatten it into one graph",
    );
    check(&inside("<hyperedge/>"), "line 3: a hyperedge; make it edges between two nodes");
    check(&inside("<data key='k'/>"), "line 3: expected data of a key that is declared before, found 'k'");
    check("<key id='k'/><key id='k'/>", "line 2: expected keys with different ids, found key 'k' twice");
    check("<key id='k' id='l'/>", "line 2: expected an attribute once, found 'id' twice");
    check(
        "<a></b>",
        "line 2: expected well-formed XML, found ill-formed document: expected `</a>`, but `</b>` was found",
    );
    check(
        "<key id='k'><default>&bomb;</default></key>",
        "line 2: expected an entity of XML (amp, lt, gt, quot, apos) or a number, found 'bomb'",
    );
    let whole = |text: &str, expected: &str| {
        assert_eq!(message(Format::GraphMl, text.as_bytes()), format!("{FILE}, {expected}"))
    };
    whole(
        "<graphml>\n<graph",
        &format!(
            "line 2: the file ends in the middle of a tag (tag not closed: `>` not found before end of input); {CUT}"
        ),
    );
    whole("<graphml>\n<key>", "line 2: expected <key id=\"...\">, found an element without it");
    whole("<graphml>\n", &format!("line 2: the file ends in the middle of an element; {CUT}"));
    whole("<html/>", "line 1: expected <graphml>, found 'html'");
    whole("<?xml version='1.0' encoding='latin1'?><graphml/>", "line 1: not UTF-8; save the file as UTF-8");
}

#[test]
fn bif() {
    let check = |text: &str, expected: &str| check(Format::Bif, text, expected);
    let variables = "variable a { } variable b { }\n";
    let with = |families: &str| format!("{variables}{families}");
    check(&with("probability (a | b) {} probability (b | a) {}"), &format!("graph 1: {CYCLE}"));
    check(&with("probability (b | a, a) {}"), &format!("graph 1: {TWICE}"));
    check(&with("probability (a | a) {}"), &format!("graph 1: {LOOP}"));
    check(
        &with("\nprobability (a | x) {}\n"),
        "line 3: edge 'x' -> 'a' names node 'x', which the graph does not have; add the node or remove the edge",
    );
    check(&with("probability (x) {}"), "line 2: expected a variable that is declared, found 'x'");
    check(&with("probability (a) {} probability (a) {}"), "line 2: expected one probability per variable, found 'a'");
    check(&with("variable a {}"), "line 2: node 'a' is there twice; rename or remove one of them");
    check(&with("probability (a b) {}"), "line 2: expected | or ), found 'b'");
    check("network x { }", "graph 1 ('x'): the graph has no nodes; give it at least one, or leave it out");
    check("net x { }", "line 1: expected network, variable or probability, found 'net'");
    check("network {", &format!("line 1: the file ends in the middle of a block; {CUT}"));
    check("network { property x", &format!("line 1: the file ends in the middle of a property; {CUT}"));
    check("variable \"x", &format!("line 1: the file ends in the middle of quoted text; {CUT}"));
}

#[test]
fn onnx() {
    let whole = written(Format::Onnx, &[graph("in conv out", &[(0, 1), (1, 2)])]);
    let said = message(Format::Onnx, &whole[..whole.len() - 1]);
    assert!(said.ends_with("the file ends in the middle of a field; it is cut off, fetch or write it again"), "{said}");
    let check = |bytes: &[u8], expected: &str| {
        assert_eq!(message(Format::Onnx, bytes), format!("{FILE}, {expected}"));
    };
    check(b"\x08\x01", "byte 2: expected an ONNX model with a graph, found none");
    check(b"{}", "byte 1: expected a field of protobuf (is the file ONNX?), found wire type 3");
    check(
        b"\x3a\x02\x0a\x05",
        "byte 4: expected a field of protobuf (is the file ONNX?), found one that does not fit its message",
    );
    check(b"\x3a\x00", "graph 1: the graph has no nodes; give it at least one, or leave it out");
    check(b"\x3a\x06\x0a\x04\x22\x02\xff\xff", "byte 8: not UTF-8; save the file as UTF-8");
    check(&[0xff; 11], "byte 10: expected a number of at most ten bytes (is the file ONNX?), found a longer one");
    // A node with an output and an input of the same name; two nodes that make the same tensor; a tensor from nowhere.
    check(
        b"\x3a\x0b\x0a\x09\x0a\x01x\x12\x01x\x22\x01a",
        "graph 1: node 'x' has an edge to itself; remove it, a DAG has none",
    );
    check(
        b"\x3a\x10\x0a\x06\x12\x01x\x22\x01a\x0a\x06\x12\x01x\x22\x01b",
        "graph 1: expected every tensor to be made once, found 'x' twice",
    );
    check(
        b"\x3a\x08\x0a\x06\x0a\x01x\x22\x01a",
        "graph 1: edge 'x' -> 'a' names node 'x', which the graph does not have; add the node or remove the edge",
    );
}

#[test]
fn encodings_and_empty_files() {
    for format in Format::ALL {
        let said = message(format, b"");
        match format {
            Format::Onnx => assert_eq!(said, "my.file, byte 0: expected an ONNX model with a graph, found none"),
            _ => assert_eq!(said, "my.file: no graphs; give a file with at least one"),
        }
    }
    for format in [Format::JsonLines, Format::NodeLink, Format::Dot, Format::Bif, Format::GraphMl] {
        let text = match format {
            Format::Dot => "digraph { \u{e9} }",
            Format::Bif => "variable \u{e9} { }",
            Format::GraphMl => "<graphml><graph edgedefault='directed'><node id='\u{e9}'/></graph></graphml>",
            Format::NodeLink => r#"{"nodes": [{"id": "é"}], "edges": []}"#,
            _ => r#"{"ops": ["é"], "edges": []}"#,
        };
        let utf8 = read_with(format, text.as_bytes(), &ReadOptions::default()).unwrap().0;
        assert_eq!(utf8[0].ops, ["\u{e9}"]);
        let marked = read_with(format, format!("\u{feff}{text}").as_bytes(), &ReadOptions::default()).unwrap().0;
        assert_eq!(marked, utf8);
        let latin1: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
        let said = message(format, &latin1);
        assert!(said.contains("not UTF-8; save") || said.contains("invalid unicode code point"), "{said}");
        let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(message(format, &utf16).ends_with("not UTF-8; save the file as UTF-8"), "{}", message(format, &utf16));
    }
}

/// A reader that fails.
struct Failing(fn() -> io::Error);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0())
    }
}

#[test]
fn failures_of_the_system() {
    for format in Format::ALL {
        let said = |error| {
            let mut reader = BufReader::new(Failing(error));
            format.read(&mut reader, FILE, &ReadOptions::default(), &mut |_| Ok(())).unwrap_err().to_string()
        };
        let refused = said(|| io::Error::from_raw_os_error(5));
        assert!(refused.starts_with("cannot read my.file: "), "{format}: {refused}");
        let cut = said(|| io::ErrorKind::UnexpectedEof.into());
        assert!(cut.starts_with("my.file: the file ends in the middle of compressed data"), "{format}: {cut}");
        let damaged = said(|| io::Error::other("bad checksum"));
        assert_eq!(damaged, "my.file: the compressed data is damaged (bad checksum); fetch the file again", "{format}");
    }
}

#[test]
fn the_sink_may_stop() {
    for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
        let bytes = written(format, &[graph("a b", &[(0, 1)])]);
        let mut stop = |_| Err(Error::Sink("the disk is full".into()));
        let error = format.read(&mut bytes.as_slice(), FILE, &ReadOptions::default(), &mut stop).unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
    }
}
