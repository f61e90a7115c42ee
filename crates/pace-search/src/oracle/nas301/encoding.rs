//! [`Encoding`]: from a genotype to the 34 codes that the network reads.

use std::collections::HashMap;

use pace_graph::DagSpec;
use pace_graph::dataset::{DartsCell, Genotype};

use crate::error::Error;

/// Codes of one cell: 14 edges, 3 pairs of inputs.
pub(super) const N_EDGES: usize = 14;
const N_PAIRS: usize = 3;
pub(super) const N_CODES: usize = 2 * (N_EDGES + N_PAIRS);
/// Every name in `encoding.json` starts like this.
const PREFIX: &str = "NetworkSelectorDatasetInfo_COLON_darts_COLON_";
const ABSENT: &str = "#na#";

/// The first edge of every intermediate node. The edges of a node are numbered by the state they come from.
pub(super) const FIRST_EDGE: [usize; 4] = [0, 2, 5, 9];

/// The tables of `encoding.json`, in the order in which the network was trained: `edge_normal_0..13`, `edge_reduce_0..13`,
/// `inputs_node_normal_3..5`, `inputs_node_reduce_3..5`. They are sorted by number, whereas the file sorts 10 before 2.
#[derive(Clone, Debug)]
pub(super) struct Encoding {
    columns: Vec<HashMap<String, usize>>,
    op_names: Vec<String>,
}

impl Encoding {
    /// Parses the text of `encoding.json`. Column i of the network knows `n_codes[i]` codes.
    pub(super) fn parse(text: &str, file: &str, n_codes: &[usize; N_CODES]) -> Result<Encoding, Error> {
        let wrong = |reason: String| Error::Network { file: file.to_owned(), reason };
        let mut tables: HashMap<String, HashMap<String, usize>> = serde_json::from_str(text)
            .map_err(|error| wrong(format!("no tables of codes ({error}); fetch it again")))?;
        let cells = ["normal", "reduce"];
        let edges = cells.iter().flat_map(|cell| (0..N_EDGES).map(move |edge| format!("{PREFIX}edge_{cell}_{edge}")));
        let pairs = cells.iter().flat_map(|cell| (3..6).map(move |node| format!("{PREFIX}inputs_node_{cell}_{node}")));
        let mut columns = Vec::with_capacity(N_CODES);
        for (name, &n_codes) in edges.chain(pairs).zip(n_codes) {
            let table = tables.remove(&name);
            let table = table.ok_or_else(|| wrong(format!("there is no table '{name}'; it is another encoding")))?;
            if let Some((word, code)) = table.iter().find(|&(_, &code)| code >= n_codes) {
                return Err(wrong(format!(
                    "'{name}' has code {code} for '{word}', but the network knows only {n_codes}"
                )));
            }
            columns.push(table);
        }
        Ok(Encoding { columns, op_names: DagSpec::darts().ops })
    }

    /// The 34 codes. The two inputs of a node must differ, and every choice must have a code.
    pub(super) fn codes(&self, genotype: &Genotype) -> Result<[usize; N_CODES], pace_graph::Error> {
        let mut words = vec![ABSENT.to_owned(); N_CODES];
        for (which, cell) in [genotype.normal, genotype.reduce].iter().enumerate() {
            let [first_edge, first_pair] = [which * N_EDGES, 2 * N_EDGES + which * N_PAIRS];
            for (edge, op) in edges(cell)? {
                words[first_edge + edge] = self.op_names[op].clone();
            }
            for node in 1..4 {
                let [low, high] = inputs(cell, node);
                words[first_pair + node - 1] = format!("{low}_{high}");
            }
        }
        let mut codes = [0; N_CODES];
        for ((code, word), column) in codes.iter_mut().zip(&words).zip(&self.columns) {
            *code = *column.get(word).ok_or_else(|| rule(format!("the network has no code for '{word}'")))?;
        }
        Ok(codes)
    }
}

/// The two states that intermediate `node` (0..=3) reads, ascending.
pub(super) fn inputs(cell: &DartsCell, node: usize) -> [usize; 2] {
    let [a, b] = [2 * node, 2 * node + 1].map(|entry| cell.edges()[entry].input);
    [a.min(b), a.max(b)]
}

/// The edge and the operation of every entry.
pub(super) fn edges(cell: &DartsCell) -> Result<[(usize, usize); 8], pace_graph::Error> {
    if let Some(node) = (0..4).find(|&node| inputs(cell, node)[0] == inputs(cell, node)[1]) {
        return Err(rule(format!("both operations of intermediate {node} read one state; choose two different ones")));
    }
    let mut edges = [(0, 0); 8];
    for (entry, (edge, choice)) in edges.iter_mut().zip(cell.edges()).enumerate() {
        *edge = (FIRST_EDGE[entry / 2] + choice.input, usize::from(choice.op));
    }
    Ok(edges)
}

fn rule(rule: String) -> pace_graph::Error {
    pace_graph::Error::Rule { spec: "darts".to_owned(), rule }
}
