//! Python environments below `target/`: the libclang wheel and the peers of the benches live there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::capture;
use crate::root::write_atomically;

/// A virtual environment with the packages that were asked for.
pub struct Venv {
    dir: PathBuf,
}

impl Venv {
    /// Makes the environment in `dir` unless it is there with exactly these packages.
    ///
    /// The list of packages is written last, so an environment that was interrupted half-way is made again.
    pub fn ensure(dir: &Path, packages: &[&str]) -> Result<Venv> {
        let venv = Venv { dir: dir.to_path_buf() };
        let stamp = dir.join("packages.txt");
        let wanted = packages.join("\n");
        if std::fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) && venv.python().is_file() {
            return Ok(venv);
        }
        eprintln!("python: making an environment in {} with {}", dir.display(), packages.join(", "));
        capture(Command::new("python3").args(["-m", "venv", "--clear"]).arg(dir)).context(
            "python3 could not make a virtual environment; on Debian its venv module is a package of its own: \
             `apt-get install python3-venv`",
        )?;
        capture(Command::new(venv.python()).args(["-m", "pip", "install", "--quiet"]).args(packages))
            .with_context(|| format!("pip could not install {}; is there a network?", packages.join(", ")))?;
        write_atomically(&stamp, &wanted).with_context(|| format!("could not write {}", stamp.display()))?;
        Ok(venv)
    }

    /// The interpreter, to be run: it sees its environment only, not what lies in the current folder.
    pub fn isolated(&self) -> Command {
        let mut command = Command::new(self.python());
        command.env("PYTHONSAFEPATH", "1").env_remove("PYTHONPATH");
        command
    }

    /// The interpreter.
    pub fn python(&self) -> PathBuf {
        self.dir.join("bin/python3")
    }
}
