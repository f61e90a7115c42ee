//! What cargo says about the packages of the lock file.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cargo::{capture, cargo};
use crate::setup::Environment;

/// The packages and who needs whom.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// All packages, those of the workspace among them.
    pub packages: Vec<Package>,
    /// Ids of the packages of the workspace.
    workspace_members: Vec<String>,
    resolve: Resolve,
}

/// One package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    id: String,
    /// As in `Cargo.toml`.
    pub name: String,
    /// As in `Cargo.toml`.
    pub version: String,
    /// An SPDX expression.
    pub license: Option<String>,
    /// Where its source lives.
    pub repository: Option<String>,
    /// The oldest Rust that builds it, if it says so.
    pub rust_version: Option<String>,
    /// Its `Cargo.toml` on this machine.
    pub manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    /// `None` for what is linked; else `dev` or `build`.
    kind: Option<String>,
}

impl Metadata {
    /// Of the whole lock file, or of what the named target uses.
    pub fn read(target: Option<&str>) -> Result<Metadata> {
        let mut command = cargo(&Environment::default());
        command.args(["metadata", "--format-version", "1", "--locked"]);
        command.args(target.into_iter().flat_map(|target| ["--filter-platform", target]));
        Metadata::parse(&capture(&mut command)?)
    }

    /// Of what `cargo metadata` printed.
    pub fn parse(text: &str) -> Result<Metadata> {
        serde_json::from_str(text).context("cargo metadata printed something else than was expected")
    }

    /// The package of the workspace with that name.
    pub fn member(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name && self.is_ours(package))
    }

    /// Whether the package belongs to this workspace.
    pub fn is_ours(&self, package: &Package) -> bool {
        self.workspace_members.contains(&package.id)
    }

    /// What is linked into `root`, itself left out, by name and version.
    pub fn linked_into(&self, root: &Package) -> Vec<&Package> {
        let nodes: HashMap<&str, &Node> = self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let (mut seen, mut open) = (HashSet::from([root.id.as_str()]), vec![root.id.as_str()]);
        while let Some(node) = open.pop().and_then(|id| nodes.get(id)) {
            for dependency in &node.deps {
                let is_linked = dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
                if is_linked && seen.insert(&dependency.pkg) {
                    open.push(&dependency.pkg);
                }
            }
        }
        seen.remove(root.id.as_str());
        let mut linked: Vec<&Package> = self.packages.iter().filter(|package| seen.contains(&*package.id)).collect();
        linked.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        linked
    }
}

/// Four packages: `ours` links `linked`, which links `deep`; `built` only helps to build it.
#[cfg(test)]
pub fn example() -> Metadata {
    let package = |name: &str, rust: &str| {
        serde_json::json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "repository": null,
            "rust_version": rust, "manifest_path": format!("/nowhere/{name}/Cargo.toml")})
    };
    let needs = |id: &str, kind: Option<&str>| serde_json::json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
    let text = serde_json::json!({
        "packages": [package("ours", "1.95"), package("linked", "1.95.1"), package("deep", "1.60"), package("built", "1.96")],
        "workspace_members": ["ours"],
        "resolve": {"nodes": [
            {"id": "ours", "deps": [needs("linked", None), needs("built", Some("build"))]},
            {"id": "linked", "deps": [needs("deep", None)]},
            {"id": "deep", "deps": []},
            {"id": "built", "deps": []},
        ]},
    });
    Metadata::parse(&text.to_string()).expect("the example is what cargo prints")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_is_not_linked() {
        let metadata = example();
        let linked = metadata.linked_into(metadata.member("ours").unwrap());
        let names: Vec<&str> = linked.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["deep", "linked"]);
        assert!(metadata.member("deep").is_none(), "not of the workspace");
    }
}
