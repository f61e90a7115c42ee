//! Targets of pace-graph.

use crate::Target;

mod compressed;
mod dataset;
mod folder;
mod json;
mod text;

/// All of them.
pub const TARGETS: [Target; 13] = [
    Target::new("text", text::seeds, text::read),
    Target::new("graph-json", json::seeds, json::read),
    Target::new("na", dataset::na_seeds, dataset::na),
    Target::new("bn", dataset::bn_seeds, dataset::bn),
    Target::new("nas101-table", dataset::table_seeds, dataset::table),
    Target::new("nas101-tfrecord", dataset::tfrecord_seeds, dataset::tfrecord),
    Target::new("nas101-record", dataset::record_seeds, dataset::record),
    Target::new("darts-genotypes", dataset::genotype_seeds, dataset::genotypes),
    Target::new("darts-archs", dataset::arch_seeds, dataset::archs),
    Target::new("darts-pairs", dataset::pair_seeds, dataset::pairs),
    Target::new("json-lines", dataset::json_seeds, dataset::json_lines),
    Target::new("code2", folder::seeds, folder::read),
    Target::new("compressed", compressed::seeds, compressed::read).share(10),
];
