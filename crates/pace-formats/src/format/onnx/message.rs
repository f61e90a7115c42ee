//! The messages of ONNX, of which only names are kept. Numbers of fields after `onnx.proto`.

use super::wire::{Field, Wire};
use crate::error::Error;

/// What is kept of a model.
#[derive(Default)]
pub(super) struct Model {
    pub(super) name: Option<String>,
    pub(super) nodes: Vec<Operator>,
    pub(super) initialisers: Vec<String>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) metadata: Vec<(String, String)>,
}

/// What is kept of a node.
#[derive(Default)]
pub(super) struct Operator {
    pub(super) name: String,
    pub(super) op_type: String,
    pub(super) domain: String,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// `ModelProto`.
pub(super) fn model(wire: &mut Wire<'_>) -> Result<Model, Error> {
    let (mut model, mut has_graph) = (Model::default(), false);
    while let Some((number, field)) = wire.field(u64::MAX)? {
        match (number, field) {
            (7, Field::Bytes(n_bytes)) => {
                has_graph = true;
                graph(wire, n_bytes, &mut model)?;
            }
            (14, Field::Bytes(n_bytes)) => {
                let [key, value] = texts(wire, n_bytes, [1, 2])?;
                model.metadata.push((key, value));
            }
            _ => wire.skip(field)?,
        }
    }
    if has_graph { Ok(model) } else { Err(Error::expected("an ONNX model with a graph", "none")) }
}

/// `GraphProto`.
fn graph(wire: &mut Wire<'_>, n_bytes: u64, model: &mut Model) -> Result<(), Error> {
    let end = wire.end(n_bytes);
    while let Some((number, field)) = wire.field(end)? {
        let Field::Bytes(n_bytes) = field else { continue };
        match number {
            1 => model.nodes.push(operator(wire, n_bytes)?),
            2 => model.name = Some(wire.text(n_bytes)?).filter(|name| !name.is_empty()),
            5 => model.initialisers.extend(texts(wire, n_bytes, [8])?),
            11 => model.inputs.extend(texts(wire, n_bytes, [1])?),
            12 => model.outputs.extend(texts(wire, n_bytes, [1])?),
            15 => sparse_tensor(wire, n_bytes, model)?,
            _ => wire.skip(field)?,
        }
    }
    Ok(())
}

/// `SparseTensorProto`, whose name is that of its values.
fn sparse_tensor(wire: &mut Wire<'_>, n_bytes: u64, model: &mut Model) -> Result<(), Error> {
    let end = wire.end(n_bytes);
    while let Some((number, field)) = wire.field(end)? {
        match (number, field) {
            (1, Field::Bytes(n_bytes)) => model.initialisers.extend(texts(wire, n_bytes, [8])?),
            _ => wire.skip(field)?,
        }
    }
    Ok(())
}

/// `NodeProto`. Its attributes, which may hold weights and whole graphs, are skipped.
fn operator(wire: &mut Wire<'_>, n_bytes: u64) -> Result<Operator, Error> {
    let end = wire.end(n_bytes);
    let mut operator = Operator::default();
    while let Some((number, field)) = wire.field(end)? {
        let Field::Bytes(n_bytes) = field else { continue };
        match number {
            1 => operator.inputs.push(wire.text(n_bytes)?),
            2 => operator.outputs.push(wire.text(n_bytes)?),
            3 => operator.name = wire.text(n_bytes)?,
            4 => operator.op_type = wire.text(n_bytes)?,
            7 => operator.domain = wire.text(n_bytes)?,
            _ => wire.skip(field)?,
        }
    }
    Ok(operator)
}

/// The texts in some fields of a message; everything else in it is skipped.
fn texts<const N: usize>(wire: &mut Wire<'_>, n_bytes: u64, wanted: [u64; N]) -> Result<[String; N], Error> {
    let end = wire.end(n_bytes);
    let mut texts = [const { String::new() }; N];
    while let Some((number, field)) = wire.field(end)? {
        match (wanted.iter().position(|&wanted| wanted == number), field) {
            (Some(index), Field::Bytes(n_bytes)) => texts[index] = wire.text(n_bytes)?,
            _ => wire.skip(field)?,
        }
    }
    Ok(texts)
}
