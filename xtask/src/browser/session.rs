//! [`Session`]: one window of the browser, driven by WebDriver's JSON over HTTP (W3C, 2018).

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// What Chromium is told. It may run as root in a container, and talks to nobody.
const FLAGS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

/// A window. It closes with this value.
pub struct Session {
    agent: ureq::Agent,
    url: String,
    profile: PathBuf,
}

impl Session {
    /// Opens a window with an empty profile, which lies in `folder` while it lives.
    pub fn open(port: u16, browser: &Path, folder: &Path) -> Result<Session> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None);
        let agent: ureq::Agent = config.timeout_global(Some(Duration::from_secs(120))).build().into();
        let profile = folder.join(format!("profile-{}", std::process::id()));
        let mut session = Session { agent, url: format!("http://127.0.0.1:{port}/session"), profile };
        let profile = format!("--user-data-dir={}", session.profile.display());
        let flags: Vec<&str> = FLAGS.into_iter().chain([profile.as_str()]).collect();
        let options = json!({ "binary": browser, "args": flags });
        let wanted = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let opened = session.post("", &json!({ "capabilities": { "alwaysMatch": wanted } }))?;
        let id = opened["sessionId"].as_str().context("chromedriver named no session")?;
        session.url = format!("{}/{id}", session.url);
        Ok(session)
    }

    /// Sends a command and returns the value of its answer.
    pub fn post(&self, command: &str, body: &Value) -> Result<Value> {
        let request = self.agent.post(format!("{}{command}", self.url)).header("content-type", "application/json");
        let mut response = request.send(body.to_string()).with_context(|| format!("no answer to {command:?}"))?;
        // A picture of a long page is larger than what ureq takes by default.
        let limit = response.body_mut().with_config().limit(200_000_000);
        let text = limit.read_to_string().with_context(|| format!("half an answer to {command:?}"))?;
        let mut answer: Value = serde_json::from_str(&text).with_context(|| format!("no JSON after {command:?}"))?;
        if let Some(error) = answer["value"]["error"].as_str() {
            bail!("{command}: {error}: {}", answer["value"]["message"].as_str().unwrap_or_default());
        }
        Ok(answer["value"].take())
    }

    /// Loads a file.
    pub fn load(&self, page: &Path) -> Result<()> {
        // Reading the log empties it: what stands there later is about this page.
        self.log()?;
        self.post("/url", &json!({ "url": format!("file://{}", page.display()) })).map(drop)
    }

    /// Runs a function body in the page and returns what it returns.
    pub fn script(&self, body: &str) -> Result<Value> {
        self.post("/execute/sync", &json!({ "script": body, "args": [] }))
    }

    /// What the console says since the last time, among it violations of the policy.
    pub fn log(&self) -> Result<Vec<String>> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        Ok(entries.iter().map(|entry| format!("{}: {}", text(&entry["level"]), text(&entry["message"]))).collect())
    }

    /// A command of the Chrome DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Result<Value> {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Sets width in CSS pixels, and whether the reader wants it dark.
    pub fn emulate(&self, width: u32, dark: bool) -> Result<()> {
        let is_phone = width < 600;
        let metrics = json!({ "width": width, "height": 800, "deviceScaleFactor": if is_phone { 2 } else { 1 }, "mobile": is_phone });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)?;
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": [scheme] })).map(drop)
    }

    /// Writes a picture of the whole page.
    pub fn picture(&self, path: &Path) -> Result<()> {
        let wanted = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.devtools("Page.captureScreenshot", wanted)?;
        let bytes = base64(text(&picture["data"])).context("a picture that is not base64")?;
        std::fs::write(path, bytes).with_context(|| format!("could not write {}", path.display()))
    }

    /// Presses keys one after another, by WebDriver's names.
    pub fn keys(&self, keys: &str) -> Result<()> {
        let press = |key: char| [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] })).map(drop)
    }

    /// Moves the mouse to a point of the window.
    pub fn point(&self, x: f64, y: f64) -> Result<()> {
        let step = json!({ "type": "pointerMove", "duration": 0, "x": x.round() as i64, "y": y.round() as i64 });
        let mouse =
            json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": [step] });
        self.post("/actions", &json!({ "actions": [mouse] })).map(drop)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Closing the window lets the browser end; the driver ends it otherwise.
        let _ = self.agent.delete(&self.url).call();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The string in a value, if it is one.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The bytes behind base64 (RFC 4648).
pub fn base64(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = LETTERS.iter().position(|&known| known == letter)?;
        (bits, n_bits) = (bits << 6 | value as u32, n_bits + 6);
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("SGVsbG8="), Some(b"Hello".to_vec()));
        assert_eq!(base64("JVBERi0x"), Some(b"%PDF-1".to_vec()));
        assert_eq!(base64("#"), None);
    }
}
