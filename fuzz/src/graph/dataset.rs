//! The dataset formats of one file.

use pace_graph::DagSpec;
use pace_graph::dataset::{
    Bn, DartsArchs, DartsGenotypes, DartsPairs, Dataset, DatasetFormat, JsonLines, Na, Nas101Cell, Nas101Table,
    Nas101TfRecord, Sample, bn_line, na_line, write_json_lines, write_nas101_table, write_nas101_tfrecord,
};
use pace_graph::enumerate::{Enas, OrderedBn, RandomDag};
use pace_search::oracle::{Scores, Table};

use crate::FILE;
use crate::law::named;
use crate::seed;

/// Reads a dataset. It is not empty, obeys its spec, and has finite targets.
fn load(format: &dyn DatasetFormat, input: &[u8]) -> Option<Dataset> {
    let dataset = named(format.read(&mut &*input, FILE, &mut |_| {}))?;
    assert!(!dataset.samples.is_empty());
    for Sample { dag, target, .. } in &dataset.samples {
        assert!(dataset.spec.is_valid(dag), "{dag} in {:?}", dataset.spec);
        assert!(target.is_none_or(f64::is_finite));
    }
    Some(dataset)
}

/// Samples as lines of text, through a writer of single lines.
fn lines<E: std::fmt::Debug>(dataset: &Dataset, line: fn(&pace_graph::Dag, f64) -> Result<String, E>) -> Vec<u8> {
    let line = |sample: &Sample| line(&sample.dag, sample.target.expect("every line has one")).expect("what was read");
    dataset.samples.iter().map(|sample| line(sample) + "\n").collect::<String>().into_bytes()
}

pub fn na_seeds() -> Vec<Vec<u8>> {
    let line = |n_layers| {
        let dags = seed::graphs(&Enas { n_layers }, 3);
        dags.iter().map(|dag| na_line(dag, 0.7302).expect("of the space") + "\n").collect::<String>().into_bytes()
    };
    [1, 6, 12].into_iter().map(line).collect()
}

pub fn na(input: &[u8]) {
    let format = Na { burn_in: 0 };
    if let Some(found) = load(&format, input) {
        assert_eq!(load(&format, &lines(&found, na_line)).expect("what was written").samples, found.samples);
    }
}

pub fn bn_seeds() -> Vec<Vec<u8>> {
    let dags = seed::graphs(&OrderedBn::default(), 6);
    dags.chunks(2)
        .map(|dags| dags.iter().map(|dag| bn_line(dag, -1.5e4).expect("of the space") + "\n").collect::<String>())
        .map(String::into_bytes)
        .collect()
}

pub fn bn(input: &[u8]) {
    if let Some(found) = load(&Bn::default(), input) {
        let written = lines(&found, bn_line);
        assert_eq!(load(&Bn::default(), &written).expect("what was written").samples, found.samples);
    }
}

pub fn table_seeds() -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    write_nas101_table(&seed::cells(), &mut bytes).expect("cells of the space");
    vec![bytes]
}

pub fn table(input: &[u8]) {
    load(&Nas101Table { check_hashes: true }, input);
    let format = Nas101Table { check_hashes: false };
    let Some(cells) = named(format.read_cells(&mut &*input, FILE, &mut |_| {})) else { return };
    load(&format, input).expect("the same file");
    let mut written = Vec::new();
    write_nas101_table(&cells, &mut written).expect("what was read");
    assert_eq!(format.read_cells(&mut &*written, FILE, &mut |_| {}).expect("what was written"), cells);
    let score = |cell: &Nas101Cell| Scores { guide: cell.runs[0].test_accuracy, report: cell.runs[0].test_accuracy };
    if let Ok(table) = Table::new(cells.iter().map(|cell| (cell.dag.clone(), score(cell))), None) {
        assert!(cells.iter().all(|cell| table.scores(&cell.dag) == Some(score(cell))));
    }
}

pub fn tfrecord_seeds() -> Vec<Vec<u8>> {
    let write = |cells: &[Nas101Cell]| {
        let mut bytes = Vec::new();
        write_nas101_tfrecord(cells, &mut bytes).expect("cells of the space");
        bytes
    };
    seed::cells().chunks(2).map(write).collect()
}

