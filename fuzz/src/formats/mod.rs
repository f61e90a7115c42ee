//! Targets of pace-formats and pace-code: graphs and vectors in other people's files.

use crate::Target;

mod graphs;
mod source;
mod vectors;

/// All of them.
pub const TARGETS: [Target; 10] = [
    Target::new("format-json-lines", graphs::json_lines_seeds, graphs::json_lines),
    Target::new("format-node-link", graphs::node_link_seeds, graphs::node_link),
    Target::new("format-dot", graphs::dot_seeds, graphs::dot),
    Target::new("format-graphml", graphs::graphml_seeds, graphs::graphml),
    Target::new("format-onnx", graphs::onnx_seeds, graphs::onnx),
    Target::new("format-bif", graphs::bif_seeds, graphs::bif),
    Target::new("format-python", source::seeds, source::graphs).share(10),
    Target::new("python-source", source::seeds, source::trees).share(10),
    Target::new("npy", vectors::npy_seeds, vectors::npy),
    Target::new("safetensors", vectors::safetensors_seeds, vectors::safetensors),
];
