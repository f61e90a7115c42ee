//! The published NAS-Bench-301 network: its ONNX file and its table of codes.

use std::sync::LazyLock;

use pace_search::oracle::Nas301Network;

use crate::FILE;
use crate::law::named;

/// A field of a protobuf message that holds bytes.
fn field(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag << 3 | 2];
    let mut rest = content.len();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    [bytes.as_slice(), content].concat()
}

/// A small ONNX file: the first tables of the network, the numbers of one in the other of two places.
pub fn onnx_seeds() -> Vec<Vec<u8>> {
    let tensor = |index: usize, numbers: u8| {
        let name = format!("embds_fct.{index}.weight");
        // dims [8, 10], data_type FLOAT, the numbers, the name.
        field(5, &[field(1, &[8, 10]), vec![2 << 3, 1], field(numbers, &[0; 320]), field(8, name.as_bytes())].concat())
    };
    let model = |tensors: &[Vec<u8>]| field(7, &tensors.concat());
    vec![model(&[tensor(0, 9)]), model(&[tensor(0, 4), tensor(1, 9)]), model(&[])]
}

/// Reads the input as the weights. A whole network has over a megabyte, so what is missing is named in the end.
pub fn onnx(input: &[u8]) {
    static CODES: LazyLock<String> =
        LazyLock::new(|| String::from_utf8(encoding_seeds().swap_remove(0)).expect("JSON"));
    let error = Nas301Network::read(input, FILE, &CODES, "codes").expect_err("too short for a network");
    assert!(error.to_string().contains(FILE), "a message without a place: {error}");
}

/// The tables of codes.
pub fn encoding_seeds() -> Vec<Vec<u8>> {
    const NAMES: [&str; 8] = [
        "#na#",
        "max_pool_3x3",
        "avg_pool_3x3",
        "skip_connect",
        "sep_conv_3x3",
        "sep_conv_5x5",
        "dil_conv_3x3",
        "dil_conv_5x5",
    ];
    let table = |words: &[String]| -> String {
        let entries: Vec<String> = words.iter().enumerate().map(|(code, word)| format!("\"{word}\":{code}")).collect();
        format!("{{{}}}", entries.join(","))
    };
    let ops = table(&NAMES.map(str::to_owned));
    let prefix = "NetworkSelectorDatasetInfo_COLON_darts_COLON_";
    let mut tables = Vec::new();
    for cell in ["normal", "reduce"] {
        tables.extend((0..14).map(|edge| format!("\"{prefix}edge_{cell}_{edge}\":{ops}")));
        for node in 3..6 {
            let pairs = (1..node).flat_map(|high| (0..high).map(move |low| format!("{low}_{high}")));
            let words: Vec<String> = ["#na#".to_owned()].into_iter().chain(pairs).collect();
            tables.push(format!("\"{prefix}inputs_node_{cell}_{node}\":{}", table(&words)));
        }
    }
    vec![format!("{{{}}}", tables.join(",")).into_bytes()]
}

/// Reads the input as the tables of codes; the weights are missing.
pub fn encoding(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        let found = Nas301Network::read(&[], FILE, text, FILE);
        assert!(named(found).is_none(), "a network without weights");
    }
}
