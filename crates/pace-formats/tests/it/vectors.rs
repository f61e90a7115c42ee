//! Vectors: Parquet out, npy and safetensors in.

use pace_formats::{ParquetFile, read_npy, read_safetensors};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{ProptestConfig, proptest};

use crate::support::name;

/// An npy file as NumPy would write it.
fn npy(version: u8, descr: &str, order: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}   \n");
    let length = header.len() as u32;
    let length = if version == 1 { length.to_le_bytes()[..2].to_vec() } else { length.to_le_bytes().to_vec() };
    [b"\x93NUMPY", &[version, 0][..], &length, header.as_bytes(), numbers].concat()
}

fn npy_message(bytes: &[u8]) -> String {
    read_npy(&mut &*bytes, "my.npy").unwrap_err().to_string()
}

#[test]
fn npy_files() {
    let four: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].into_iter().flat_map(f32::to_le_bytes).collect();
    let eight: Vec<u8> = [1.0_f64, 2.0, 3.0, 4.0].into_iter().flat_map(f64::to_le_bytes).collect();
    for version in 1..=3 {
        for (descr, numbers) in [("<f4", &four), ("<f8", &eight)] {
            let matrix = read_npy(&mut npy(version, descr, "False", "(2, 2)", numbers).as_slice(), "my.npy").unwrap();
            assert_eq!((matrix.len(), matrix.width(), matrix.values()), (2, 2, &[1.0, 2.0, 3.0, 4.0][..]));
            let list = read_npy(&mut npy(version, descr, "False", "(4,)", numbers).as_slice(), "my.npy").unwrap();
            assert_eq!((list.len(), list.width()), (4, 1));
        }
    }
    assert!(read_npy(&mut npy(1, "<f4", "False", "(0, 3)", b"").as_slice(), "my.npy").unwrap().is_empty());
}

#[test]
fn broken_npy_files() {
    let with = |descr, order, shape| npy_message(&npy(1, descr, order, shape, &[0; 16]));
    assert_eq!(
        npy_message(b"PK"),
        "my.npy: the file ends in the middle of the header; it is cut off, fetch or write it again"
    );
    assert_eq!(npy_message(b"PK\x03\x04....."), "my.npy: expected an npy file, found other bytes at its start");
    assert_eq!(npy_message(b"\x93NUMPY\x04\x00"), "my.npy: expected npy version 1, 2 or 3, found '4'");
    assert_eq!(with("<i8", "False", "(2, 2)"), "my.npy: expected numbers of type <f4 or <f8 (use astype), found '<i8'");
    assert_eq!(
        with("<f4", "True", "(2, 2)"),
        "my.npy: expected rows one after another (use numpy.ascontiguousarray), found columns"
    );
    assert_eq!(
        with("<f4", "False", "(1, 2, 2)"),
        "my.npy: expected an array of one or two dimensions, found '(1, 2, 2)'"
    );
    assert_eq!(with("<f4", "False", "(2, -2)"), "my.npy: expected an array of one or two dimensions, found '(2, -2)'");
    assert_eq!(with("<f4", "False", "()"), "my.npy: expected an array of one or two dimensions, found '()'");
    assert_eq!(with("<f4", "False", "(2, 0)"), "my.npy: expected rows of at least one number, found rows of none");
    assert_eq!(
        with("<f4", "False", "(5, 1)"),
        "my.npy: the file ends after 4 of 5 rows; it is cut off, fetch or write it again"
    );
    // Numbers that nobody has memory for.
    assert!(with("<f4", "False", "(1000000000000, 1000)").contains("the file ends after 0 of 1000000000000 rows"));
    assert!(with("<f4", "False", "(9223372036854775807, 9)").contains("expected as many numbers as fit the memory"));
    assert_eq!(
        npy_message(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
        "my.npy: more than 65536 bytes of header; save the array again without named fields"
    );
    let numbers: Vec<u8> = [1.0_f64, 1e300].into_iter().flat_map(f64::to_le_bytes).collect();
    let said = npy_message(&npy(1, "<f8", "False", "(1, 2)", &numbers));
    assert!(
        said.starts_with("my.npy: row 1, column 2: 1000000")
            && said.ends_with("is no finite 32-bit number; leave the row out or repair it")
    );
    let nan: Vec<u8> = f32::NAN.to_le_bytes().to_vec();
    assert!(npy_message(&npy(1, "<f4", "False", "(1,)", &nan)).contains("row 1, column 1: NaN"));
}

/// A safetensors file with this header.
fn tensors(header: &str, numbers: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), numbers].concat()
}

