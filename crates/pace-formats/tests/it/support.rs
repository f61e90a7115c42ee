//! What the tests share: reading into a list, and random graphs with odd names.

use pace_formats::{Error, Format, GraphFormat, ReadOptions, Summary};
use pace_graph::Named;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

/// The name that readers are given.
pub const FILE: &str = "my.file";

/// All graphs of a file, and the summary.
pub fn read_with(format: Format, bytes: &[u8], options: &ReadOptions) -> Result<(Vec<Named>, Summary), Error> {
    let mut graphs = Vec::new();
    let summary = format.read(&mut &*bytes, FILE, options, &mut |graph| {
        graphs.push(graph);
        Ok(())
    })?;
    Ok((graphs, summary))
}

/// All graphs of a text.
pub fn read(format: Format, text: &str) -> Vec<Named> {
    read_with(format, text.as_bytes(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}: {text}")).0
}

/// What a bad file is told.
pub fn message(format: Format, bytes: &[u8]) -> String {
    match read_with(format, bytes, &ReadOptions::default()) {
        Ok((graphs, _)) => panic!("{} was read as {graphs:?}", String::from_utf8_lossy(bytes)),
        Err(error) => error.to_string(),
    }
}

/// The bytes that a format makes of graphs.
pub fn written(format: Format, graphs: &[Named]) -> Vec<u8> {
    let mut bytes = Vec::new();
    format.write(&mut graphs.iter(), &mut bytes).unwrap();
    bytes
}

/// A graph with edges, by operations in one text.
pub fn graph(ops: &str, edges: &[(usize, usize)]) -> Named {
    Named { ops: ops.split(' ').map(str::to_owned).collect(), edges: edges.to_vec(), ..Named::default() }
}

/// A graph whose edges are sorted, to compare.
pub fn sorted(mut graph: Named) -> Named {
    graph.edges.sort_unstable();
    graph
}

/// Names that mean something to one format or another, and names that mean nothing.
pub fn name() -> impl Strategy<Value = String> {
    let odd = "|node|graph|digraph|subgraph|strict|edge|a b|é\u{301}|\"|\\|\\\"|\\n|\n|\r|\r\n|\t|<|>|<b>x</b>|&|&amp;|]]>|<!--|-->|{|}|;|#x|\
        //x|/*|*/|->|--|variable|probability|network|property|unknown|0|-1.5|.5|1e3|null|true|NaN|\u{feff}|\u{1f600}|'|,|=|a:b|]|(|)|  |ö"
        .split('|')
        .map(str::to_owned)
        .collect::<Vec<_>>();
    prop_oneof![3 => select(odd), 2 => "[a-z]{1,3}", 1 => "[ -~äλ\n\"\\\\<&]{0,6}"]
}

/// Random DAGs, whose nodes stand in any order.
pub fn dag() -> impl Strategy<Value = Named> {
    let sizes = (1_usize..8).prop_flat_map(|n_nodes| {
        let order = Just((0..n_nodes).collect::<Vec<_>>()).prop_shuffle();
        (vec(name(), n_nodes), order, vec(any::<bool>(), n_nodes * n_nodes))
    });
    let target = option::of(prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), Just(0.1)]);
    (sizes, target, option::of(name())).prop_map(|((ops, order, coins), target, id)| {
        let n_nodes = ops.len();
        let pairs = (0..n_nodes).flat_map(|from| (0..from).map(move |to| (from, to)));
        let edges = pairs.filter(|(from, to)| coins[from * n_nodes + to]).map(|(from, to)| (order[from], order[to]));
        Named { edges: edges.collect(), ops, target, id }
    })
}
