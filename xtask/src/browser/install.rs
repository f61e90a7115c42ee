//! Chromium and its driver: found, or installed as Debian packages.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::capture;
use crate::setup::{Policy, install_packages};

/// The Debian packages. Both come from one source, so their versions agree.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];
/// What the browser is called on various systems.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The two programs.
pub struct Programs {
    /// Speaks WebDriver.
    pub driver: PathBuf,
    /// Is driven.
    pub browser: PathBuf,
}

/// Finds both programs; installs them if one is missing and we may.
pub fn ensure(policy: Policy) -> Result<Programs> {
    if let Some(programs) = find() {
        return Ok(programs);
    }
    eprintln!("browser: no chromium or no chromedriver on this machine");
    install_packages(policy, &PACKAGES).with_context(|| {
        format!(
            "install a browser yourself and run the command again (Debian: `apt-get install {}`)",
            PACKAGES.join(" ")
        )
    })?;
    find().with_context(|| format!("{} are installed, but the programs are not there", PACKAGES.join(" and ")))
}

fn find() -> Option<Programs> {
    Some(Programs { driver: on_path("chromedriver")?, browser: BROWSERS.into_iter().find_map(on_path)? })
}

/// A program that says its version.
fn on_path(name: &str) -> Option<PathBuf> {
    capture(Command::new(name).arg("--version")).ok()?;
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}
