//! What can go wrong in this crate other than a misuse of shapes, which panics.

/// Errors of pace-model; every message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is not that of a device this crate knows.
    #[error("unknown device {name:?}: use one of {known}, or leave it out for the best CPU device")]
    UnknownDevice {
        /// What was asked for.
        name: String,
        /// The names this build accepts.
        known: &'static str,
    },
    /// The device exists, but this build has no code for it.
    #[error("device {name:?} is not in this build: rebuild with `--features {feature}`")]
    DeviceNotBuilt {
        /// What was asked for.
        name: String,
        /// The cargo feature that adds it.
        feature: &'static str,
    },
    /// The device index does not parse.
    #[error("device {name:?} has no valid index: write the name, a colon and a number, as in \"cuda:1\"")]
    DeviceIndex {
        /// What was asked for.
        name: String,
    },
    /// The driver library of a GPU device cannot be found.
    #[error("device {name:?} needs {library}, which is missing ({reason}): install the driver or use \"flex\"")]
    DriverMissing {
        /// What was asked for.
        name: String,
        /// The shared library that was tried.
        library: &'static str,
        /// Where it was looked for.
        reason: String,
    },
    /// The bytes are not a whole safetensors file.
    #[error("not a whole safetensors file ({reason}): copy or save it again")]
    DamagedFile {
        /// What the reader said.
        reason: String,
    },
    /// The file has parameters only.
    #[error("the file says nothing about its model: build the model by hand and use `load_safetensors`")]
    NoConfig,
    /// The description of a model does not parse.
    #[error("no description of a model ({reason}): use the file that was saved with the parameters, by this version")]
    BadConfig {
        /// What the parser said.
        reason: String,
    },
    /// The graphs are too large for a model with one position per node.
    #[error(
        "'{spec}' allows graphs of {max_nodes} nodes, a model at most {limit}: set max_nodes to that of the largest graph"
    )]
    TooManyPositions {
        /// Name of the spec.
        spec: String,
        /// Nodes that it allows.
        max_nodes: usize,
        /// Nodes that a model takes.
        limit: usize,
    },
    /// A spec that contradicts itself.
    #[error(transparent)]
    Spec(#[from] pace_graph::Error),
    /// The latent space has less than one dimension per position.
    #[error(
        "{d_latent} latent dimensions are too few for {n_positions} positions with a block each: give at least {n_positions}"
    )]
    NarrowLatent {
        /// Dimensions asked for.
        d_latent: usize,
        /// Positions of a graph, start symbol included.
        n_positions: usize,
    },
    /// A memory with one slot per operation, and more operations than slots.
    #[error(
        "memory_by_op wants a slot for each of {n_ops} operations, and a graph has {n_slots}: leave it off for this dataset"
    )]
    FewSlots {
        /// Operations, start symbol included.
        n_ops: usize,
        /// Slots of the memory, one per node.
        n_slots: usize,
    },
    /// The file describes a model of another kind.
    #[error("the file holds a model {found:?}, not {expected:?}: load it as {found:?}")]
    OtherModel {
        /// The kind in the file.
        found: String,
        /// The kind asked for.
        expected: String,
    },
    /// The file describes a model of the same kind with other settings.
    #[error("the file's model has {found}, this one {expected}: build the model from the file's own configuration")]
    OtherConfig {
        /// The first line that differs, as in the file.
        found: String,
        /// The same line of the model at hand.
        expected: String,
    },
    /// The model was trained on sequences in another canonical order.
    #[error("the model was trained with canonical order {found:?}, this build has {expected:?}: train it again")]
    OtherCanon {
        /// The order in the file.
        found: String,
        /// The order of this build.
        expected: &'static str,
    },
    /// The file lacks a parameter.
    #[error("the file has no tensor {name:?}: it is of another model; build the model from the file's configuration")]
    MissingTensor {
        /// The parameter.
        name: String,
    },
    /// The file has a tensor that is no parameter of the model.
    #[error("no parameter for tensor {name:?} of the file: build the model from the file's configuration")]
    UnknownTensor {
        /// The first such tensor.
        name: String,
    },
    /// A tensor has another shape than its parameter.
    #[error("tensor {name:?} is {found:?}, not {expected:?}: build the model from the file's configuration and spec")]
    TensorShape {
        /// The tensor.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The parameter's shape.
        expected: Vec<usize>,
    },
    /// A tensor is not of 32-bit floats.
    #[error("tensor {name:?} is stored as {found}: convert the file to F32")]
    TensorType {
        /// The tensor.
        name: String,
        /// Its type in the file.
        found: String,
    },
}
