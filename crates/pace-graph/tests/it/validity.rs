//! The validity rules of the specs, and the messages they give.

use pace_graph::{DagSpec, Error};

fn reason(spec: &DagSpec, text: &str) -> String {
    spec.parse(text).expect_err("must be invalid").to_string()
}

#[test]
fn na_wants_a_chain() {
    let spec = DagSpec::na();
    spec.parse("input conv3x3 max_pool3x3 output : 0>1 1>2 0>2 2>3").expect("a chain with a skip");
    assert!(reason(&spec, "input conv3x3 conv5x5 output : 0>1 0>2 1>3 2>3").contains("path through all nodes"));
    assert!(reason(&spec, "input conv3x3 output : 0>1 1>2 0>2").contains("exactly one predecessor and has 2"));
    assert!(reason(&spec, "conv3x3 output : 0>1").contains("exactly one 'input' node and has 0"));
    assert!(reason(&spec, "input conv7x7 output : 0>1 1>2").contains("'conv7x7', which is not in the dictionary"));
    let nine: String = "input conv3x3 conv3x3 conv3x3 conv3x3 conv3x3 conv3x3 conv3x3 output".into();
    assert!(reason(&spec, &nine).contains("9 nodes, but 'na' allows at most 8"));
    let with_start = spec.with_start_symbol();
    let chain = spec.parse("input conv3x3 output : 0>1 1>2").expect("a chain");
    with_start.validate(&with_start.add_start_symbol(&chain)).expect("a start symbol in front");
    assert!(with_start.validate(&chain).expect_err("no start symbol").to_string().contains("start symbol"));
}

#[test]
fn bn_wants_every_variable_once() {
    let spec = DagSpec::bn();
    spec.parse("input A S T L B E X D output").expect("connectivity is not asked for");
    assert!(reason(&spec, "input A S T L B E X X output").contains("exactly one 'X' node and has 2"));
}

#[test]
fn nas101_wants_every_node_on_a_path() {
    let spec = DagSpec::nas101();
    spec.parse("input output : 0>1").expect("the smallest cell");
    assert!(matches!(
        spec.parse("input maxpool3x3 output : 0>2 0>1"),
        Err(Error::Disconnected { node: 1, missing: "successor", .. })
    ));
    assert!(reason(&spec, "input maxpool3x3 output : 0>2 1>2").contains("no predecessor"));
    let k5 = "input 1 1 1 output : 0>1 0>2 0>3 0>4 1>2 1>3 1>4 2>3 2>4 3>4";
    assert!(reason(&spec, k5).contains("10 edges where at most 9"));
}

#[test]
fn darts_cells_have_one_shape() {
    let spec = DagSpec::darts();
    let edges = "0>2 1>3 2>4 3>4 0>5 4>6 5>7 6>7 1>8 7>9 8>10 9>10 0>11 10>12 11>13 12>13 4>14 7>14 10>14 13>14";
    let ops = "c_k-2 c_k-1 sep_conv_3x3 skip_connect sum 5 6 sum 7 8 sum 2 3 sum output";
    spec.parse(&format!("{ops} : {edges}")).expect("a cell");
    assert!(reason(&spec, &format!("{ops} : {}", edges.replace("0>2 ", "3>2 "))).contains("cell"));
    assert!(reason(&spec, &format!("{ops} : {}", edges.replace(" 4>14", ""))).contains("output joins"));
}

#[test]
fn trees_have_one_root_and_single_parents() {
    let spec = DagSpec::ast(["Module", "FunctionDef"]);
    spec.parse("Module FunctionDef FunctionDef : 0>1 0>2").expect("a tree");
    assert!(reason(&spec, "0 1 1").contains("exactly one root and has 3"));
    assert!(reason(&spec, "0 1 1 : 0>1 0>2 1>2").contains("node 2 has 2 parents"));
}
