//! Every kind of bad input gives a message with file, row, reason and remedy.

use pace_graph::dataset::{
    Bn, DartsArchs, DartsGenotypes, DartsPairs, DatasetFormat, JsonLines, Na, Nas101Cell, Nas101Run, Nas101Table,
    Nas101TfRecord, nas101_hash, write_nas101_tfrecord,
};
use pace_graph::{Dag, DagSpec, Validity};

const NA: &str = "[[1], [4, 0], [5, 0, 1]], 0.7302\n";
const BN: &str = "[[0], [1, 1], [2, 0, 0], [3, 0, 0, 0], [4, 0, 1, 0, 0], [5, 1, 1, 0, 0, 0], \
                  [6, 0, 1, 0, 0, 1, 0], [7, 0, 0, 0, 1, 1, 1, 0]], -13331.5\n";
const TABLE: &str = "hash,n,adj_bits,ops,test_k9984_r0,params\n";
const CELL: &str = "00005c142e6f48ac74fdcf73e3439874,7,1205349,02001,5000,1234567\n";
const GENOTYPE: &str = "[[(0, 0), (1, 5), (1, 1), (0, 1), (1, 3), (0, 3), (1, 3), (3, 2)], \
                        [(1, 0), (0, 2), (1, 3), (0, 3), (3, 0), (0, 1), (2, 0), (3, 6)]]";

