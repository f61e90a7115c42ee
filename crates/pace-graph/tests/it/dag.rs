//! The Dag type: what it refuses, and its text and serde forms.

use pace_graph::{Dag, DagSpec, Error};
use proptest::prelude::{any, prop_assert_eq, proptest};

use crate::graphs::{dag, renumbered};

fn refused(text: &str) -> String {
    text.parse::<Dag>().expect_err("must be refused").to_string()
}

#[test]
fn bad_graphs_are_refused_with_a_remedy() {
    assert_eq!(refused(""), "the graph has no nodes; give it at least one operation");
    assert_eq!(refused("0 1 : 1>1"), "edge 1>1 is a self loop; remove it, a DAG has none");
    assert_eq!(refused("0 1 : 0>1 0>1"), "edge 0>1 is given twice; keep one of them");
    assert!(refused("0 1 : 0>2").contains("outside 0..2"));
    assert!(refused("0 1 2 : 0>1 1>2 2>0").contains("cycle through node"));
    assert_eq!(refused("0 x"), "expected an operation number from 0 to 65535, found 'x'");
    assert_eq!(refused("0 1 : 0-1"), "expected an edge written from>to, such as 0>2, found '0-1'");
    assert!(refused("0 70000").contains("70000"));
}

#[test]
fn virtual_nodes_go_where_the_paper_puts_them() {
    let dag: Dag = "2 3 4 : 0>2".parse().expect("a DAG");
    assert_eq!(dag.with_virtual_output(1).to_string(), "2 3 4 1 : 0>2 1>3 2>3");
    assert_eq!(dag.with_virtual_input(0).to_string(), "0 2 3 4 : 0>1 0>2 1>3");
    let spec = DagSpec::na().with_start_symbol();
    assert_eq!((spec.n_ops(), spec.max_nodes, spec.start), (9, 9, Some(8)));
    assert_eq!(spec.with_start_symbol(), spec, "adding it twice changes nothing");
}

#[test]
fn a_petgraph_graph_is_checked_on_the_way_in() {
    let mut graph = petgraph::graph::DiGraph::new();
    let (a, b) = (graph.add_node(0), graph.add_node(1));
    graph.add_edge(b, a, ());
    assert_eq!(Dag::from_graph(&graph).expect("acyclic").to_string(), "0 1 : 1>0");
    graph.add_edge(a, b, ());
    assert!(matches!(Dag::from_graph(&graph), Err(Error::Cycle { .. })));
}

#[test]
fn serde_checks_too() {
    let bad = r#"{"ops":[0,1],"edges":[[0,1],[1,0]]}"#;
    assert!(serde_json::from_str::<Dag>(bad).expect_err("a cycle").to_string().contains("cycle"));
}

proptest! {
    #[test]
    fn text_and_json_round_trip((dag, order) in renumbered(dag(20, 5))) {
        let dag = dag.relabel(&order);
        prop_assert_eq!(&dag.to_string().parse::<Dag>().expect("own text"), &dag);
        let json = serde_json::to_string(&dag).expect("serialisable");
        prop_assert_eq!(&serde_json::from_str::<Dag>(&json).expect("own JSON"), &dag);
        let neighbours: Vec<_> = (0..dag.n_nodes())
            .flat_map(|to| dag.predecessors(to).map(move |from| (from, to)).collect::<Vec<_>>()).collect();
        let mut edges: Vec<_> = dag.edges().collect();
        edges.sort_unstable_by_key(|&(from, to)| (to, from));
        prop_assert_eq!(neighbours, edges, "walks are ascending and complete");
    }

    #[test]
    fn any_text_is_an_answer_not_a_panic(text in any::<String>(), near in "[0-9 :>a-z-]{0,60}") {
        let _ = text.parse::<Dag>();
        let _ = near.parse::<Dag>();
        let _ = DagSpec::nas101().parse(&near);
    }
}
