//! Faults on purpose: a check that never fails proves nothing.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::checks::{narrow, silence};
use super::session::Session;

/// Markup that slipped through: an image with a handler, a script, something from elsewhere, something wide.
const FAULT: &str = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>\
                     <link rel=stylesheet href=\"http://127.0.0.1:9/a.css\"><div style=\"width:2000px\">wide</div>";

/// Loads the page with a fault in it. The policy must hold, and the checks must complain.
pub fn find(session: &Session, page: &Path, folder: &Path) -> Result<()> {
    let html = std::fs::read_to_string(page).with_context(|| format!("could not read {}", page.display()))?;
    let planted = folder.join("planted.html");
    let faulty = html.replacen("<main>", &format!("<main>{FAULT}"), 1);
    ensure!(faulty != html, "{} has no main part; is it a report of pace-report?", page.display());
    std::fs::write(&planted, faulty).with_context(|| format!("could not write {}", planted.display()))?;
    session.emulate(1280, false)?;
    session.load(&planted)?;
    let ran = session.script("return window.hacked === 1")?;
    ensure!(ran == json!(false), "the policy of the page lets foreign scripts run");
    ensure!(silence(session, folder).is_err(), "violations of the policy are not seen");
    ensure!(narrow(session, folder).is_err(), "an element of 2000 pixels is not seen");
    std::fs::remove_file(&planted).with_context(|| format!("could not remove {}", planted.display()))
}
