//! The text forms: graphs, genotypes, hashes.

use pace_graph::dataset::{Genotype, ModuleHash};
use pace_graph::structure::{MaskRule, mask};
use pace_graph::{Dag, DagSpec, GraphKey, canonical, dag2seq, seq2dag};

use crate::seed::{all_graphs, cells, genotypes};

/// Graphs beyond this size are only parsed: the canonical order of a large graph is not the reader's business.
const MAX_NODES: usize = 200;

/// Graphs by number and by name, genotypes in both forms, hashes.
pub fn seeds() -> Vec<Vec<u8>> {
    let graphs = all_graphs().into_iter().map(|dag| dag.to_string());
    let named = cells().into_iter().flat_map(|cell| [DagSpec::nas101().format(&cell.dag), cell.hash.to_string()]);
    let genotypes = genotypes().into_iter().flat_map(|genotype| [genotype.to_string(), genotype.compact()]);
    graphs.chain(named).chain(genotypes).map(String::into_bytes).collect()
}

/// Whatever parses is written and parsed again, equal; the canonical form of a graph is lossless.
pub fn read(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(dag) = text.parse::<Dag>() {
        assert_eq!(dag.to_string().parse::<Dag>().expect("what was written"), dag);
        if dag.n_nodes() <= MAX_NODES {
            laws(&dag);
        }
    }
    for spec in [DagSpec::nas101(), DagSpec::darts(), DagSpec::bn(), DagSpec::na()] {
        if let Ok(dag) = spec.parse(text) {
            assert_eq!(spec.parse(&spec.format(&dag)).expect("what was written"), dag);
        }
    }
    if let Ok(genotype) = text.parse::<Genotype>() {
        assert_eq!(genotype.compact().parse::<Genotype>().expect("what was written"), genotype);
        assert_eq!(genotype.to_string().parse::<Genotype>().expect("what was written"), genotype);
    }
    if let Ok(hash) = text.parse::<ModuleHash>() {
        assert_eq!(hash.to_string().parse::<ModuleHash>().expect("what was written"), hash);
    }
}

fn laws(dag: &Dag) {
    let (form, sequence) = (canonical(dag), dag2seq(dag));
    assert_eq!(seq2dag(&sequence), form);
    assert_eq!(dag2seq(&form), sequence, "the canonical form is its own");
    assert_eq!(sequence.mask(MaskRule::PACE), mask(&form, MaskRule::PACE));
    assert_eq!(GraphKey::of(dag).canonical(), form);
    let reversed: Vec<usize> = (0..dag.n_nodes()).rev().collect();
    assert_eq!(dag2seq(&dag.relabel(&reversed)), sequence, "any numbering gives the same sequence");
}
