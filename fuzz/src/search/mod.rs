//! Targets of pace-search, and the two readers of xtask.

use crate::Target;

mod config;
mod journal;
mod network;
mod observations;
mod report;
mod weights;

/// All of them.
pub const TARGETS: [Target; 8] = [
    Target::new("search-config", config::seeds, config::read),
    Target::new("journal", journal::seeds, journal::read).share(5),
    Target::new("onnx", network::onnx_seeds, network::onnx),
    Target::new("encoding", network::encoding_seeds, network::encoding).max_len(16_384).share(10),
    Target::new("observations", observations::seeds, observations::read),
    Target::new("weights", weights::seeds, weights::read).max_len(16_384).share(10),
    Target::new("results", report::seeds, report::read),
    Target::new("manifest", report::manifest_seeds, report::read_manifest),
];
