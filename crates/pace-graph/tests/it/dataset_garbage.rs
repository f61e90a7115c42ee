//! Garbage in, an error (or a lucky parse) out: never a panic, never a memory blow-up.

use std::io::BufRead;

use pace_graph::Error;
use pace_graph::dataset::{
    Bn, Code2, DartsArchs, DartsGenotypes, DartsPairs, DataDir, Dataset, DatasetFormat, Format, Genotype, JsonLines,
    ModuleHash, Na, Nas101Table, Nas101TfRecord, Sample, bn_line, decompressed, na_line, read_mapping, read_split,
    write_json_lines, write_nas101_table, write_nas101_tfrecord,
};
use pace_graph::{Dag, DagSpec};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};

use crate::dataset_round_trip::{bn_dag, dag, genotype, na_dag, nas101_cells};

/// Every reader, strict and with all its checks.
fn read_all(bytes: &[u8]) {
    let formats = [
        Format::Na(Na { burn_in: 0 }),
        Format::Bn(Bn::default()),
        Format::Nas101Table(Nas101Table { check_hashes: true }),
        Format::Nas101TfRecord(Nas101TfRecord { check_hashes: true, ..Nas101TfRecord::default() }),
        Format::DartsGenotypes(DartsGenotypes::default()),
        Format::DartsArchs(DartsArchs::default()),
        Format::DartsPairs(DartsPairs::default()),
        Format::JsonLines(JsonLines::default()),
        Format::JsonLines(JsonLines { spec: Some(DagSpec::darts()) }),
    ];
    for format in formats {
        let found = format.read(&mut &*bytes, "my.file", &mut |_| {});
        check(found.map(|dataset| {
            assert!(!dataset.samples.is_empty());
            assert!(dataset.samples.iter().all(|sample| dataset.spec.is_valid(&sample.dag)), "{dataset:?}");
            assert!(dataset.samples.iter().all(|sample| sample.target.is_none_or(f64::is_finite)));
        }));
    }
    check(read_mapping(Box::new(bytes), "my.file").map(drop));
    check(read_split(Box::new(bytes), "my.file", 100).map(drop));
    let text = String::from_utf8_lossy(bytes);
    let _ = (text.parse::<Dag>(), text.parse::<Genotype>(), text.parse::<ModuleHash>());
    let _ = (DagSpec::nas101().parse(&text), DagSpec::darts().parse(&text));
    if let Ok(mut reader) = decompressed(bytes) {
        check(Na { burn_in: 0 }.read(&mut *reader, "my.file", &mut |_| {}).map(drop));
    }
}

fn check(found: Result<(), Error>) {
    if let Err(error) = found {
        assert!(error.to_string().contains("my.file"), "a message without a place: {error}");
    }
}

/// A valid file of some format.
fn valid() -> impl Strategy<Value = Vec<u8>> {
    let na = prop::collection::vec(na_dag(), 1..4)
        .prop_map(|dags| dags.iter().map(|dag| na_line(dag, 0.7302).unwrap() + "\n").collect::<String>().into_bytes());
    let bn = prop::collection::vec(bn_dag(), 1..4)
        .prop_map(|dags| dags.iter().map(|dag| bn_line(dag, -1.5).unwrap() + "\n").collect::<String>().into_bytes());
    let tfrecord = nas101_cells().prop_map(|cells| {
        let mut bytes = Vec::new();
        write_nas101_tfrecord(&cells, &mut bytes).unwrap();
        bytes
    });
    let table = nas101_cells().prop_map(|mut cells| {
        for cell in &mut cells {
            cell.runs.truncate(1);
            cell.runs[0].epochs = 108;
            cell.runs[0].test_accuracy = 0.5;
        }
        let mut bytes = Vec::new();
        write_nas101_table(&cells, &mut bytes).unwrap();
        bytes
    });
    let named = genotype().prop_map(|genotype| format!("{genotype}\t94.5\n").into_bytes());
    let compact = genotype().prop_map(|genotype| format!("{{\"0\": \"{}\"}}", genotype.compact()).into_bytes());
    let json = prop::collection::vec(dag(6, 3), 1..4).prop_map(|dags| {
        let samples = dags.into_iter().map(|dag| Sample::new(dag, 0.5)).collect();
        let spec = DagSpec::new("mine", ["a", "b", "c"], 6);
        let mut bytes = Vec::new();
        write_json_lines(&Dataset { name: "mine".into(), spec, samples, note: String::new() }, &mut bytes).unwrap();
        bytes
    });
    proptest::prop_oneof![na, bn, tfrecord, table, named, compact, json]
}

