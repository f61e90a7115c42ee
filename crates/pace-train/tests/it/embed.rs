//! Shards make the same matrix as the whole, in files that others can read.

use burn::tensor::Device;
use pace_graph::Dag;
use pace_graph::dataset::Ast;
use pace_model::ast::AstTable;
use pace_model::encoder::{AstPaceConfig, GraphEncoder};
use pace_train::Source;
use pace_train::embed::{MatrixFile, embed, embed_all, embed_asts, embed_dags};
use safetensors::SafeTensors;

use crate::setting::{dags, device, table, vae};

fn matrix(batch: usize, device: &Device) -> Vec<f32> {
    let model = vae(device);
    embed_all(&table(50), batch, device, |batch| model.embed(batch)).into_values()
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

/// Graphs without a table have the same vectors, in the same order, also in more shards than a window has.
#[test]
fn graphs_on_the_way_make_the_same_matrix() {
    let device = device();
    let (model, table) = (vae(&device), table(50));
    let mut rows = Vec::new();
    let Ok(()) = embed_dags(
        &dags(50),
        table.layout(),
        3,
        &device,
        |batch| model.embed(batch),
        |shard| {
            rows.extend_from_slice(shard);
            Ok::<(), std::convert::Infallible>(())
        },
    );
    assert_eq!(rows, matrix(3, &device));
}

#[test]
fn trees_on_the_way_make_the_same_matrix_and_other_graphs_an_error() {
    let device = device();
    let model = AstPaceConfig { d_model: 32, ..AstPaceConfig::code2() }.init(9, 9, 1, &device);
    // A root with chains of two below it, in DFS order.
    let tree = |size: usize| {
        let edges = (1..size).map(|node| if node % 2 == 1 { (0, node) } else { (node - 1, node) });
        Ast {
            dag: Dag::new(vec![size as u16; size], edges).unwrap(),
            attributes: vec![1; size],
            is_attributed: vec![false; size],
            dfs_order: (0..size as u32).collect(),
            depths: (0..size as u32).map(|node| if node == 0 { 0 } else { 2 - node % 2 }).collect(),
            label: Vec::new(),
        }
    };
    let trees: Vec<Ast> = [2, 4, 3, 6, 8, 2, 3].map(tree).into();
    let run = |asts: &[Ast], batch: usize| {
        let mut rows: Vec<f32> = Vec::new();
        let sink = |shard: &[f32]| {
            rows.extend_from_slice(shard);
            Ok::<(), pace_graph::Error>(())
        };
        embed_asts(asts, model.layout(), batch, &device, |batch| model.embed(batch), sink).map(|()| rows)
    };
    let table = AstTable::new(&trees, *model.layout()).unwrap();
    let expected = embed_all(&table, 2, &device, |batch| model.embed(batch)).into_values();
    assert_eq!(run(&trees, 2).unwrap(), expected);
    let wide = Ast { attributes: vec![9; 2], ..tree(2) };
    assert!(run(&[tree(2), wide], 1).is_err(), "attribute 9 of 9");
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
