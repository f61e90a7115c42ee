//! OGBG-CODE2: nine files side by side, held in one input.

use std::io::BufRead;

use pace_graph::dataset::{Code2, read_mapping, read_split};
use pace_graph::enumerate::RandomAst;

use crate::FILE;
use crate::law::named;
use crate::seed;

/// Between the files of an input.
const BETWEEN: u8 = 0x1e;
/// In this order, then mapping and split.
const FILES: [&str; 8] = [
    "num-node-list",
    "num-edge-list",
    "edge",
    "node-feat",
    "node_is_attributed",
    "node_dfs_order",
    "node_depth",
    "graph-label",
];

/// Two small trees.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut files = vec![String::new(); FILES.len()];
    for dag in seed::graphs(&RandomAst { n_nodes: 6, n_types: 2, max_depth: 4 }, 2) {
        let n = dag.n_nodes();
        files[0] += &format!("{n}\n");
        files[1] += &format!("{}\n", dag.n_edges());
        files[2] += &dag.edges().map(|(from, to)| format!("{from},{to}\n")).collect::<String>();
        files[3] += &dag.ops().map(|op| format!("{op},7\n")).collect::<String>();
        files[4] += &(0..n).map(|node| format!("{}\n", node % 2)).collect::<String>();
        files[5] += &(0..n).map(|node| format!("{node}\n")).collect::<String>();
        files[6] += &(0..n).map(|node| format!("{}\n", node.min(3))).collect::<String>();
        files[7] += "get name\n";
    }
    files.push("ast type idx,ast type\n0,a\n1,\"b,\"\"c\"\n".to_owned());
    files.push("0\n1\n".to_owned());
    vec![files.join(std::str::from_utf8(&[BETWEEN]).expect("ASCII")).into_bytes()]
}

/// Every tree that is read is whole.
pub fn read(input: &[u8]) {
    let parts: Vec<&[u8]> = input.split(|&byte| byte == BETWEEN).collect();
    let part = |index: usize| parts.get(index).copied().unwrap_or_default();
    let types = named(read_mapping(Box::new(part(8)), FILE)).unwrap_or_else(|| vec!["a".to_owned(), "b".to_owned()]);
    named(read_split(Box::new(part(9)), FILE, 100));
    let open = |file: &str| {
        let index = FILES.iter().position(|known| file == format!("raw/{known}.csv"));
        Ok(Box::new(part(index.expect("a known file"))) as Box<dyn BufRead + Send>)
    };
    for ast in Code2::open(types, open).expect("every file is there") {
        match ast {
            Ok(ast) => {
                let n = ast.dag.n_nodes();
                assert!(
                    [ast.attributes.len(), ast.is_attributed.len(), ast.dfs_order.len(), ast.depths.len()] == [n; 4]
                );
                assert!(ast.next_token_edges().len() < n);
            }
            Err(error) => assert!(error.to_string().contains("raw/"), "a message without a place: {error}"),
        }
    }
}