#[test]
fn safetensors_files() {
    let numbers: Vec<u8> = [9.0_f32, 1.0, 2.0, 3.0, 4.0].into_iter().flat_map(f32::to_le_bytes).collect();
    let header = r#"{"__metadata__": {"a": "b"}, "one": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "two": {"dtype": "F32", "shape": [2, 2], "data_offsets": [4, 20]}}"#;
    let file = tensors(header, &numbers);
    let read = |bytes: &[u8], name| read_safetensors(&mut &*bytes, "my.st", name);
    let matrix = read(&file, Some("two")).unwrap();
    assert_eq!((matrix.width(), matrix.values()), (2, &[1.0, 2.0, 3.0, 4.0][..]));
    let said = |bytes: &[u8], name| read(bytes, name).unwrap_err().to_string();
    assert_eq!(said(&file, None), "my.st: expected the name of a tensor, or a file with one, found 'one', 'two'");
    assert_eq!(said(&file, Some("x")), "my.st: expected a tensor 'x', found 'one', 'two'");
    let cut = "it is cut off, fetch or write it again";
    assert_eq!(said(&file[..file.len() - 1], Some("two")), format!("my.st: the file ends after 1 of 2 rows; {cut}"));
    assert_eq!(said(&file[..30], None), format!("my.st: the file ends in the middle of the header; {cut}"));
    assert_eq!(said(b"abc", None), format!("my.st: the file ends in the middle of the header; {cut}"));
    assert!(said(&[0xff; 20], None).contains("bytes of header; is the file safetensors?"));
    assert!(said(&tensors("{", b""), None).contains("expected the header of a safetensors file"));
    let one = |dtype: &str, shape: &str, end: u64| {
        let header = format!(r#"{{"x": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": [0, {end}]}}}}"#);
        said(&tensors(&header, &[0; 16]), None)
    };
    assert_eq!(one("I64", "[2]", 16), "my.st: expected numbers of type F32 or F64, found I64");
    assert_eq!(one("F32", "[2, 2, 1]", 16), "my.st: expected a tensor of one or two dimensions, found [2, 2, 1]");
    assert!(one("F32", "[2]", 16).starts_with("my.st: expected the header of a safetensors file, found invalid shape"));
    assert!(one("F32", "[4611686018427387904, 9]", 16).starts_with("my.st: expected"));
}

type Row = (String, Option<f64>, Vec<f32>);

/// The rows of a Parquet file, by the reader of the same crate.
fn rows(bytes: Vec<u8>) -> Vec<Row> {
    let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let row = |row: parquet::record::Row| {
        let fields: Vec<Field> = row.into_columns().into_iter().map(|(_, field)| field).collect();
        match &fields[..] {
            [Field::Str(id), target, Field::ListInternal(list)] => {
                let target = if let Field::Double(target) = target { Some(*target) } else { None };
                let number = |field: &Field| if let Field::Float(number) = field { *number } else { panic!("{field}") };
                (id.clone(), target, list.elements().iter().map(number).collect())
            }
            other => panic!("{other:?}"),
        }
    };
    file.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

fn written(rows: &[Row]) -> Vec<u8> {
    let mut file = ParquetFile::new(Vec::new()).unwrap();
    rows.iter().for_each(|(id, target, vector)| file.write(id, *target, vector).unwrap());
    file.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parquet_round_trip(table in vec((name(), option::of(-1e9..1e9), vec(-1e9_f32..1e9, 0..5)), 0..9)) {
        assert_eq!(rows(written(&table)), table);
    }
}

#[test]
fn row_groups() {
    let wide = vec![0.5; 1 << 20];
    let table: Vec<Row> = (0..9).map(|row| (row.to_string(), Some(0.1), wide.clone())).collect();
    let bytes = written(&table);
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    assert!(reader.num_row_groups() >= 2, "{} row groups", reader.num_row_groups());
    assert_eq!(reader.metadata().file_metadata().num_rows(), 9);
}
