//! Where the datasets of this checkout lie.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use pace_graph::dataset::DataDir;

use crate::root;

/// The environment variable that names a data folder.
const VARIABLE: &str = "PACE_DATA";
/// The folders that are searched if none is named, relative to the workspace.
const PLACES: [&str; 2] = ["../shared/data", "datasets/.cache"];

/// The folder asked for, else the one that `PACE_DATA` names, else `../shared/data` and `datasets/.cache`.
///
/// A folder that was asked for or named is the only one searched, so that a wrong path is an error and not other data.
pub fn data_dir(asked: Option<&Path>) -> DataDir {
    let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    match asked.map(Path::to_owned).or(variable) {
        Some(named) => DataDir::at(named),
        None => DataDir::among(PLACES.map(|place| root().join(place))),
    }
}

/// The environment variable that names the file in which tests write down that they skip. `cargo xtask test` sets it, and says
/// at its end what was skipped.
const SKIPPED: &str = "PACE_SKIPPED";

/// The data folder of a test that needs these files, each given as folder and file name.
///
/// `None` if one is missing: the test then says so, with its name, and does nothing.
pub fn data_with(files: &[(&str, &str)]) -> Option<DataDir> {
    let dir = data_dir(None);
    let missing = files.iter().find(|(id, file)| dir.find(id, file).is_none());
    if let Some((id, file)) = missing {
        say_skipped(&format!("no {id}/{file} in {dir:?}"));
    }
    missing.is_none().then_some(dir)
}

/// Says that the running test does nothing, and why: on the terminal, and in the list that `cargo xtask test` prints.
pub fn say_skipped(reason: &str) {
    // The harness runs every test in a thread of its name.
    let thread = std::thread::current();
    let line = format!("SKIPPED {}: {reason}\n", thread.name().unwrap_or("a test"));
    // Not by `eprint!`, which the harness keeps to itself if the test passes.
    std::io::stderr().write_all(line.as_bytes()).ok();
    if let Some(list) = std::env::var_os(SKIPPED) {
        write_down(Path::new(&list), &line);
    }
}

/// Appends a line in one write, so that tests in parallel do not mix theirs.
fn write_down(list: &Path, line: &str) {
    let appended =
        OpenOptions::new().create(true).append(true).open(list).and_then(|mut file| file.write_all(line.as_bytes()));
    appended.unwrap_or_else(|error| panic!("a skipped test must be counted, and {} says: {error}", list.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_written_down() {
        let list = std::env::temp_dir().join(format!("pace-skipped-{}", std::process::id()));
        write_down(&list, "SKIPPED one\n");
        write_down(&list, "SKIPPED two\n");
        assert_eq!(std::fs::read_to_string(&list).unwrap(), "SKIPPED one\nSKIPPED two\n");
        std::fs::remove_file(&list).unwrap();
    }

    #[test]
    fn a_folder_that_was_asked_for_is_the_only_one() {
        let absent = Path::new("no/such/folder");
        assert_eq!(data_dir(Some(absent)), DataDir::at(absent));
    }
}
