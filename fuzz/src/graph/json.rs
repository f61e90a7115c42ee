//! Graphs, sequences, specs and formats as JSON.

use pace_graph::dataset::{Bn, Format, JsonLines, Na, Nas101Table, Nas101TfRecord};
use pace_graph::{Dag, DagSpec, Sequence, dag2seq, seq2dag};

use crate::law::json;
use crate::seed::{all_graphs, graphs};

/// One of each.
pub fn seeds() -> Vec<Vec<u8>> {
    let dags = all_graphs();
    let small = || dags.iter().filter(|dag| dag.n_nodes() < 20);
    let specs =
        [DagSpec::na(), DagSpec::bn(), DagSpec::nas101(), DagSpec::darts(), DagSpec::new("mine", ["a", "b"], 9)];
    let formats = [
        Format::Na(Na::default()),
        Format::Bn(Bn::default()),
        Format::Nas101Table(Nas101Table::default()),
        Format::Nas101TfRecord(Nas101TfRecord::default()),
        Format::JsonLines(JsonLines { spec: Some(DagSpec::nas101()) }),
    ];
    let text = |value: serde_json::Value| value.to_string().into_bytes();
    let dags = small().map(|dag| serde_json::json!(dag)).chain(small().map(|dag| serde_json::json!(dag2seq(dag))));
    let rest = specs.iter().map(|spec| serde_json::json!(spec)).chain(formats.iter().map(|f| serde_json::json!(f)));
    dags.chain(rest).map(text).collect()
}

/// Reads the input as each of them.
pub fn read(input: &[u8]) {
    if let Some(dag) = json::<Dag>(input) {
        assert_eq!(dag.to_string().parse::<Dag>().expect("what was written"), dag);
    }
    if let Some(sequence) = json::<Sequence>(input) {
        assert_eq!(Sequence::as_stored(&seq2dag(&sequence)), sequence);
    }
    if let Some(spec) = json::<DagSpec>(input) {
        let with_start = spec.with_start_symbol();
        assert!(with_start.n_ops() >= spec.n_ops());
        for dag in graphs(&pace_graph::enumerate::Enas { n_layers: 3 }, 1) {
            // The answer does not matter: a rule must not trust the spec.
            let _ = (spec.validate(&dag), with_start.validate(&dag), spec.format(&dag));
        }
    }
    json::<Format>(input);
}
