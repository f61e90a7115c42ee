//! The graph hash of NAS-Bench-101 (Ying et al. 2019, appendix; `graph_util.hash_module` of the authors' code).

use md5::{Digest, Md5};

use super::ModuleHash;
use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::spec::DagSpec;

/// The benchmark's name of a cell over the dictionary of [`DagSpec::nas101`]; the numbering does not matter.
///
/// Every vertex starts from the MD5 of Python's `str((out_degree, in_degree, label))`. Then, once per vertex, all are
/// replaced by `md5(sorted in-hashes + '|' + sorted out-hashes + '|' + own hash)`. The result is the MD5 of Python's
/// `str(sorted(hashes))`. It is a 1-WL refinement: equal hashes prove nothing outside the benchmark's space.
pub fn nas101_hash(dag: &Dag) -> Result<ModuleHash, Error> {
    let n_nodes = dag.n_nodes();
    let predecessors: Vec<Vec<usize>> = (0..n_nodes).map(|node| dag.predecessors(node).collect()).collect();
    let successors: Vec<Vec<usize>> = (0..n_nodes).map(|node| dag.successors(node).collect()).collect();
    let start = |node: usize| {
        let (n_out, n_in) = (successors[node].len(), predecessors[node].len());
        Ok(hex_md5(format!("({n_out}, {n_in}, {})", label(node, dag.op(node))?).as_bytes()))
    };
    let mut hashes = (0..n_nodes).map(start).collect::<Result<Vec<Hex>, Error>>()?;
    let mut text = Vec::new();
    for _ in 0..n_nodes {
        let next = (0..n_nodes).map(|node| {
            text.clear();
            for neighbours in [&predecessors[node], &successors[node]] {
                let mut sorted: Vec<&Hex> = neighbours.iter().map(|&other| &hashes[other]).collect();
                sorted.sort_unstable();
                sorted.into_iter().for_each(|hash| text.extend_from_slice(hash));
                text.push(b'|');
            }
            text.extend_from_slice(&hashes[node]);
            hex_md5(&text)
        });
        hashes = next.collect();
    }
    hashes.sort_unstable();
    // Python's repr of a list of strings.
    let quoted: Vec<String> = hashes.iter().map(|hash| format!("'{}'", String::from_utf8_lossy(hash))).collect();
    Ok(ModuleHash(Md5::digest(format!("[{}]", quoted.join(", "))).into()))
}

/// 32 hexadecimal digits: their order as text is what the hash sorts by.
type Hex = [u8; 32];

fn hex_md5(bytes: &[u8]) -> Hex {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Md5::digest(bytes);
    std::array::from_fn(|at| DIGITS[usize::from(digest[at / 2] >> (4 * (1 - at % 2)) & 15)])
}

/// The benchmark numbers operations conv3x3, conv1x1, maxpool; its input is -1 and its output -2.
fn label(node: usize, op: Op) -> Result<i32, Error> {
    const LABELS: [i32; 5] = [-1, 1, 0, 2, -2];
    LABELS.get(usize::from(op)).copied().ok_or_else(|| DagSpec::nas101().unknown_op(node, op.to_string()))
}
