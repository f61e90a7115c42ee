//! Parameters in the safetensors format.

use std::sync::LazyLock;

use pace_model::decoder::PaceDecoder;
use pace_model::encoder::Pace;
use pace_model::objective::{Vae, VaeConfig};
use pace_model::store::{Saved, load_pytorch, load_safetensors, to_safetensors};

use super::{model, spec, tiny};

static MODEL: LazyLock<Vae<Pace, PaceDecoder>> = LazyLock::new(model);

fn saved() -> &'static Saved<VaeConfig> {
    static SAVED: LazyLock<Saved<VaeConfig>> = LazyLock::new(|| Saved::new("pace-vae", tiny(), spec()));
    &SAVED
}

/// A model with and without its description.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![saved().to_safetensors(&*MODEL), to_safetensors(&*MODEL)]
}

/// What is loaded is saved equal, bit by bit.
pub fn read(input: &[u8]) {
    // Its configuration is read even if the parameters are damaged.
    let described = Saved::<VaeConfig>::from_safetensors("pace-vae", input);
    if let Ok(loaded) = saved().load(MODEL.clone(), input) {
        assert_eq!(described.expect("it was loaded by its description"), *saved());
        let written = saved().to_safetensors(&loaded);
        let again = saved().load(MODEL.clone(), &written).expect("what was saved");
        assert_eq!(saved().to_safetensors(&again), written);
    }
    if let Ok(loaded) = load_safetensors(MODEL.clone(), input) {
        let written = to_safetensors(&loaded);
        assert_eq!(to_safetensors(&load_safetensors(loaded, &written).expect("what was saved")), written);
    }
}

/// The encoder alone under the names of PyTorch.
pub fn pytorch_seeds() -> Vec<Vec<u8>> {
    // The names that are missing are asked for one by one: the messages of the loader say what it wants.
    let mut tensors: Vec<(String, Vec<usize>)> = Vec::new();
    loop {
        let bytes = file(&tensors);
        match load_pytorch(MODEL.encoder().clone(), &bytes) {
            Ok(_) => return vec![bytes],
            Err(pace_model::Error::MissingTensor { name }) => tensors.push((name, vec![1])),
            Err(pace_model::Error::TensorShape { name, expected, .. }) => {
                tensors.retain(|(known, _)| *known != name);
                tensors.push((name, expected));
            }
            Err(error) => panic!("no state dict can be made: {error}"),
        }
    }
}

/// A safetensors file of zeros.
fn file(tensors: &[(String, Vec<usize>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut end = 0;
    for (name, shape) in tensors {
        let begin = end;
        end += 4 * shape.iter().product::<usize>();
        let tensor = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, end]});
        header.insert(name.clone(), tensor);
    }
    let header = serde_json::Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; end]].concat()
}

/// A state dict that fits is loaded whole.
pub fn pytorch(input: &[u8]) {
    if let Ok(loaded) = load_pytorch(MODEL.encoder().clone(), input) {
        assert_eq!(to_safetensors(&loaded).len(), to_safetensors(MODEL.encoder()).len());
    }
}