/// One damage: overwrite, insert, remove, repeat a stretch, or cut off.
#[derive(Clone, Debug)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let hostile = prop::sample::select(vec![
        "99999999999999999999",
        "18446744073709551615",
        "-1",
        "NaN",
        "1e999",
        "[",
        "]",
        "(",
        "\"",
        "\n",
        ",",
        "\0",
        "é",
        "{",
        "null",
        "\"spec\":",
        "65536",
        "\r",
    ]);
    proptest::prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (index(), hostile).prop_map(|(at, text)| Damage::Insert(at, text.as_bytes().to_vec())),
        (index(), 1..20_usize).prop_map(|(at, n)| Damage::Remove(at, n)),
        (index(), 1..40_usize).prop_map(|(at, n)| Damage::Repeat(at, n)),
        index().prop_map(Damage::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: Damage) {
    if bytes.is_empty() {
        return;
    }
    let len = bytes.len();
    let stretch = |at: usize, n: usize| at..(at + n).min(len);
    match damage {
        Damage::Set(at, byte) => bytes[at.index(len)] = byte,
        Damage::Insert(at, text) => drop(bytes.splice(at.index(len)..at.index(len), text)),
        Damage::Remove(at, n) => drop(bytes.drain(stretch(at.index(len), n))),
        Damage::Repeat(at, n) => bytes.extend_from_within(stretch(at.index(len), n)),
        Damage::Cut(at) => bytes.truncate(at.index(len)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }

    #[test]
    fn random_text(text in "[\\[\\](){}\",:.0-9a-z_ \n\t>-]{0,200}") {
        read_all(text.as_bytes());
    }

    #[test]
    fn damaged_files(bytes in valid(), damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = bytes;
        damages.into_iter().for_each(|damage| apply(&mut bytes, damage));
        read_all(&bytes);
    }

    #[test]
    fn damaged_payloads_with_good_checksums(
        bytes in nas101_cells(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut file = Vec::new();
        write_nas101_tfrecord(&bytes[..1], &mut file).unwrap();
        let n_bytes = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        let mut payload = file[12..12 + n_bytes].to_vec();
        damages.into_iter().for_each(|damage| apply(&mut payload, damage));
        let masked = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
        let length = (payload.len() as u64).to_le_bytes();
        read_all(&[&length[..], &masked(&length), &payload, &masked(&payload)].concat());
    }

    #[test]
    fn damaged_folders(
        counts in prop::collection::vec(prop::sample::select(vec!["0", "1", "2", "3", "99999999999", "x", "-1", ""]), 0..4),
        rows in prop::collection::vec(prop::sample::select(vec!["0", "1", "0,1", "1,2", "1,0", "9,9", "", "nan"]), 0..12),
        open_end in any::<bool>(),
    ) {
        let join = |rows: &[&str]| rows.join("\n") + if open_end { "" } else { "\n" };
        let (counts, rows) = (join(&counts), join(&rows));
        let open = |file: &str| {
            let bytes = if file.contains("num-") { counts.as_bytes() } else { rows.as_bytes() };
            Ok(Box::new(bytes) as Box<dyn BufRead + Send>)
        };
        let _ = Code2::open(vec!["a".to_owned(), "b".to_owned()], open).unwrap().collect::<Result<Vec<_>, _>>();
    }
}

/// Found by fuzzing: one edge more than a number holds.
#[test]
fn a_spec_without_limits_takes_a_start_symbol() {
    let text = format!("{{\"spec\": {}}}\n{{\"ops\": [0], \"edges\": []}}\n", unlimited());
    let spec = JsonLines::default().read(&mut text.as_bytes(), "my.file", &mut |_| {}).unwrap().spec;
    let with_start = spec.with_start_symbol();
    assert_eq!((with_start.max_nodes, with_start.max_edges), (usize::MAX, Some(usize::MAX)));
    assert!(with_start.is_valid(&with_start.add_start_symbol(&"0 : ".parse().unwrap())));
}

fn unlimited() -> String {
    format!(
        r#"{{"name": "mine", "ops": ["a"], "max_nodes": {0}, "max_edges": {0}, "input": null, "output": null, "start": null, "validity": "any"}}"#,
        usize::MAX
    )
}

#[test]
fn data_dir_survives_odd_names() {
    let dir = DataDir::at("/nonexistent");
    for name in ["", "..", "a\0b", "/"] {
        assert!(dir.open(name, name).is_err());
    }
}
