//! Where the datasets of this checkout lie.

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

/// The data folder of a test that needs these files, each given as folder and file name.
///
/// `None` if one is missing: the test then says so and does nothing.
pub fn data_with(files: &[(&str, &str)]) -> Option<DataDir> {
    let dir = data_dir(None);
    let missing = files.iter().find(|(id, file)| dir.find(id, file).is_none());
    if let Some((id, file)) = missing {
        println!("skipped: no {id}/{file} in {dir:?}");
    }
    missing.is_none().then_some(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_asked_for_is_the_only_one() {
        let absent = Path::new("no/such/folder");
        assert_eq!(data_dir(Some(absent)), DataDir::at(absent));
    }
}
