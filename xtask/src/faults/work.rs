//! [`Work`]: a program that is started on a folder, as often as it takes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cargo::capture;
use crate::root::workspace_root;

/// How long a program may take until it counts as stuck.
const MOST: Duration = Duration::from_secs(300);

/// A program that can be killed and started again.
pub struct Work {
    pub name: &'static str,
    program: PathBuf,
    args: Vec<OsString>,
    /// The option that names the folder.
    out: &'static str,
    /// The events that begin and end the part of the run that is to be disturbed.
    part: Option<(&'static str, &'static str)>,
    /// Whether that part starts over in every process.
    pub is_repeated: bool,
}

impl Work {
    /// A smoke run of one of the programs.
    pub fn program(name: &'static str, program: &Path, options: &[&str]) -> Work {
        let args = ["--smoke", "--threads", "2"].iter().chain(options).map(OsString::from).collect();
        Work { name, program: program.to_owned(), args, out: "--out", part: None, is_repeated: false }
    }

    /// A command of this program. `last` follows the words unless it is empty.
    pub fn xtask(name: &'static str, words: &[&str], last: &Path, out: &'static str) -> Result<Work> {
        let program = std::env::current_exe().context("could not find this program")?;
        let last = Some(last).filter(|last| !last.as_os_str().is_empty());
        let args = words.iter().map(OsString::from).chain(last.map(OsString::from)).collect();
        Ok(Work { name, program, args, out, part: None, is_repeated: false })
    }

    pub fn between(self, from: &'static str, to: &'static str) -> Work {
        Work { part: Some((from, to)), ..self }
    }

    pub fn repeated(self) -> Work {
        Work { is_repeated: true, ..self }
    }

    /// The program on a folder, in a group of processes of its own. What it complains about goes to a file beside the folder.
    pub fn command(&self, dir: &Path) -> Result<Command> {
        let errors = errors_of(dir);
        if let Some(folder) = errors.parent() {
            fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        }
        let file = File::create(&errors).with_context(|| format!("could not write {}", errors.display()))?;
        let mut command = Command::new(&self.program);
        command.current_dir(workspace_root()).args(&self.args).arg(self.out).arg(dir);
        // A folder that does not exist: the stand-ins, whatever data is at hand.
        command.env("PACE_DATA", workspace_root().join("target/faults/nothing"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).process_group(0);
        Ok(command)
    }

    pub fn start(&self, dir: &Path) -> Result<Running> {
        let seen = fs::metadata(dir.join("events.jsonl")).map_or(0, |meta| meta.len() as usize);
        let child =
            self.command(dir)?.spawn().with_context(|| format!("could not start {}", self.program.display()))?;
        Ok(Running { child, events: dir.join("events.jsonl"), seen, started: Instant::now() })
    }

    /// Runs to the end, and returns what it complained about if it fails.
    pub fn finish(&self, dir: &Path) -> Result<Result<(), String>> {
        let status = self.start(dir)?.wait()?;
        let complaint = fs::read_to_string(errors_of(dir)).unwrap_or_default();
        Ok(if status.success() { Ok(()) } else { Err(complaint) })
    }

    /// As [`finish`](Self::finish), but no file may grow beyond so many kilobytes. Writes beyond that fail, as on a full disk.
    pub fn finish_within(&self, dir: &Path, kilobytes: u64) -> Result<Result<(), String>> {
        // The signal would end the program before it can say anything. POSIX counts blocks of 512 bytes.
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", 2 * kilobytes);
        let args = [OsString::from("-c"), limit.into(), "sh".into(), self.program.clone().into()];
        let args = args.into_iter().chain(self.args.iter().cloned()).collect();
        Work { program: "sh".into(), args, ..*self }.finish(dir)
    }

    /// Runs to the end; a failure is an error.
    pub fn complete(&self, dir: &Path) -> Result<()> {
        match self.finish(dir)? {
            Ok(()) => Ok(()),
            Err(complaint) => bail!("{} failed: {}", self.name, complaint.trim()),
        }
    }

    /// Runs undisturbed. Returns how long the part of interest took.
    pub fn calm(&self, dir: &Path) -> Result<Duration> {
        let mut running = self.start(dir)?;
        let mut begun = None;
        if let Some((from, to)) = self.part {
            running.wait_for(from)?;
            let start = Instant::now();
            running.wait_for(to)?;
            begun = Some(start.elapsed());
        }
        let start = running.started;
        if !running.wait()?.success() {
            bail!("{} fails undisturbed; see {}", self.name, errors_of(dir).display());
        }
        Ok(begun.unwrap_or_else(|| start.elapsed()))
    }

    /// Starts and kills it so long after the part of interest began. Returns whether it was killed before its end.
    pub fn kill_after(&self, dir: &Path, moment: Duration) -> Result<bool> {
        let mut running = self.start(dir)?;
        if let Some((from, _)) = self.part {
            running.wait_for(from)?;
        }
        std::thread::sleep(moment);
        running.kill()
    }
}

/// The file with the complaints of the last process that worked on a folder.
pub fn errors_of(dir: &Path) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_owned();
    name.push(".stderr");
    // Not in the folder, which may be full or unwritable.
    workspace_root().join("target/faults/stderr").join(name)
}

/// A started program.
pub struct Running {
    child: Child,
    events: PathBuf,
    /// Bytes of the log that earlier processes wrote.
    seen: usize,
    started: Instant,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until this process logs an event, or ends.
    pub fn wait_for(&mut self, event: &str) -> Result<()> {
        loop {
            let log = fs::read(&self.events).unwrap_or_default();
            let new = String::from_utf8_lossy(log.get(self.seen..).unwrap_or_default()).into_owned();
            if new.contains(event) || self.child.try_wait()?.is_some() {
                return Ok(());
            }
            self.in_time()?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            self.in_time()?;
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// kill -9 for the process and its children. Returns whether it was still running.
    pub fn kill(&mut self) -> Result<bool> {
        if self.child.try_wait()?.is_some() {
            return Ok(false);
        }
        let group = format!("-{}", self.child.id());
        capture(Command::new("kill").args(["-KILL", "--", &group]))?;
        self.child.wait()?;
        Ok(true)
    }

    fn in_time(&mut self) -> Result<()> {
        if self.started.elapsed() > MOST {
            self.kill()?;
            bail!("a program did not end within {} seconds", MOST.as_secs());
        }
        Ok(())
    }
}
