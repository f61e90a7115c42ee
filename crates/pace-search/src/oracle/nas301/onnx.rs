//! The tensors of an ONNX file, without a runtime.

use std::collections::HashMap;

use prost::Message;

use crate::error::Error;

/// `ModelProto` of `onnx.proto`; only the fields that lead to weights.
#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

/// `GraphProto`.
#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "5")]
    initializers: Vec<Initializer>,
}

/// `TensorProto`.
#[derive(Clone, PartialEq, Message)]
struct Initializer {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(float, repeated, tag = "4")]
    float_data: Vec<f32>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

/// `TensorProto.DataType.FLOAT`.
const FLOAT: i32 = 1;

/// The initialisers in single precision, by name.
#[derive(Debug)]
pub(super) struct Tensors<'a> {
    file: &'a str,
    tensors: HashMap<String, (Vec<i64>, Vec<f32>)>,
}

impl<'a> Tensors<'a> {
    /// Parses the bytes of `file`.
    pub(super) fn parse(bytes: &[u8], file: &'a str) -> Result<Tensors<'a>, Error> {
        let mut found = Tensors { file, tensors: HashMap::new() };
        let model =
            Model::decode(bytes).map_err(|error| found.wrong(format!("no ONNX file ({error}); fetch it again")))?;
        let graph = model.graph.ok_or_else(|| found.wrong("it has no graph; fetch it again"))?;
        for tensor in graph.initializers.into_iter().filter(|tensor| tensor.data_type == FLOAT) {
            let values = if tensor.raw_data.is_empty() {
                tensor.float_data
            } else {
                tensor.raw_data.as_chunks().0.iter().map(|&four: &[u8; 4]| f32::from_le_bytes(four)).collect()
            };
            if !values.iter().all(|value| value.is_finite()) {
                return Err(found.wrong(format!("tensor '{}' is not finite; fetch it again", tensor.name)));
            }
            found.tensors.insert(tensor.name, (tensor.dims, values));
        }
        Ok(found)
    }

    /// Removes a tensor; an error if it does not have this shape.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let found = self.tensors.remove(name);
        let (dims, values) =
            found.ok_or_else(|| self.wrong(format!("there is no tensor '{name}'; it is another network")))?;
        let fits = dims.iter().copied().eq(shape.iter().map(|&size| size as i64));
        if !fits || values.len() != shape.iter().product::<usize>() {
            let n = values.len();
            let reason =
                format!("tensor '{name}' is {dims:?} ({n} numbers) where {shape:?} is due; it is another network");
            return Err(self.wrong(reason));
        }
        Ok(values)
    }

    fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::Network { file: self.file.to_owned(), reason: reason.into() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An ONNX file of these tensors.
    pub(in crate::oracle::nas301) fn onnx(
        tensors: impl IntoIterator<Item = (String, Vec<usize>, Vec<f32>)>,
    ) -> Vec<u8> {
        let initializer = |(name, shape, values): (String, Vec<usize>, Vec<f32>)| Initializer {
            dims: shape.into_iter().map(|size| size as i64).collect(),
            data_type: FLOAT,
            float_data: Vec::new(),
            name,
            raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        let initializers = tensors.into_iter().map(initializer).collect();
        Model { graph: Some(Graph { initializers }) }.encode_to_vec()
    }

    #[test]
    fn tensors_come_out_once_and_in_shape() {
        let bytes = onnx([("w".to_owned(), vec![2, 1], vec![1.5, -2.0]), ("b".to_owned(), vec![1], vec![0.5])]);
        let mut tensors = Tensors::parse(&bytes, "my.onnx").unwrap();
        assert_eq!(tensors.take("w", &[2, 1]).unwrap(), [1.5, -2.0]);
        let missing = tensors.take("w", &[2, 1]).unwrap_err().to_string();
        assert_eq!(missing, "my.onnx: there is no tensor 'w'; it is another network");
        assert!(tensors.take("b", &[2]).unwrap_err().to_string().contains("[1] (1 numbers) where [2] is due"));
        assert!(Tensors::parse(b"\xffnothing", "my.onnx").unwrap_err().to_string().contains("no ONNX file"));
        assert!(Tensors::parse(b"", "my.onnx").unwrap_err().to_string().contains("no graph"));
    }
}
