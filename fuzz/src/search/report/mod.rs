//! The two readers of xtask, which is a program: its files are taken as modules. `results.json` becomes a page, the manifest of
//! the datasets a list of downloads.

use std::path::{Component, Path};

use serde_json::json;

#[path = "../../../../xtask/src/report/encoders.rs"]
mod encoders;
#[allow(dead_code, reason = "only the parser is called here")]
#[path = "../../../../xtask/src/fetch/manifest.rs"]
mod manifest;
#[allow(dead_code, reason = "only the renderer is called here")]
#[path = "../../../../xtask/src/report/page.rs"]
mod page;
#[allow(dead_code, reason = "only the line of a page is made here")]
#[path = "../../../../xtask/src/report/provenance.rs"]
mod provenance;
#[allow(dead_code, reason = "only the parser is called here")]
#[path = "../../../../xtask/src/report/results.rs"]
mod results;

/// What a run writes.
pub fn seeds() -> Vec<Vec<u8>> {
    let results = json!({
        "format": 2, "title": "NA", "dataset": "na", "encoder": "pace", "data": "real", "data_note": "19020 graphs",
        "commit": "0123456789abcdef", "dirty": false, "seed": 1, "threads": 2, "config": {},
        "stages": [{"kind": "gp", "variant": "published", "seeds": [1, 1], "seconds": 4.0}],
        "table": [{"id": "rmse", "title": "RMSE", "unit": "%", "decimals": 4, "better": "lower",
                   "paper": {"value": 0.254, "source": "Table 1"}},
                  {"id": "n", "title": "n", "unit": "", "decimals": 0, "better": "neither", "paper": null}],
        "metrics": {"rmse": {"mean": 0.19, "std": 0.002, "n": 20}, "n": {"mean": null, "std": 0.0, "n": 1}}
    });
    // The same as a row of a table of several encoders.
    let mut table = results.clone();
    table["encoders"] = json!({"pace": {"title": "PACE", "place": 0, "encoders": 3, "seconds": 12.5,
        "metrics": {"rmse": {"mean": 0.19, "std": 0.002, "n": 20, "paper": 0.254}}}});
    vec![results.to_string().into_bytes(), table.to_string().into_bytes()]
}

/// Reads results and makes a page of them.
pub fn read(input: &[u8]) {
    if let Some(found) = std::str::from_utf8(input).ok().and_then(|text| results::Results::parse(text).ok()) {
        assert!(page::render(&found).starts_with("# "));
    }
}

/// A manifest of one dataset.
pub fn manifest_seeds() -> Vec<Vec<u8>> {
    let file = json!({"path": "a/b.txt", "url": "https://example.org/b", "bytes": 12, "sha256": "0f".repeat(32), "unpack_to": "c"});
    let manifest = json!({"datasets": [{"id": "na", "title": "NA", "licence": "MIT", "files": [file]}]});
    vec![manifest.to_string().into_bytes()]
}

/// No path of a manifest leaves the folder of its dataset.
pub fn read_manifest(input: &[u8]) {
    let Some(found) = std::str::from_utf8(input).ok().and_then(|text| manifest::Manifest::parse(text).ok()) else {
        return;
    };
    let paths = found.datasets.iter().flat_map(|dataset| &dataset.files);
    let paths = paths.flat_map(|file| [Some(&file.path), file.unpack_to.as_ref()]).flatten();
    for path in paths {
        let joined = Path::new("/top").join(path);
        let climbs = joined.components().any(|part| part == Component::ParentDir);
        assert!(joined.starts_with("/top") && !climbs, "{path} leaves its folder");
    }
}
