//! Our allocator as a library that Python can be started with: the same sources as in our programs, so that neither side wins by
//! its `malloc`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::{capture, cargo};
use crate::setup::Environment;

/// The crate whose C sources our programs are built with.
const CRATE: &str = "libmimalloc-sys";

/// Compiles the library into `folder`, once per version.
pub fn ensure(environment: &Environment, folder: &Path) -> Result<PathBuf> {
    let (version, sources) = sources(environment)?;
    let library = folder.join(format!("libmimalloc-{version}.so"));
    if library.is_file() {
        return Ok(library);
    }
    eprintln!("bench: compiling mimalloc {version} for Python");
    std::fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    let include = |folder: &str| format!("-I{}", sources.join(folder).display());
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler
        .args(["-O3", "-DNDEBUG", "-DMI_MALLOC_OVERRIDE", "-fno-builtin-malloc", "-ftls-model=initial-exec"])
        .args(["-shared", "-fPIC", &include("include"), &include("src")])
        .arg(sources.join("src/static.c"))
        .args(["-lpthread", "-o"])
        .arg(&library);
    capture(&mut compiler).context("the allocator for the peer could not be compiled; install a C compiler")?;
    Ok(library)
}

/// The version of the crate in our lock file, and the folder of its C sources.
fn sources(environment: &Environment) -> Result<(String, PathBuf)> {
    let text = capture(cargo(environment).args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let package = packages.iter().find(|package| package["name"] == CRATE);
    let package = package.with_context(|| format!("{CRATE} is not among our dependencies"))?;
    let manifest = package["manifest_path"].as_str().context("a package without a manifest")?;
    // Version 3 is what the crate builds unless it is asked for another.
    let sources = Path::new(manifest).with_file_name("c_src/mimalloc/v3");
    Ok((package["version"].as_str().unwrap_or("unknown").to_owned(), sources))
}