pub fn tfrecord(input: &[u8]) {
    load(&Nas101TfRecord { check_hashes: true, ..Nas101TfRecord::default() }, input);
    let format = Nas101TfRecord::default();
    let Some(cells) = named(format.read_cells(&mut &*input, FILE, &mut |_| {})) else { return };
    let mut written = Vec::new();
    write_nas101_tfrecord(&cells, &mut written).expect("what was read");
    assert_eq!(format.read_cells(&mut &*written, FILE, &mut |_| {}).expect("what was written"), cells);
}

/// The payloads of records: checksums would stop almost every mutation.
pub fn record_seeds() -> Vec<Vec<u8>> {
    let payload = |file: Vec<u8>| {
        let n_bytes = u64::from_le_bytes(file[..8].try_into().expect("8 bytes")) as usize;
        file[12..12 + n_bytes].to_vec()
    };
    tfrecord_seeds().into_iter().map(payload).collect()
}

pub fn record(input: &[u8]) {
    let masked = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let length = (input.len() as u64).to_le_bytes();
    tfrecord(&[&length[..], &masked(&length), input, &masked(input)].concat());
}

pub fn genotype_seeds() -> Vec<Vec<u8>> {
    let genotypes = seed::genotypes();
    let line = |genotype: &pace_graph::dataset::Genotype| [format!("{genotype}\n"), format!("{genotype}\t94.5\n")];
    genotypes.iter().flat_map(line).map(String::into_bytes).collect()
}

pub fn genotypes(input: &[u8]) {
    load(&DartsGenotypes::default(), input);
}

pub fn arch_seeds() -> Vec<Vec<u8>> {
    let entry =
        |(key, genotype): (usize, pace_graph::dataset::Genotype)| format!("\"{key}\": \"{}\"", genotype.compact());
    let entries: Vec<String> = seed::genotypes().into_iter().enumerate().map(entry).collect();
    vec![format!("{{{}}}", entries.join(", ")).into_bytes()]
}

pub fn archs(input: &[u8]) {
    load(&DartsArchs::default(), input);
}

pub fn pair_seeds() -> Vec<Vec<u8>> {
    let row = |genotype: pace_graph::dataset::Genotype| format!("\"{}\",93.5,94.25\n", genotype.compact());
    let rows: String = seed::genotypes().into_iter().map(row).collect();
    vec![format!("arch,val_accuracy_nb301,yahpo_v1_pred_epoch98\n{rows}").into_bytes()]
}

pub fn pairs(input: &[u8]) {
    load(&DartsPairs::default(), input);
}

pub fn json_seeds() -> Vec<Vec<u8>> {
    let write = |spec: DagSpec, dags: Vec<pace_graph::Dag>| {
        let samples =
            dags.into_iter().map(|dag| Sample { id: Some("x".to_owned()), ..Sample::new(dag, 0.5) }).collect();
        let mut bytes = Vec::new();
        let dataset = Dataset { name: "mine".to_owned(), spec, samples, note: "a note".to_owned() };
        write_json_lines(&dataset, &mut bytes).expect("to memory");
        bytes
    };
    let mine = DagSpec::new("mine", ["a", "b", "c"], 6);
    let small = RandomDag { n_nodes: 5, n_ops: 3, edge_probability: 0.5 };
    let bare = br#"{"ops": [0, 1, 2], "edges": [[0, 1], [1, 2]]}
{"ops": [0, 2], "edges": [], "target": -1e3, "id": 7, "more": null}
"#;
    let cells = seed::cells().into_iter().map(|cell| cell.dag).collect();
    vec![
        write(mine, seed::graphs(&small, 3)),
        write(DagSpec::nas101(), cells),
        write(DagSpec::na(), seed::graphs(&Enas::default(), 2)),
        bare.to_vec(),
    ]
}

pub fn json_lines(input: &[u8]) {
    load(&JsonLines { spec: Some(DagSpec::darts()) }, input);
    let format = JsonLines::default();
    let Some(found) = load(&format, input) else { return };
    let mut written = Vec::new();
    write_json_lines(&found, &mut written).expect("to memory");
    let again = load(&format, &written).expect("what was written");
    assert_eq!((again.spec, again.samples), (found.spec, found.samples));
}
