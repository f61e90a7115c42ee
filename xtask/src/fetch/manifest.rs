//! `datasets/manifest.json`: where each dataset is published.

use std::path::{Component, Path};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Every dataset that can be downloaded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// In the order of the paper.
    pub datasets: Vec<Dataset>,
}

/// One dataset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// The name on the command line and the folder below `datasets/.cache`.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Licence of the data.
    pub licence: String,
    /// What to download.
    pub files: Vec<RemoteFile>,
}

/// One file of a dataset.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteFile {
    /// Where it goes, below the dataset's folder.
    pub path: String,
    /// Where it comes from.
    pub url: String,
    /// Its size, if known.
    pub bytes: Option<u64>,
    /// Its digest in lower-case hexadecimal, if known.
    pub sha256: Option<String>,
    /// For a zip archive: the folder, next to it, that takes its content.
    #[serde(default)]
    pub unpack_to: Option<String>,
}

impl Manifest {
    /// Reads and checks the manifest.
    pub fn read(path: &Path) -> Result<Manifest> {
        let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
        Manifest::parse(&text).with_context(|| format!("{} is not a manifest", path.display()))
    }

    /// Parses and checks the manifest: every path in it must stay below the dataset's folder.
    pub fn parse(text: &str) -> Result<Manifest> {
        let manifest: Manifest = serde_json::from_str(text)?;
        for dataset in &manifest.datasets {
            let paths = dataset.files.iter().flat_map(|file| [Some(&file.path), file.unpack_to.as_ref()]).flatten();
            for path in paths.chain([&dataset.id]) {
                let is_plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
                if path.is_empty() || !is_plain {
                    bail!("dataset {}: the path {path:?} leaves the folder of the dataset", dataset.id);
                }
            }
            let is_url = |url: &str| url.starts_with("http://") || url.starts_with("https://");
            if let Some(file) = dataset.files.iter().find(|file| !is_url(&file.url)) {
                bail!("dataset {}: {:?} of {} is no http or https address", dataset.id, file.url, file.path);
            }
            let digests = dataset.files.iter().filter_map(|file| file.sha256.as_ref());
            if let Some(bad) = digests.into_iter().find(|digest| !is_sha256(digest)) {
                bail!("dataset {}: {bad:?} is not a sha256 of 64 lower-case hexadecimal digits", dataset.id);
            }
        }
        Ok(manifest)
    }

    /// The dataset called `id`.
    pub fn dataset(&self, id: &str) -> Result<&Dataset> {
        self.datasets.iter().find(|dataset| dataset.id == id).with_context(|| {
            let known: Vec<&str> = self.datasets.iter().map(|dataset| dataset.id.as_str()).collect();
            format!("there is no dataset {id:?} to fetch; known: {}", known.join(", "))
        })
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
