//! The chromedriver process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// A chromedriver that listens; it ends with this value.
pub struct Driver {
    process: Child,
    /// The port that it chose, on the loopback device.
    pub port: u16,
}

impl Driver {
    /// Starts the program and waits until it says where it listens.
    pub fn start(program: &Path) -> Result<Driver> {
        let mut command = Command::new(program);
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let process = command.spawn().with_context(|| format!("could not start {}", program.display()))?;
        let mut driver = Driver { process, port: 0 };
        let output = driver.process.stdout.take().context("chromedriver has no output")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        driver.port =
            lines.find_map(|line| port(&line)).context("chromedriver ended before it listened; run it by hand")?;
        // Somebody has to read on, lest the driver stops at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(driver)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The port in `ChromeDriver was started successfully on port 4711.`
fn port(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("started successfully on port ")?;
    rest.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_port_is_found() {
        assert_eq!(super::port("ChromeDriver was started successfully on port 4711."), Some(4711));
        assert_eq!(super::port("Starting ChromeDriver 148.0 on port 0"), None);
    }
}
