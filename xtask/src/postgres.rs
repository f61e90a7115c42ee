//! `cargo xtask ci postgres`: studies on a real PostgreSQL server, which the tests start and end themselves.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cargo::{cargo, run as run_command};
use crate::setup::{Environment, Policy, install_packages};

/// The Debian package: the server of that release.
const PACKAGE: &str = "postgresql";
/// Where Debian keeps the programs of servers, a folder per version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Names the folder of the programs, for people with another system and for the tests, which then may not skip themselves.
const VARIABLE: &str = "PACE_POSTGRES";

/// Finds a server or installs one, and runs the tests of studies.
pub fn run(environment: &Environment, policy: Policy) -> Result<()> {
    let programs = ensure(policy)?;
    eprintln!("postgres: the server in {}", programs.display());
    let mut command = cargo(environment);
    command.env(VARIABLE, &programs).args(["test", "--release", "--package", "pace-search", "--features", "postgres"]);
    // Of that crate only what is about studies.
    run_command(command.args(["--lib", "--test", "it", "study"]))
}

/// The folder of the server's programs; installs them if they are missing and we may.
fn ensure(policy: Policy) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        let is_there = named.join("initdb").is_file();
        return is_there.then_some(named).with_context(|| format!("{VARIABLE} names a folder without initdb"));
    }
    if let Some(programs) = find(Path::new(DEBIAN)) {
        return Ok(programs);
    }
    eprintln!("postgres: no server on this machine");
    install_packages(policy, &[PACKAGE]).with_context(|| {
        format!(
            "install PostgreSQL yourself and run the command again (Debian: `apt-get install {PACKAGE}`), or let \
             {VARIABLE} name the folder that holds initdb and postgres"
        )
    })?;
    find(Path::new(DEBIAN)).with_context(|| format!("{PACKAGE} is installed, but there is no initdb below {DEBIAN}"))
}

/// The programs of the newest version below `root`.
fn find(root: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(root).ok()?.flatten().map(|entry| entry.path());
    let versions = versions.filter(|version| version.join("bin/initdb").is_file());
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    versions.max_by_key(number).map(|version| version.join("bin"))
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::root::test_dir;

    #[test]
    fn the_newest_whole_server_is_found() {
        let root = test_dir("postgres");
        assert_eq!(find(&root), None);
        for version in ["9", "15", "17"] {
            std::fs::create_dir_all(root.join(version).join("bin")).unwrap();
        }
        for version in ["9", "15"] {
            std::fs::write(root.join(version).join("bin/initdb"), "").unwrap();
        }
        assert_eq!(find(&root), Some(root.join("15/bin")));
    }
}
