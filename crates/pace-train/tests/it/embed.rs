//! Shards make the same matrix as the whole, in files that others can read.

use burn::tensor::Device;
use pace_train::Source;
use pace_train::embed::{MatrixFile, embed, embed_all};
use safetensors::SafeTensors;

use crate::setting::{device, table, vae};

fn matrix(batch: usize, device: &Device) -> Vec<f32> {
    let model = vae(device);
    embed_all(&table(50), batch, device, |batch| model.embed(batch))
}

#[test]
fn shards_make_the_whole() {
    let device = device();
    let whole = matrix(50, &device);
    assert_eq!(whole.len(), 50 * 64);
    for batch in [1, 7, 1000] {
        let gap = matrix(batch, &device).iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(gap < 1e-5, "batches of {batch}: {gap}");
    }
}

#[test]
fn files_hold_what_was_embedded() {
    let (device, table) = (device(), table(50));
    let model = vae(&device);
    let mut npy = MatrixFile::npy(Vec::new(), 50, 64).unwrap();
    let mut tensors = MatrixFile::safetensors(Vec::new(), "embeddings", 50, 64).unwrap();
    embed(
        &table,
        8,
        &device,
        |batch| model.embed(batch),
        |shard| {
            npy.write(shard)?;
            tensors.write(shard)
        },
    )
    .unwrap();
    let (npy, tensors) = (npy.finish().unwrap(), tensors.finish().unwrap());
    let expected: Vec<u8> = matrix(8, &device).iter().flat_map(|value| value.to_le_bytes()).collect();
    let file = SafeTensors::deserialize(&tensors).unwrap();
    let view = file.tensor("embeddings").unwrap();
    assert_eq!((view.shape(), view.data()), (&[50, 64][..], &expected[..]));
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!((&npy[..8], header % 64), (&b"\x93NUMPY\x01\x00"[..], 0));
    assert!(std::str::from_utf8(&npy[10..header]).unwrap().contains("'shape': (50, 64)"));
    assert_eq!(npy[header..], expected[..]);
}

#[test]
fn too_few_or_too_many_rows_are_an_error() {
    let mut npy = MatrixFile::npy(Vec::new(), 2, 3).unwrap();
    npy.write(&[0.0; 3]).unwrap();
    assert!(npy.write(&[0.0; 6]).is_err());
    assert!(MatrixFile::npy(Vec::new(), 2, 3).unwrap().finish().is_err());
    assert_eq!(table(3).n_graphs(), 3);
}