/// Reads bad input and checks that the message holds every word.
#[track_caller]
fn fails(format: &dyn DatasetFormat, bytes: impl AsRef<[u8]>, words: &[&str]) {
    let mut reader = bytes.as_ref();
    let error = format.read(&mut reader, "my.file", &mut |_| {}).expect_err("bad input");
    let message = error.to_string();
    for word in ["my.file"].iter().chain(words) {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
    assert_eq!(message.matches("my.file").count(), 1, "the place is named once: {message}");
}

fn na() -> Na {
    Na { burn_in: 0 }
}

fn json() -> JsonLines {
    JsonLines { spec: Some(DagSpec { validity: Validity::InputToOutput, ..DagSpec::nas101() }) }
}

const GRAPH: &str = r#"{"ops": ["input", 2, "output"], "edges": [[0, 1], [1, 2]], "target": 0.5}"#;

/// A good line, then one with these operations and edges.
fn json_row(ops: &str, edges: &str) -> String {
    format!("{GRAPH}\n{{\"ops\": {ops}, \"edges\": {edges}}}\n")
}

/// A TFRecord file of one run; `edit` works on its payload before it is framed.
fn tfrecord(edit: impl Fn(String) -> String) -> Vec<u8> {
    let dag: Dag = "0 2 3 4 : 0>1 1>2 2>3".parse().expect("a cell");
    let run = Nas101Run {
        epochs: 108,
        training_time: Some(1.5),
        train_accuracy: Some(1.0),
        validation_accuracy: Some(0.75),
        test_accuracy: 0.5,
    };
    let cell = Nas101Cell { hash: nas101_hash(&dag).expect("a cell"), dag, parameters: 7, runs: vec![run] };
    let mut bytes = Vec::new();
    write_nas101_tfrecord(&[cell], &mut bytes).expect("a whole run");
    let payload = edit(String::from_utf8(bytes[12..bytes.len() - 4].to_vec()).expect("JSON"));
    frame(payload.as_bytes())
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let length = (payload.len() as u64).to_le_bytes();
    [&length[..], &masked(&length), payload, &masked(payload)].concat()
}

#[test]
fn cycle() {
    let remedy = "cycle through node";
    fails(&json(), json_row("[0, 1, 2, 4]", "[[0, 1], [1, 2], [2, 1], [2, 3]]"), &["row 2", remedy, "remove"]);
    let bytes = tfrecord(|row| row.replace("0100001000010000", "0100001001010000"));
    fails(&Nas101TfRecord::default(), bytes, &["row 1", remedy, "remove or turn around"]);
}

#[test]
fn self_loop() {
    fails(&json(), json_row("[0, 4]", "[[0, 1], [1, 1]]"), &["row 2", "1>1 is a self loop", "remove"]);
    let bytes = tfrecord(|row| row.replace("0100001000010000", "0100011000010000"));
    fails(&Nas101TfRecord::default(), bytes, &["row 1", "1>1 is a self loop", "remove"]);
}

#[test]
fn duplicate_edge() {
    fails(&json(), json_row("[0, 4]", "[[0, 1], [0, 1]]"), &["row 2", "0>1 is given twice", "keep one"]);
}

#[test]
fn unknown_op() {
    fails(&na(), format!("{NA}[[6], [4, 0], [5, 0, 1]], 0.7\n"), &["row 2", "operation '6'", "correct it"]);
    fails(&Bn::default(), BN.replace("[7,", "[8,"), &["row 1", "operation '8'", "correct it"]);
    fails(
        &Nas101Table::default(),
        format!("{TABLE}{CELL}").replace(",02001,", ",02401,"),
        &["row 2", "'4'", "correct"],
    );
    let bytes = tfrecord(|row| row.replace("maxpool3x3", "maxpool9x9"));
    fails(&Nas101TfRecord::default(), bytes, &["row 1", "'maxpool9x9'", "correct it"]);
    fails(&DartsGenotypes::default(), GENOTYPE.replace("(1, 5)", "(1, 7)"), &["row 1", "'7'", "correct it"]);
    fails(
        &json(),
        json_row(r#"["input", "conv9x9", "output"]"#, "[[0, 1], [1, 2]]"),
        &["row 2", "'conv9x9'", "correct"],
    );
    fails(&json(), json_row("[0, 5, 4]", "[[0, 1], [1, 2]]"), &["row 2", "'5'", "correct it or extend"]);
}

#[test]
fn too_many_nodes() {
    let long = "[[1], [4, 0], [5, 0, 1], [5, 0, 1, 1]], 0.7\n";
    fails(&na(), format!("{NA}{long}"), &["row 2", "6 nodes", "at most 5", "drop the row or raise the limit"]);
    let short = "[[1], [4, 0]], 0.7\n";
    fails(&na(), format!("{NA}{short}"), &["row 2", "2 layers where the rows before have 3", "keep one size"]);
    let bn = BN.replace("1, 1, 1, 0]]", "1, 1, 1, 0], [7, 0, 0, 0, 0, 0, 0, 0, 0]]");
    fails(&Bn::default(), bn, &["row 1", "11 nodes", "at most 10", "drop the row"]);
    fails(
        &Nas101Table::default(),
        format!("{TABLE}{CELL}").replace(",7,", ",8,"),
        &["row 2", "8 nodes", "drop the row"],
    );
    let bytes = tfrecord(|row| row.replace("maxpool3x3", "maxpool3x3,maxpool3x3,maxpool3x3,maxpool3x3,maxpool3x3"));
    fails(&Nas101TfRecord::default(), bytes, &["row 1", "8 nodes", "drop the row"]);
    let chain: Vec<String> = (0..7).map(|node| format!("[{node}, {}]", node + 1)).collect();
    let row = json_row("[0, 1, 1, 1, 1, 1, 1, 4]", &format!("[{}]", chain.join(", ")));
    fails(&json(), row, &["row 2", "8 nodes", "at most 7", "drop the row"]);
}

#[test]
fn disconnected_node() {
    let words = ["row 2", "node 1 is disconnected", "connect it or drop it"];
    fails(&json(), json_row("[0, 1, 1, 4]", "[[0, 2], [2, 3]]"), &words);
    fails(&Nas101Table::default(), format!("{TABLE}00005c142e6f48ac74fdcf73e3439874,3,2,0,1,1\n"), &words);
    let bytes = tfrecord(|row| row.replace("0100001000010000", "0010000000010000"));
    fails(&Nas101TfRecord::default(), bytes, &["row 1", "node 1 is disconnected", "connect it or drop it"]);
}

#[test]
fn bad_target() {
    let remedy = "drop the row or repair the value";
    for bad in ["nan", "NaN", "inf", "-inf", "1e999"] {
        fails(&na(), format!("{NA}{}", NA.replace("0.7302", bad)), &["row 2", bad, remedy]);
        fails(&Bn::default(), BN.replace("-13331.5", bad), &["row 1", bad, remedy]);
        fails(&DartsGenotypes::default(), format!("{GENOTYPE}\t{bad}\n"), &["row 1", bad, remedy]);
        let pairs = format!("arch,val_accuracy_nb301,yahpo_v1_pred_epoch98\n\"{GENOTYPE}\",{bad},94.2\n");
        fails(&DartsPairs::default(), pairs, &["row 2", bad, remedy]);
    }
    for bad in ["NaN", "Infinity", "-Infinity", "1e999"] {
        fails(&json(), format!("{GRAPH}\n{}", GRAPH.replace("0.5", bad)), &["row 2", bad, remedy]);
    }
    // A NaN test accuracy inside the protobuf: nine bytes, tag 0x29 and a double.
    let bytes = tfrecord(|row| {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let metrics = row.rsplit('"').nth(1).expect("five fields").to_owned();
        let mut proto = STANDARD.decode(&metrics).expect("base64");
        let field: Vec<u8> = [&[0x29][..], &0.5_f64.to_le_bytes()].concat();
        let at = proto.windows(9).position(|window| window == field).expect("the test accuracy");
        proto[at + 1..at + 9].copy_from_slice(&f64::NAN.to_le_bytes());
        row.replace(&metrics, &STANDARD.encode(proto))
    });
    fails(&Nas101TfRecord::default(), bytes, &["row 1", "NaN", remedy]);
}

#[test]
fn truncated() {
    let remedy = "fetch it again";
    // At every byte: a line file that ends inside a row never passes for a whole one.
    for cut in 1..NA.len() {
        fails(&na(), format!("{NA}{}", &NA[..cut]), &["cut off after 1 whole rows", remedy]);
    }
    for cut in 1..BN.len() {
        fails(&Bn::default(), &BN[..cut], &["cut off after 0 whole rows", remedy]);
    }
    for cut in 1..CELL.len() {
        fails(&Nas101Table::default(), format!("{TABLE}{}", &CELL[..cut]), &["cut off after 1 whole rows", remedy]);
    }
    for cut in 1..GRAPH.len() {
        fails(&json(), format!("{GRAPH}\n{}", &GRAPH[..cut]), &["cut off after 1 whole rows", remedy]);
    }
    for cut in 1..GENOTYPE.len() {
        fails(&DartsGenotypes::default(), &GENOTYPE[..cut], &["cut off after 0 whole rows", remedy]);
    }
    let record = tfrecord(|row| row);
    for cut in 1..record.len() {
        let bytes = [&record, &record[..cut]].concat();
        fails(&Nas101TfRecord::default(), bytes, &["cut off after 1 whole rows", "record 2", remedy]);
    }
    let archs = format!("{{\"0\": \"{GENOTYPE}\", \"1\": \"{GENOTYPE}\"}}");
    let first = archs.find(", \"1\"").expect("two entries");
    for cut in first..archs.len() {
        let bytes = &archs[..cut];
        let message = DartsArchs::default().read(&mut bytes.as_bytes(), "my.file", &mut |_| {}).expect_err("cut");
        assert!(message.to_string().starts_with("my.file is cut off after"), "{message}");
    }
}

#[test]
fn wrong_checksum() {
    let good = tfrecord(|row| row);
    for at in [0, 9, 20, good.len() - 1] {
        let mut bytes = good.clone();
        bytes.extend_from_slice(&good);
        bytes[good.len() + at] ^= 1;
        fails(&Nas101TfRecord::default(), bytes, &["row 2", "checksum", "expected", "fetch it again"]);
    }
    let table = format!("{TABLE}{}", CELL.replace("00005c", "00005d"));
    fails(&Nas101Table { check_hashes: true }, table, &["row 2", "00005d", "00005c", "fetch it again"]);
    let check = Nas101TfRecord { check_hashes: true, ..Nas101TfRecord::default() };
    fails(&check, tfrecord(|row| row.replacen(&row[2..6], "0000", 1)), &["row 1", "checksum", "fetch it again"]);
}

#[test]
fn empty_dataset() {
    let remedy = "give a file with at least one row";
    fails(&na(), "\n\r\n", &[remedy]);
    fails(&Na::default(), NA, &[remedy, "burn_in to 0"]);
    fails(&Bn::default(), "", &[remedy]);
    fails(&Nas101Table::default(), TABLE, &[remedy, "below the header"]);
    fails(&Nas101TfRecord::default(), "", &[remedy]);
    fails(&DartsGenotypes::default(), "", &[remedy]);
    fails(&DartsPairs::default(), "arch,val_accuracy_nb301,yahpo_v1_pred_epoch98\n", &[remedy]);
    fails(&DartsArchs::default(), "{}", &[remedy]);
    fails(&json(), "", &[remedy]);
}

#[test]
fn hostile_lengths_and_specs() {
    let length = u64::MAX.to_le_bytes();
    let crc = crc32c::crc32c(&length).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    fails(
        &Nas101TfRecord::default(),
        [&length[..], &crc, b"x"].concat(),
        &["row 1", "at most", "18446744073709551615"],
    );
    // A spec whose rule needs roles that it does not name.
    let header = |edit: &str| {
        let spec = DagSpec { input: None, ..DagSpec::nas101() };
        format!(
            "{{\"spec\": {}}}\n{GRAPH}\n",
            serde_json::to_string(&spec).expect("JSON").replace("input_to_output", edit)
        )
    };
    fails(&JsonLines::default(), header("input_to_output"), &["row 1", "input and an output", "name both"]);
    fails(&JsonLines::default(), header("darts_cell"), &["row 1", "DARTS dictionary", "use that"]);
}

#[test]
fn rows_are_counted_as_an_editor_does() {
    // Blank lines and the header count; CR LF is a line break.
    fails(&json(), format!("{GRAPH}\r\n\r\n{{}}\r\n"), &["row 3", "\"ops\""]);
    fails(&na(), b"\xff\xfe\n", &["row 1", "UTF-8", "save the file"]);
    fails(&DartsPairs::default(), "arch,other\n", &["row 1", "the header arch,val_accuracy_nb301"]);
    // The first bad row wins, whichever thread meets it first.
    let many = format!("{}bad\n{}worse\n", NA.repeat(5000), NA.repeat(9000));
    for _ in 0..5 {
        fails(&na(), &many, &["row 5001", "found 'bad'"]);
    }
}
