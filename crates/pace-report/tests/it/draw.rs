//! Drawings of graphs.

use pace_graph::{AddedEnds, Dag, DagSpec};
use pace_report::{DrawOptions, draw, standalone};

use crate::markup;

fn dag(text: &str) -> Dag {
    text.parse().unwrap()
}

#[test]
fn isomorphic_cells_look_the_same() {
    let spec = DagSpec::nas101();
    let [one, other] = ["0 2 3 4 : 0>1 0>2 1>3 2>3", "4 3 0 2 : 2>1 2>3 1>0 3>0"]
        .map(|text| draw(&dag(text), &spec, &DrawOptions::default()));
    // Only the order of the elements may follow the numbering.
    let sorted = |svg: &str| {
        let mut parts: Vec<String> = svg.split("<g ").skip(2).map(|part| part.replace("</g></svg>", "")).collect();
        parts.sort();
        parts
    };
    assert_eq!(sorted(&one), sorted(&other));
    markup::check(&one);
    markup::check(&standalone(&one));
}

#[test]
fn long_names_are_shortened_and_kept_as_titles() {
    let spec = DagSpec::new("long", ["a_very_long_operation_name<>&\"", "b"], 2);
    let svg = draw(&dag("0 1 : 0>1"), &spec, &DrawOptions::default());
    assert!(svg.contains("<title>a_very_long_operation_name&lt;&gt;&amp;&quot;</title>"), "{svg}");
    assert!(svg.contains(">a_very_long…&lt;&gt;&amp;&quot;".split('…').next().unwrap()), "{svg}");
    markup::check(&svg);
}

#[test]
fn roles_are_grey_and_operations_have_hues() {
    let spec = DagSpec::new("mine", ["in", "out", "a", "b"], 9);
    let spec = DagSpec { input: Some(0), output: Some(1), added: AddedEnds { input: false, output: true }, ..spec };
    let svg = draw(&dag("0 2 3 1 : 0>1 1>2 2>3"), &spec, &DrawOptions { highlight: vec![1], ..DrawOptions::default() });
    for class in ["\"end\"", "\"end added\"", "\"k0 hot\"", "\"k1\""] {
        assert!(svg.contains(&format!("<g class={class}")), "{class} in {svg}");
    }
}

#[test]
fn weights_set_width_and_opacity_and_odd_ones_are_nothing() {
    let weights = vec![1.0, f64::NAN, 7.0];
    let options = DrawOptions { weights, scale: f64::NAN, ..DrawOptions::default() };
    let svg = draw(&dag("0 1 2 3 : 0>1 0>2 1>3 2>3"), &DagSpec::new("w", ["a"], 4), &options);
    assert_eq!((svg.matches("opacity=\"1.00\"").count(), svg.matches("opacity=\"0.15\"").count()), (3, 1));
    markup::check(&svg);
}

#[test]
fn huge_graphs_are_named_rather_than_drawn() {
    let options = DrawOptions { max_nodes: 1, ..DrawOptions::default() };
    let svg = draw(&dag("0 1 : 0>1"), &DagSpec::na(), &options);
    assert!(svg.contains("2 nodes and 1 edges: too many to draw"), "{svg}");
    markup::check(&svg);
}
