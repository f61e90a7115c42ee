//! `cargo xtask ci browser`: the pages of pace-report in a real browser.
//!
//! The example `demo` of that crate writes a page with everything on it. Chromium loads it, by way of chromedriver, and is asked what
//! a reader would see. Pictures of the page are left in `target/browser`, for people to look at.

mod checks;
mod driver;
mod install;
mod planted;
mod session;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo::{build, program, run as run_command};
use crate::root::workspace_root;
use crate::setup::{Environment, Policy};
use driver::Driver;
use session::Session;

/// Options of `ci browser`.
#[derive(Debug, clap::Args)]
#[group(id = "browser")]
pub struct Options {
    /// browser: check this report instead of the demonstration
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// Makes the page, starts the browser and makes all checks; fails if one of them does, after all of them.
pub fn run(environment: &Environment, options: &Options, policy: Policy) -> Result<()> {
    let folder = workspace_root().join("target/browser");
    std::fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    let page = match &options.page {
        Some(page) => page.canonicalize().with_context(|| format!("could not find the page {}", page.display()))?,
        None => demo(environment, &folder)?,
    };
    let programs = install::ensure(policy)?;
    let driver = Driver::start(&programs.driver)?;
    let session = Session::open(driver.port, &programs.browser, &folder)?;
    let planted = planted::find(&session, &page, &folder);
    let failures = std::iter::once(("planted faults are found", planted))
        .chain(checks::all(&session, &page, &folder))
        .filter(|(name, outcome)| {
            let word = if outcome.is_ok() { "ok" } else { "FAILED" };
            let reason = outcome.as_ref().err().map(|error| format!(": {error:#}")).unwrap_or_default();
            eprintln!("browser: {word:<6} {name}{reason}");
            outcome.is_err()
        })
        .count();
    eprintln!("browser: pictures are in {}", folder.display());
    match failures {
        0 => Ok(()),
        n => bail!("{n} checks of {} failed", page.display()),
    }
}

/// Writes the demonstration. Of the whole workspace only what it needs is built, so Burn is not.
fn demo(environment: &Environment, folder: &Path) -> Result<PathBuf> {
    let page = folder.join("demo.html");
    run_command(program(&build(environment, ["--example", "demo"])?).arg(&page))?;
    Ok(page)
}
