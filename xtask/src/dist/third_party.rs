//! `THIRD-PARTY.txt`: the packages inside the programs, their licences, and the texts that these ask to pass on.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::metadata::{Metadata, Package};

/// How the files begin that licences ask to pass on.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// The list of what is linked into `programs`, then each text once with the packages that have it.
pub fn describe(metadata: &Metadata, programs: &[&Package]) -> Result<String> {
    let mut packages: BTreeMap<(&str, &str), &Package> = BTreeMap::new();
    for program in programs {
        let linked = metadata.linked_into(program).into_iter().filter(|package| !metadata.is_ours(package));
        packages.extend(linked.map(|package| ((package.name.as_str(), package.version.as_str()), package)));
    }
    let mut list = "The programs contain the following packages, each under its own licence.\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((name, version), package) in &packages {
        let licence = package.license.as_deref().unwrap_or("see its text below");
        let repository = package.repository.as_deref().unwrap_or_default();
        writeln!(list, "{}", format!("{name} {version}: {licence} {repository}").trim_end())?;
        let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
        for file in papers(folder) {
            let bytes = std::fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            texts.entry(text.trim_end().to_owned()).or_default().push(format!("{name} {version}"));
        }
    }
    for (text, mut owners) in texts {
        owners.dedup();
        write!(list, "\n{}\n{}\n\n{text}\n", "=".repeat(72), owners.join(", "))?;
    }
    Ok(list)
}

/// The licence texts in a package and in its folders, where C code that it brings along has its own. None if it cannot be read.
fn papers(folder: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let mut files = below(folder);
    let folders: Vec<PathBuf> = files.iter().filter(|path| path.is_dir()).cloned().collect();
    files.extend(folders.iter().flat_map(|folder| below(folder)));
    let is_paper = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_code = [".RS", ".PY", ".H", ".C"].iter().any(|end| name.ends_with(end));
        !is_code && NAMES.iter().any(|start| name.starts_with(start)) && path.is_file()
    };
    files.retain(is_paper);
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;
    use crate::root::test_dir;

    #[test]
    fn what_is_linked_is_listed_and_texts_stand_once() {
        let dir = test_dir("dist-third-party");
        let mut metadata = metadata::example();
        for package in &mut metadata.packages {
            let folder = dir.join(&package.name);
            std::fs::create_dir_all(folder.join("bundled")).unwrap();
            std::fs::write(folder.join("LICENSE-MIT"), "Permission is granted.\r\n").unwrap();
            std::fs::write(folder.join("licence.rs"), "fn licence() {}").unwrap();
            package.manifest_path = folder.join("Cargo.toml");
        }
        std::fs::write(dir.join("deep/bundled/COPYRIGHT"), "By the author of the C code.").unwrap();
        let text = describe(&metadata, &[metadata.member("ours").unwrap()]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2..4], ["deep 1.0.0: MIT", "linked 1.0.0: MIT"]);
        assert!(!text.contains("built") && !text.contains("ours 1.0.0") && !text.contains("fn licence"));
        assert!(lines.contains(&"deep 1.0.0, linked 1.0.0") && text.contains("By the author"), "{text}");
        assert_eq!(text.matches("Permission is granted.").count(), 1);
    }
}
