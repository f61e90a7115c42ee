//! Where a training of several processes starts: all of them where rank 0 does.

use burn::module::Module;
use burn::tensor::Bytes;
use pace_model::store::{load_safetensors, to_safetensors};
use serde::{Deserialize, Serialize};

use crate::checkpoint::{Resumed, State, adopt, param_ids};
use crate::collective::Collective;
use crate::fit::FitConfig;

/// What goes before the weights and the moments.
#[derive(Serialize, Deserialize)]
struct Header {
    state: State,
    param_ids: Vec<u64>,
    weights: usize,
}

/// Replaces the start of all others by that of rank 0, initial weights included.
pub(crate) fn share<M: Module>(start: Resumed<M>, config: &FitConfig, ranks: &dyn Collective) -> Resumed<M> {
    if ranks.size() == 1 {
        return start;
    }
    let mut bytes = if ranks.rank() == 0 { to_bytes(&start) } else { Vec::new() };
    ranks.share(&mut bytes);
    if ranks.rank() == 0 { start } else { from_bytes(&bytes, start.model, config) }
}

/// A line with the state, the weights, and the moments, if there has been a step.
fn to_bytes<M: Module>(start: &Resumed<M>) -> Vec<u8> {
    let weights = to_safetensors(&start.model);
    let header = Header { state: start.state.clone(), param_ids: param_ids(&start.model), weights: weights.len() };
    let mut bytes = serde_json::to_vec(&header).expect("plain data");
    bytes.push(b'\n');
    bytes.extend(weights);
    if start.state.step > 0 {
        bytes.extend_from_slice(&start.optimiser.into_bytes().expect("it was read from bytes"));
    }
    bytes
}

/// The same again. These bytes come from the same program a moment ago: what is wrong with them is a bug.
fn from_bytes<M: Module>(bytes: &[u8], model: M, config: &FitConfig) -> Resumed<M> {
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line with the state");
    let header: Header = serde_json::from_slice(&bytes[..end]).expect("written by rank 0");
    let (weights, moments) = bytes[end + 1..].split_at(header.weights);
    let model = adopt(load_safetensors(model, weights).expect("the weights of an equal model"), header.param_ids);
    let mut optimiser = config.optimiser.init(&model);
    if !moments.is_empty() {
        let moments = Bytes::from_bytes_vec(moments.to_vec());
        optimiser = optimiser.from_bytes(moments).expect("the moments of an equal model");
    }
    Resumed { model, optimiser, state: header.state, damage: None }
}
