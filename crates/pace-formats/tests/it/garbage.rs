//! Garbage in, an error (or a lucky parse) out: never a panic, and no stack overflow.

use pace_formats::{Format, ReadOptions, read_npy, read_safetensors};
use pace_graph::Dag;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::strategy::Strategy;

use crate::support::{FILE, dag, message, read_with, written};

/// Every way in. What comes out must be a DAG.
fn read(bytes: &[u8]) {
    let keep = ReadOptions { keep_constants: true, keep_ends: true, ..ReadOptions::default() };
    let other = ReadOptions { op: Some("op".into()), id: Some("id".into()), ..ReadOptions::default() };
    for format in Format::ALL {
        for options in [&ReadOptions::default(), &keep, &other] {
            match read_with(format, bytes, options) {
                Ok((graphs, summary)) => {
                    assert_eq!(graphs.len(), summary.rows);
                    for graph in graphs {
                        Dag::new(vec![0; graph.ops.len()], graph.edges).unwrap();
                        assert!(graph.target.is_none_or(f64::is_finite));
                    }
                    assert!(!summary.remarks().is_empty());
                }
                Err(error) => assert!(error.to_string().starts_with(FILE), "{error}"),
            }
        }
    }
    for result in [read_npy(&mut &*bytes, FILE), read_safetensors(&mut &*bytes, FILE, None)] {
        if let Err(error) = result {
            assert!(error.to_string().starts_with(FILE), "{error}");
        }
    }
}

/// Pieces that change how the rest is read.
const PIECES: &str = "{¦}¦[¦]¦(¦)¦\"¦<¦>¦</¦/>¦&¦&#0;¦;¦,¦:¦=¦->¦--¦+¦\\¦\n¦ ¦|¦//¦/*¦*/¦#¦digraph ¦graph ¦strict ¦subgraph ¦node ¦edge \
    ¦network ¦variable ¦probability ¦property ¦<graphml>¦<graph edgedefault='directed'>¦<node id='a'>¦<edge source='a' target='a'/>\
    ¦<data key='a'>¦<key id='a'>¦<![CDATA[¦]]>¦<!--¦<?xml ¦<!DOCTYPE ¦\"nodes\":¦\"edges\":¦\"ops\":¦\"id\":¦0¦1e999¦-¦.¦null¦def f():\n ¦return ¦lambda ¦f'{¦class A:\n ¦é¦\u{feff}";

fn piece() -> impl Strategy<Value = &'static str> {
    select(PIECES.split('¦').collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..200)) {
        read(&bytes);
    }

    #[test]
    fn random_pieces(pieces in vec(piece(), 0..40)) {
        read(pieces.concat().as_bytes());
    }

    #[test]
    fn random_edits(
        graph in dag(),
        edits in vec((any::<usize>(), 0..6_usize, prop_oneof![vec(any::<u8>(), 0..3), piece().prop_map(|p| p.as_bytes().to_vec())]), 1..6),
    ) {
        for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
            let mut graph = graph.clone();
            graph.ops.iter_mut().enumerate().for_each(|(node, op)| *op = format!("x{node}"));
            graph.id = Some("y".into());
            let mut bytes = written(format, &[graph]);
            for (at, n_taken, insertion) in &edits {
                let start = at % (bytes.len() + 1);
                let end = (start + n_taken).min(bytes.len());
                bytes.splice(start..end, insertion.iter().copied());
            }
            read(&bytes);
        }
    }

    #[test]
    fn every_cut(graph in dag(), cut in any::<usize>()) {
        for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
            let Ok(bytes) = std::panic::catch_unwind(|| written(format, std::slice::from_ref(&graph))) else { continue };
            read(&bytes[..cut % (bytes.len() + 1)]);
        }
    }
}

#[test]
fn deep_nesting() {
    const DEPTH: usize = 100_000;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    for (open, close) in
        [("[", "]"), ("{\"a\":", "}"), ("{", "}"), ("<a>", "</a>"), ("(", ")"), ("<", ">"), ("\"", "\"")]
    {
        read(deep(open, close).as_bytes());
    }
    let many = |what: &str| format!("more than 100 levels of {what}");
    assert!(message(Format::Dot, format!("digraph {}", deep("{", "}")).as_bytes()).contains(&many("subgraphs")));
    let deep_json = format!("{{\"x\": {}", deep("[", "]"));
    assert!(message(Format::NodeLink, deep_json.as_bytes()).contains("recursion limit exceeded"));
    // What is skipped may be as deep as it likes.
    let deep_line = format!("{{\"x\": {}}}", deep("[", "]"));
    assert!(message(Format::JsonLines, deep_line.as_bytes()).contains("expected a field \"ops\""));
    let deep_html = format!("digraph {{ a [label={}] }}", deep("<", ">"));
    assert_eq!(read_with(Format::Dot, deep_html.as_bytes(), &ReadOptions::default()).unwrap().1.rows, 1);
    let deep_xml =
        format!("<graphml><graph edgedefault='directed'><node id='a'>{}</node></graph></graphml>", deep("<a>", "</a>"));
    assert_eq!(read_with(Format::GraphMl, deep_xml.as_bytes(), &ReadOptions::default()).unwrap().1.rows, 1);
    let deep_bif = format!("variable a {{ {} }}", deep("{", "}"));
    assert_eq!(read_with(Format::Bif, deep_bif.as_bytes(), &ReadOptions::default()).unwrap().1.rows, 1);
}

#[test]
fn short_texts_that_ask_for_much() {
    let group = |prefix: &str| (0..2000).map(|index| format!("{prefix}{index} ")).collect::<String>();
    let said = message(Format::Dot, format!("digraph {{ {{ {} }} -> {{ {} }} }}", group("a"), group("b")).as_bytes());
    assert_eq!(said, "my.file, line 1: more than 1048576 edges by groups; write the edges out, or split the graph");
    let reopened = format!("digraph {{ subgraph a {{ {} }} {} }}", group("a"), "subgraph a {} ".repeat(1000));
    assert!(message(Format::Dot, reopened.as_bytes()).contains("edges by groups"));
    let defaults: String = (0..100).map(|index| format!("k{index}=1 ")).collect();
    assert!(
        message(Format::Dot, format!("digraph {{ node [{defaults}] }}").as_bytes()).contains("more than 64 attributes")
    );
    let attributes: String = (0..300).map(|index| format!(" k{index}='1'")).collect();
    let said = message(Format::GraphMl, format!("<graphml><key{attributes}/></graphml>").as_bytes());
    assert!(said.contains("more than 256 attributes of an element"), "{said}");
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><graphml><key id='k'><default>&b;</default></key></graphml>";
    assert!(message(Format::GraphMl, bomb.as_bytes()).contains("an entity of XML"));
}
