//! What files of other programs look like: every feature of a format that we claim to read.

use pace_formats::{Format, ReadOptions};

use crate::support::{graph, read, read_with, sorted};

#[test]
fn json_lines_with_a_header() {
    let spec = r#"{"name": "mine", "ops": ["(in)", "a", "b", "(out)"], "max_nodes": 9, "max_edges": null, "input": 0, "output": 3,
        "start": null, "added": {"input": true, "output": true}, "validity": "any"}"#;
    let text = format!(
        "{{\"spec\": {}, \"name\": \"x\", \"note\": \"\"}}\n\n{}\n{}\n",
        spec.replace('\n', ""),
        r#"{"ops": ["(in)", 1, "b", "(out)"], "edges": [[0, 1], [1, 2], [2, 3]], "id": 7, "target": null}"#,
        r#"{"ops": ["a"], "edges": []}"#
    );
    let (graphs, summary) = read_with(Format::JsonLines, text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(graphs[0].ops, ["a", "b"], "ends that the spec has added are no part of the data");
    assert_eq!((graphs[0].edges.as_slice(), graphs[0].id.as_deref()), (&[(0, 1)][..], Some("7")));
    assert_eq!(summary.spec.unwrap().name, "mine");
}

#[test]
fn node_link_of_all_kinds() {
    let plain = r#"{"nodes": [{"id": 1, "op": "a"}, {"id": "1", "op": "b"}, {"id": 1.5, "op": "c"}, {"id": null, "op": "d"}],
        "links": [{"source": 1, "target": "1"}, {"source": 1.5, "target": null}]}"#;
    let expected = graph("a b c d", &[(0, 1), (2, 3)]);
    assert_eq!(read(Format::NodeLink, plain), std::slice::from_ref(&expected));
    for many in [format!("[{plain}, {plain}]"), format!("{plain}\n{plain}\n"), format!(" \n{plain}{plain}")] {
        assert_eq!(read(Format::NodeLink, &many), [expected.clone(), expected.clone()]);
    }
}

#[test]
fn dot_of_all_kinds() {
    let read = |text: &str| sorted(read(Format::Dot, text).remove(0));
    assert_eq!(read("digraph{a->b->c;a->c}"), graph("a b c", &[(0, 1), (0, 2), (1, 2)]));
    assert_eq!(read("strict DIGRAPH { a -> b a -> b }"), graph("a b", &[(0, 1)]));
    assert_eq!(read("digraph { {a b} -> subgraph x { c d } -> e }").edges.len(), 6);
    assert_eq!(
        read("digraph { subgraph x { a b } subgraph x { c } -> d }"),
        graph("a b c d", &[(0, 3), (1, 3), (2, 3)])
    );
    assert_eq!(
        read("digraph { a:port:ne -> b:s [weight=2] /* c */ // d\n# e\n -1.5 -> .5 }"),
        graph("a b -1.5 .5", &[(0, 1), (2, 3)])
    );
    // Attributes: quoted, joined, HTML, numbers, without a value, in several lists; the last value holds.
    let text = "digraph { a [op=\"x\\\"y\\\\\"+ \"z\"][shape] b [op=<i<b>j</b>>, k=1; l=2] c [op=3] c [op=4] }";
    assert_eq!(read(text).ops, ["x\"y\\z", "i<b>j</b>", "4"]);
    assert_eq!(read("digraph { \"two\\\nlines\" <x> \"a\\nb\" }").ops, ["twolines", "<x>", "a\\nb"]);
    // Defaults hold for nodes that are made after them, in their braces.
    let text = "digraph { z [op=0] node [op=conv] a; subgraph { node [op=add] b; a } c -> d [op=sum] e [op=own] }";
    assert_eq!(read(text).ops, ["0", "conv", "add", "conv", "conv", "own"]);
    let text =
        "digraph \"n 1\" { graph [target=0.5] subgraph cluster_0 { target=7 label=x a } }; digraph { target=1 b }";
    let graphs = crate::support::read(Format::Dot, text);
    assert_eq!((graphs[0].target, graphs[0].id.as_deref()), (Some(0.5), Some("n 1")));
    assert_eq!((graphs[1].target, graphs[1].id.as_deref()), (Some(1.0), None));
}

#[test]
fn graphml_of_all_kinds() {
    let text = r#"<?xml version="1.0"?><!-- c --><g:graphml xmlns:g="x">
        <key id="d0" for="node" attr.name="op"><default>c &amp; d</default></key><key id="d1" for="graph" attr.name="target"/>
        <key id="d2" for="edge" attr.name="weight"/><key id="d3" yfiles.type="nodegraphics" for="node"/><desc>x</desc>
        <graph id="g1" edgedefault="directed"><data key="d1"> 0.25 </data>
          <edge source="a" target="b"><data key="d2">1</data></edge>
          <node id="a"><data key="d0"><![CDATA[<x>]]>&#65;&lt;</data><port name="p"><port name="q"/></port></node>
          <node id="b"><data key="d3"><y:Shape a="b"><y:Label> two </y:Label></y:Shape></data></node>
        </graph>
        <graph edgedefault="directed"><node id="a"/></graph></g:graphml>"#;
    let graphs = read(Format::GraphMl, text);
    assert_eq!(graphs[0].ops, ["<x>A<", "c & d"]);
    assert_eq!(
        (graphs[0].edges.as_slice(), graphs[0].target, graphs[0].id.as_deref()),
        (&[(0, 1)][..], Some(0.25), Some("g1"))
    );
    assert_eq!(graphs[1].ops, ["c & d"]);
    let yed = r#"<graphml><key id="d6" for="node" yfiles.type="nodegraphics"/><graph edgedefault="directed"><node id="n0">
        <data key="d6"><y:Shape><y:Label x="1"> conv </y:Label></y:Shape></data></node></graph></graphml>"#;
    let options = ReadOptions { op: Some("nodegraphics".into()), ..ReadOptions::default() };
    assert_eq!(read_with(Format::GraphMl, yed.as_bytes(), &options).unwrap().0[0].ops, ["conv"]);
}

#[test]
fn bif_of_all_kinds() {
    let text = "// a comment\nnetwork \"my net\" { property \"target = 0.5\" ; property author = me ; }\n\
        probability ( b | a, \"c d\" ) { (yes, no) 0.1, 0.9; default 0.5, 0.5; }\n\
        variable a { type discrete [ 2 ] { property, no }; property \"position = (1, 2)\" ; }\n\
        variable b { type discrete[2] { <5, 5-10% }; } variable \"c d\" { } probability ( a ) { table 0.5, 0.5; }\n\
        network unknown { } variable x { }";
    let (graphs, summary) = read_with(Format::Bif, text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(graphs[0].ops, ["a", "b", "c d"]);
    assert_eq!(
        (graphs[0].edges.as_slice(), graphs[0].target, graphs[0].id.as_deref()),
        (&[(0, 1), (2, 1)][..], Some(0.5), Some("my net"))
    );
    assert_eq!((graphs[1].ops.as_slice(), graphs[1].id.as_deref()), (&["x".to_owned()][..], None));
    assert_eq!(summary.ignored.keys().collect::<Vec<_>>(), ["graph attribute 'author'"]);
}
