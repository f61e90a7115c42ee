//! [`Tensors`]: named float tensors in host memory, between a module and a safetensors file.

use std::collections::{BTreeMap, HashMap};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::Error;

/// One tensor, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Host {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

/// Tensors by name, in the order of names.
#[derive(Debug, Default)]
pub(super) struct Tensors(pub BTreeMap<String, Host>);

impl Tensors {
    /// The parameters of a module.
    pub fn of(module: &impl Module) -> Tensors {
        let mut collect = Collect::default();
        module.visit(&mut collect);
        collect.tensors
    }

    /// The bytes of a safetensors file with one entry of metadata; one, because their order is not fixed.
    pub fn to_bytes(&self, key: &str, value: String) -> Vec<u8> {
        let bytes: Vec<(&String, &Host, Vec<u8>)> = self
            .0
            .iter()
            .map(|(name, host)| (name, host, host.values.iter().flat_map(|value| value.to_le_bytes()).collect()))
            .collect();
        let views = bytes.iter().map(|(name, host, data)| {
            (*name, TensorView::new(Dtype::F32, host.shape.clone(), data).expect("as many values as the shape says"))
        });
        safetensors::serialize(views, Some(HashMap::from([(key.to_owned(), value)]))).expect("a header of modest size")
    }

    /// Reads a safetensors file of 32-bit floats.
    pub fn from_bytes(bytes: &[u8]) -> Result<Tensors, Error> {
        let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(Error::TensorType { name: name.to_owned(), found: view.dtype().to_string() });
            }
            let (words, _) = view.data().as_chunks::<4>();
            let values = words.iter().map(|&word| f32::from_le_bytes(word)).collect();
            tensors.insert(name.to_owned(), Host { shape: view.shape().to_vec(), values });
        }
        Ok(Tensors(tensors))
    }

    /// The metadata of a safetensors file under `key`.
    pub fn metadata(bytes: &[u8], key: &str) -> Result<Option<String>, Error> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        Ok(metadata.metadata().as_ref().and_then(|entries| entries.get(key).cloned()))
    }
}

fn damaged(error: safetensors::SafeTensorError) -> Error {
    Error::DamagedFile { reason: error.to_string() }
}

/// Puts each tensor into the parameter of its name: all of them, or none.
pub(super) fn fill<M: Module>(module: M, tensors: Tensors) -> Result<M, Error> {
    let mut fill = Fill { path: Vec::new(), tensors, error: None };
    let module = module.map(&mut fill);
    if let Some(error) = fill.error {
        return Err(error);
    }
    match fill.tensors.0.into_keys().next() {
        Some(name) => Err(Error::UnknownTensor { name }),
        None => Ok(module),
    }
}

/// The name of a parameter: its path, without the variants of modules that are one of several kinds. A file does not tell whether
/// the kind was chosen in code or at run time.
fn name(path: &[String]) -> String {
    let fields = path.iter().filter(|field| !field.starts_with(char::is_uppercase));
    fields.map(String::as_str).collect::<Vec<_>>().join(".")
}

#[derive(Default)]
struct Collect {
    path: Vec<String>,
    tensors: Tensors,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = tensor.into_data().convert::<f32>().try_to_vec().expect("converted to f32");
        self.tensors.0.insert(name(&self.path), Host { shape, values });
    }
}

/// Takes the tensors out of the map as their parameters come by; what is left over has no parameter.
struct Fill {
    path: Vec<String>,
    tensors: Tensors,
    /// The first one.
    error: Option<Error>,
}

impl ModuleMapper for Fill {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if self.error.is_some() {
            return param;
        }
        let name = name(&self.path);
        let expected = param.lazy_shape().to_vec();
        match self.tensors.0.remove(&name) {
            None => self.error = Some(Error::MissingTensor { name }),
            Some(Host { shape, .. }) if shape != expected => {
                self.error = Some(Error::TensorShape { name, found: shape, expected });
            }
            Some(Host { shape, values }) => {
                let tensor = Tensor::from_data(TensorData::new(values, shape), &param.lazy_device());
                let id = param.id;
                return param.transform_for_load(tensor, id);
            }
        }
        param
    }
}
