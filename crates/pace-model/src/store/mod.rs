//! Models as bytes: parameters in the safetensors format, with what is needed to build the model again.
//!
//! ```
//! use pace_graph::DagSpec;
//! use pace_model::encoder::PaceConfig;
//! use pace_model::store::Saved;
//!
//! let device = pace_model::device::device("")?;
//! let saved = Saved::new("pace", PaceConfig::mlm(), DagSpec::nas101());
//! let bytes = saved.to_safetensors(&saved.config.init(&saved.spec, 0, &device));
//!
//! let again: Saved<PaceConfig> = Saved::from_safetensors("pace", &bytes)?;
//! let model = again.load(again.config.init(&again.spec, 1, &device), &bytes)?;
//! # drop(model);
//! # Ok::<(), pace_model::Error>(())
//! ```
//!
//! A tensor is called by its path in the module, e.g. `encoder.stack.blocks.0.attention.wqkv`. Weights from PyTorch have other
//! names and shapes: [`load_pytorch`].
//!
//! Bytes in, bytes out: files belong to other crates. Loading consumes the model and returns it whole or not at all. It is
//! done with the `safetensors` crate and Burn's own visitors rather than burn-store, which ends the process when a
//! panic passes through its loader and cannot cut packed tensors apart.

mod pytorch;
mod tensors;

use burn::module::Module;
use pace_graph::{CANON_ID, DagSpec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::batch::check_spec;
use tensors::{Tensors, fill};

pub use pytorch::load_pytorch;

/// The key of the configuration in the metadata of a safetensors file.
const KEY: &str = "pace";

/// What a model was made from, to be kept beside its parameters; also inside them, as metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved<C> {
    /// What kind of model this is, e.g. `pace-vae`; a name that only its kind uses.
    pub model: String,
    /// The graphs (without start symbol).
    pub spec: DagSpec,
    /// The canonical order the parameters were trained with, [`CANON_ID`].
    pub canon: String,
    /// The model's configuration.
    pub config: C,
}

impl<C: Serialize + DeserializeOwned> Saved<C> {
    /// A description of a model of this build.
    pub fn new(model: &str, config: C, spec: DagSpec) -> Saved<C> {
        Saved { model: model.to_owned(), config, spec, canon: CANON_ID.to_owned() }
    }

    /// The description as JSON, for a separate file beside the parameters.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("configurations are plain data")
    }

    /// Reads the description of a model of kind `model`.
    ///
    /// # Errors
    /// If the text is no such description, the model is of another kind or needs another canonical order, or no model takes
    /// its graphs.
    pub fn from_json(model: &str, text: &str) -> Result<Saved<C>, Error> {
        // The kind first: the configuration of another kind would only fail to parse.
        let head: Head = serde_json::from_str(text).map_err(|error| Error::BadConfig { reason: error.to_string() })?;
        if head.model != model {
            return Err(Error::OtherModel { found: head.model, expected: model.to_owned() });
        }
        if head.canon != CANON_ID {
            return Err(Error::OtherCanon { found: head.canon, expected: CANON_ID });
        }
        let saved: Saved<C> =
            serde_json::from_str(text).map_err(|error| Error::BadConfig { reason: error.to_string() })?;
        check_spec(&saved.spec)?;
        Ok(saved)
    }

    /// The parameters of `module` and this description as the bytes of a safetensors file.
    pub fn to_safetensors(&self, module: &impl Module) -> Vec<u8> {
        Tensors::of(module).to_bytes(KEY, serde_json::to_string(self).expect("configurations are plain data"))
    }

    /// Reads the description inside a safetensors file, see [`Saved::from_json`].
    ///
    /// # Errors
    /// If the bytes are damaged, or carry no description of a model of this kind.
    pub fn from_safetensors(model: &str, bytes: &[u8]) -> Result<Saved<C>, Error> {
        let text = Tensors::metadata(bytes, KEY)?.ok_or(Error::NoConfig)?;
        Saved::from_json(model, &text)
    }

    /// Puts the parameters of a file into `module`, if the file describes the model that this describes.
    ///
    /// # Errors
    /// Those of [`Saved::from_safetensors`] and [`load_safetensors`], and if the configurations differ.
    pub fn load<M: Module>(&self, module: M, bytes: &[u8]) -> Result<M, Error> {
        let found: Saved<C> = Saved::from_safetensors(&self.model, bytes)?;
        let (found, expected) = (found.to_json(), self.to_json());
        if found != expected {
            // Both are written by the same code, so the first line that differs names the setting.
            let lines = found.lines().zip(expected.lines()).find(|(one, other)| one != other).unwrap_or_default();
            let (found, expected) = (lines.0.trim().to_owned(), lines.1.trim().to_owned());
            return Err(Error::OtherConfig { found, expected });
        }
        load_safetensors(module, bytes)
    }
}

/// What every description starts with.
#[derive(Deserialize)]
struct Head {
    model: String,
    canon: String,
}

/// The parameters of `module` alone as the bytes of a safetensors file; [`Saved::to_safetensors`] adds the configuration.
pub fn to_safetensors(module: &impl Module) -> Vec<u8> {
    Tensors::of(module).to_bytes("format", "pt".to_owned())
}

/// Puts the parameters of a safetensors file, by path, into `module`, which gives shapes and device.
///
/// # Errors
/// If the bytes are damaged, or the file lacks a tensor, has one too many, or one of another shape or type.
pub fn load_safetensors<M: Module>(module: M, bytes: &[u8]) -> Result<M, Error> {
    fill(module, Tensors::from_bytes(bytes)?)
}
