//! Vectors in npy and safetensors.

use pace_formats::{read_npy, read_safetensors};
use pace_graph::Vectors;

use crate::FILE;
use crate::law::named;

fn check(vectors: Option<Vectors>) {
    if let Some(vectors) = vectors {
        assert!(vectors.values().iter().all(|value| value.is_finite()));
        assert_eq!(vectors.values().len(), vectors.len() * vectors.width());
    }
}

/// Arrays of both widths.
pub fn npy_seeds() -> Vec<Vec<u8>> {
    let array = |descr: &str, shape: &str, data: &[u8]| {
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 > 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    };
    let floats: Vec<u8> = [1.0_f32, -2.5, 0.0, 7.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let doubles: Vec<u8> = [1.0_f64, -2.5].iter().flat_map(|value| value.to_le_bytes()).collect();
    vec![array("<f4", "(2, 2)", &floats), array("<f8", "(2, 1)", &doubles), array("<f8", "(2,)", &doubles)]
}

/// numpy's format.
pub fn npy(input: &[u8]) {
    check(named(read_npy(&mut &*input, FILE)));
}

/// One tensor, and two.
pub fn safetensors_seeds() -> Vec<Vec<u8>> {
    let file = |header: &str| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend([0_u8; 16]);
        bytes
    };
    vec![
        file(r#"{"vectors":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#),
        file(
            r#"{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]}}"#,
        ),
    ]
}

/// The format of weights.
pub fn safetensors(input: &[u8]) {
    check(named(read_safetensors(&mut &*input, FILE, None)));
}
