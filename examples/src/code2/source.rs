//! Where the functions come from.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use pace_graph::dataset::{DataDir, decompressed};
use pace_train::record::DataKind;

use super::Args;

/// The corpus of the data folder.
const CORPUS: &str = "py_functions.jsonl";
/// A file that only the official dataset has.
const OFFICIAL: &str = "raw/num-node-list.csv";
/// Folders of `code2` that may hold it: its archive has one of its own.
const FOLDERS: [&str; 2] = ["code2", "code2/ogbg_code2"];

/// Where functions are.
#[derive(Clone, Debug)]
pub enum Source {
    /// The files of the Open Graph Benchmark, and their folder.
    Official(DataDir, &'static str),
    /// JSON lines, with a split by project.
    Corpus(DataDir),
    /// JSON lines of the user.
    JsonLines(PathBuf),
    /// A folder of Python files, or one.
    Files(PathBuf),
    /// The Python library of this machine.
    Library(PathBuf),
    /// The Python files of this checkout, if there is nothing else.
    Checkout(PathBuf),
}

/// What the options ask for, or the best that is there.
///
/// # Errors
/// If an asked-for source or folder does not exist.
pub fn find(args: &Args) -> Result<Source> {
    if let Some(path) = &args.source {
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.to_string_lossy();
        let is_json = [".jsonl", ".jsonl.xz", ".jsonl.gz"].iter().any(|end| name.ends_with(end));
        return Ok(if is_json { Source::JsonLines(path.clone()) } else { Source::Files(path.clone()) });
    }
    let data = args.run.data_dir();
    if let Some(folder) = FOLDERS.into_iter().find(|folder| data.find(folder, OFFICIAL).is_some()) {
        return Ok(Source::Official(data, folder));
    }
    if data.find("code2", CORPUS).is_some() {
        return Ok(Source::Corpus(data));
    }
    if args.run.data.is_some() {
        bail!("neither code2/{OFFICIAL} nor code2/{CORPUS} is in the folder given with --data");
    }
    Ok(library().map_or_else(|| Source::Checkout(pace_checkout::root().to_owned()), Source::Library))
}

/// The library of the machine's Python, if it has one.
fn library() -> Option<PathBuf> {
    let ask = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let output = Command::new("python3").args(["-c", ask]).output().ok().filter(|output| output.status.success())?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_dir().then_some(path)
}

impl Source {
    /// In plain words.
    pub fn note(&self) -> String {
        match self {
            Source::Official(..) => "OGBG-CODE2, the official files, split by project".to_owned(),
            Source::Corpus(_) => {
                format!("functions of Python packages ({CORPUS}), split by project; not OGBG-CODE2")
            }
            Source::JsonLines(path) => format!("functions of {}", path.display()),
            Source::Files(path) => format!("functions of the Python files in {}, split by package", path.display()),
            Source::Library(path) => format!(
                "documented functions of the Python library of this machine ({}), split by package: a stand-in for OGBG-CODE2",
                path.display()
            ),
            Source::Checkout(_) => {
                "functions of the few Python files of this checkout: a stand-in for OGBG-CODE2".to_owned()
            }
        }
    }

    /// Whether numbers on it are worth a page.
    pub fn kind(&self) -> DataKind {
        match self {
            Source::Library(_) | Source::Checkout(_) => DataKind::Embedded,
            _ => DataKind::Real,
        }
    }

    /// The JSON lines, if that is what it is, and their name.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn json_lines(&self) -> Result<Option<(Box<dyn BufRead + Send>, String)>> {
        Ok(match self {
            Source::Corpus(data) => Some((data.open("code2", CORPUS)?, CORPUS.to_owned())),
            Source::JsonLines(path) => {
                let refused = || format!("cannot read {}", path.display());
                let file = std::fs::File::open(path).with_context(refused)?;
                let reader = decompressed(std::io::BufReader::new(file)).with_context(refused)?;
                Some((reader, path.display().to_string()))
            }
            _ => None,
        })
    }

    /// The folder of Python files, if that is what it is.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Source::Files(path) | Source::Library(path) | Source::Checkout(path) => Some(path),
            _ => None,
        }
    }
}
