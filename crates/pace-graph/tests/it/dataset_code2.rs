//! The OGBG-CODE2 folder layout, on a folder of two trees made here.

use std::collections::HashMap;
use std::io::BufRead;

use pace_graph::Error;
use pace_graph::dataset::{Ast, Code2, read_mapping, read_split};

type Folder = HashMap<&'static str, String>;

fn folder() -> Folder {
    HashMap::from([
        ("raw/num-node-list.csv", "4\n2\n".to_owned()),
        ("raw/num-edge-list.csv", "3\n1\n".to_owned()),
        ("raw/edge.csv", "0,1\n1,2\n1,3\n0,1\n".to_owned()),
        ("raw/node-feat.csv", "0,9\n1,8\n2,7\n2,6\n0,9\n1,5\n".to_owned()),
        ("raw/node_is_attributed.csv", "0\n1\n1\n1\n0\n1\n".to_owned()),
        ("raw/node_dfs_order.csv", "0\n1\n2\n3\n0\n1\n".to_owned()),
        ("raw/node_depth.csv", "0\n1\n2\n2\n0\n1\n".to_owned()),
        ("raw/graph-label.csv", "get name\nrun\n".to_owned()),
    ])
}

fn types() -> Vec<String> {
    ["Module", "FunctionDef", "Name"].map(str::to_owned).to_vec()
}

fn read(folder: &Folder) -> Result<Vec<Ast>, Error> {
    let open = |file: &str| Ok(Box::new(folder[file].as_bytes()) as Box<dyn BufRead + Send>);
    Code2::open(types(), open)?.collect()
}

#[test]
fn graphs_come_one_by_one() -> Result<(), Error> {
    let asts = read(&folder())?;
    assert_eq!(asts.len(), 2);
    assert_eq!(asts[0].dag.to_string(), "0 1 2 2 : 0>1 1>2 1>3");
    assert_eq!(asts[0].attributes, [9, 8, 7, 6]);
    assert_eq!(asts[0].depths, [0, 1, 2, 2]);
    assert_eq!(asts[0].is_attributed, [false, true, true, true]);
    assert_eq!(asts[0].next_token_edges(), [(1, 2), (2, 3)]);
    assert_eq!(
        (&asts[0].label[..], &asts[1].label[..]),
        (&["get".to_owned(), "name".to_owned()][..], &["run".to_owned()][..])
    );
    Ok(())
}

#[test]
fn progress_and_limits() -> Result<(), Error> {
    let folder = folder();
    let mut code2 = Code2::open(types(), |file| Ok(Box::new(folder[file].as_bytes()) as Box<dyn BufRead + Send>))?;
    assert!(code2.next().is_some_and(|ast| ast.is_ok()));
    assert_eq!(code2.progress().rows, 1);
    assert!(code2.progress().bytes > 0);
    code2.spec_mut().max_nodes = 1;
    let message = code2.next().expect("an error").expect_err("too many").to_string();
    assert!(message.contains("raw/num-node-list.csv, row 2: 2 nodes"), "{message}");
    assert!(code2.next().is_none(), "nothing comes after an error");
    Ok(())
}

#[test]
fn bad_folders() {
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("raw/edge.csv", "1,3", "3,3", &["row 3", "3>3 is a self loop", "remove"]),
        ("raw/edge.csv", "1,3", "1,2", &["row 3", "1>2 is given twice", "keep one"]),
        ("raw/edge.csv", "0,1\n1,2\n1,3", "3,1\n1,2\n2,3", &["row 3", "cycle", "remove"]),
        ("raw/edge.csv", "1,3", "2,4", &["row 3", "outside 0..4", "numbered from 0"]),
        ("raw/edge.csv", "1,3\n0,1\n", "1,3\n", &["cut off after 3 whole rows", "graph 2", "fetch it again"]),
        ("raw/edge.csv", "1,3", "1;3", &["row 3", "parent,child"]),
        ("raw/edge.csv", "0,1\n1,2\n1,3\n0,1\n", "0,1\n1,2\n1,3\n0,1\n0,1\n", &["row 5", "no more"]),
        ("raw/num-edge-list.csv", "3\n1\n", "2\n2\n", &["raw/edge.csv, row 2", "exactly one root"]),
        ("raw/node-feat.csv", "2,7", "3,7", &["row 3", "operation '3'", "correct it or extend"]),
        ("raw/node-feat.csv", "1,5\n", "", &["cut off after 5 whole rows", "fetch it again"]),
        ("raw/node-feat.csv", "1,5\n", "1,5", &["cut off after 5 whole rows", "fetch it again"]),
        ("raw/num-node-list.csv", "4\n", "99999999999999999\n", &["cut off", "graph 1 needs more rows"]),
        ("raw/num-node-list.csv", "4\n", "99999999999999999999999\n", &["row 1", "a number of nodes"]),
        ("raw/num-node-list.csv", "4\n", "0\n", &["row 1", "no nodes"]),
        ("raw/num-node-list.csv", "4\n2\n", "", &["holds no graphs", "at least one row"]),
        ("raw/node_is_attributed.csv", "1\n1\n1\n", "1\n2\n1\n", &["row 3", "0 or 1"]),
        ("raw/node_depth.csv", "0\n1\n2\n2\n", "0\n1\n2\nnan\n", &["row 4", "a depth"]),
        ("raw/graph-label.csv", "run\n", "", &["cut off after 1 whole rows", "fetch it again"]),
    ];
    for &(file, from, to, words) in cases {
        let mut bad = folder();
        bad.insert(file, folder()[file].replacen(from, to, 1));
        let message = read(&bad).expect_err("a bad folder").to_string();
        for word in ["raw/"].iter().chain(words) {
            assert!(message.contains(word), "{file}, {to:?}: '{word}' is not in: {message}");
        }
    }
}

#[test]
fn mappings_and_splits() {
    let mapping = "attr idx,attr\n0,plain\n1,\"a, b\"\n2,\"two\nlines \"\"quoted\"\"\"\n";
    let names = read_mapping(Box::new(mapping.as_bytes()), "mapping/attridx2attr.csv").expect("three names");
    assert_eq!(names, ["plain", "a, b", "two\nlines \"quoted\""]);
    for (bad, word) in [
        ("i,t\n1,x\n", "index 0"),
        ("i,t\n", "below the header"),
        ("i,t\n0,\"x\n", "cut off"),
        ("i,t\n0\n", "2 fields"),
    ] {
        let message = read_mapping(Box::new(bad.as_bytes()), "map.csv").expect_err("bad").to_string();
        assert!(message.contains("map.csv") && message.contains(word), "{message}");
    }
    assert_eq!(read_split(Box::new(&b"1\n0\n"[..]), "train.csv", 2).expect("two"), [1, 0]);
    let message = read_split(Box::new(&b"1\n2\n"[..]), "train.csv", 2).expect_err("outside").to_string();
    assert!(message.contains("train.csv, row 2") && message.contains("below 2"), "{message}");
}
