//! The machine that a row was measured on, and what else it did meanwhile.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Cores that others may keep busy before a row is called measured on a loaded machine.
const LOADED: f64 = 0.3;
/// How long we watch, idle, what others do. A clock tick is 10 ms: this sees a hundredth of a core.
const WATCH: Duration = Duration::from_secs(1);
/// Stands for what the system does not say.
const UNKNOWN: &str = "unknown";

/// A machine and what others did on it. A system without `/proc` tells little of this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The model of the CPU.
    pub cpu: String,
    /// The vectors that our kernels use on it: v4, v3, neon or portable.
    pub simd: String,
    /// Cores that we may use.
    pub cores: Option<usize>,
    /// The load average of 1 minute before the first round. It still counts what we did ourselves in that minute.
    pub load: Option<f64>,
    /// Cores that others kept busy while we waited a second: the most of all rounds. What a hypervisor took away counts, too.
    pub busy: Option<f64>,
}

impl Machine {
    /// The machine that we run on, not yet watched.
    pub fn new() -> Machine {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let forced = std::env::var("PACE_SIMD").ok();
        Machine {
            cpu: cpu(&text),
            simd: simd(&text, forced.as_deref()).to_owned(),
            cores: std::thread::available_parallelism().ok().map(usize::from),
            load: None,
            busy: None,
        }
    }

    /// Waits a second and notes what others do; to be called right before a measurement, while nothing of ours runs.
    pub fn watch(&mut self) {
        let ticks = || Ticks::parse(&std::fs::read_to_string("/proc/stat").ok()?);
        let Some(before) = ticks() else { return };
        if self.load.is_none() {
            self.load = std::fs::read_to_string("/proc/loadavg").ok().and_then(|text| load(&text));
        }
        std::thread::sleep(WATCH);
        let busy = ticks().and_then(|after| after.busy_cores_since(&before));
        self.busy = self.busy.into_iter().chain(busy).reduce(f64::max);
    }

    /// The cores that others kept busy, if they were too many for a fair measurement.
    pub fn loaded(&self) -> Option<f64> {
        self.busy.filter(|busy| *busy > LOADED)
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, SIMD level {}", self.cpu, self.simd)?;
        self.cores.map_or(Ok(()), |cores| write!(f, ", {cores} cores"))?;
        self.load.map_or(Ok(()), |load| write!(f, ", load average {load:.2}"))
    }
}

/// The value of the first line of `/proc/cpuinfo` with this key.
fn value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(found, _)| found.trim() == key).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// The name of the CPU; ARM has numbers instead.
fn cpu(cpuinfo: &str) -> String {
    let numbers = || {
        let (implementer, part) = (value(cpuinfo, "CPU implementer")?, value(cpuinfo, "CPU part")?);
        Some(format!("ARM implementer {implementer}, part {part}"))
    };
    value(cpuinfo, "model name").map(str::to_owned).or_else(numbers).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The vectors that our kernels use on a CPU, or those that `PACE_SIMD` forces, if the CPU has them.
fn simd(cpuinfo: &str, forced: Option<&str>) -> &'static str {
    const LEVELS: [(&str, &[&str]); 4] = [
        ("v4", &["avx2", "fma", "avx512f", "avx512vl", "avx512bw", "avx512dq"]),
        ("v3", &["avx2", "fma"]),
        ("neon", &["asimd"]),
        ("portable", &[]),
    ];
    let Some(flags) = value(cpuinfo, "flags").or_else(|| value(cpuinfo, "Features")) else { return UNKNOWN };
    let has = |flag: &&str| flags.split_whitespace().any(|found| found == *flag);
    let mut levels = LEVELS.iter().filter(|(_, needed)| needed.iter().all(has)).map(|(name, _)| *name);
    let best = levels.clone().next().unwrap_or(UNKNOWN);
    levels.find(|level| Some(*level) == forced).unwrap_or(best)
}

/// The load average of 1 minute in `/proc/loadavg`.
fn load(loadavg: &str) -> Option<f64> {
    loadavg.split_whitespace().next()?.parse().ok()
}

/// Clock ticks of all cores since the machine started, in `/proc/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Ticks {
    /// Spent on anything: programs, the kernel, interrupts, other guests of a hypervisor.
    busy: u64,
    /// Busy or idle; waiting for a disk is idle.
    all: u64,
    /// Cores that the ticks are of.
    cores: u64,
}

impl Ticks {
    fn parse(stat: &str) -> Option<Ticks> {
        let total = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = total.split_whitespace().map_while(|field| field.parse().ok()).collect();
        // What guests of our own used is part of what programs used.
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else { return None };
        let busy = user + nice + system + irq + softirq + steal;
        let is_core =
            |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        Some(Ticks { busy, all: busy + idle + iowait, cores: stat.lines().filter(is_core).count() as u64 })
    }

    /// Cores that were busy on average since `before`, to a hundredth.
    fn busy_cores_since(&self, before: &Ticks) -> Option<f64> {
        let (busy, all) = (self.busy.checked_sub(before.busy)?, self.all.checked_sub(before.all)?);
        (all > 0).then(|| (busy as f64 / all as f64 * self.cores as f64 * 100.0).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu fma avx2 avx512f avx512dq avx512bw avx512vl\n\
                       processor\t: 1\nmodel name\t: AMD EPYC\nflags\t\t: fpu\n";
    const ARM: &str = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

    #[test]
    fn names_of_cpus() {
        assert_eq!(cpu(X86), "AMD EPYC");
        assert_eq!(cpu(ARM), "ARM implementer 0x41, part 0xd0c");
        assert_eq!(cpu(""), "unknown");
    }

    #[test]
    fn levels() {
        assert_eq!(simd(X86, None), "v4");
        assert_eq!(simd(&X86.replace("avx512vl", ""), None), "v3");
        assert_eq!(simd("flags : fpu avx2", None), "portable");
        assert_eq!(simd(ARM, None), "neon");
        assert_eq!(simd("", None), "unknown");
    }

    #[test]
    fn a_level_can_be_forced_if_the_cpu_has_it() {
        assert_eq!(["portable", "v3", "v4"].map(|level| simd(X86, Some(level))), ["portable", "v3", "v4"]);
        assert_eq!(["neon", "v5", ""].map(|level| simd(X86, Some(level))), ["v4"; 3]);
        assert_eq!(["portable", "v3"].map(|level| simd(ARM, Some(level))), ["portable", "neon"]);
    }

    #[test]
    fn busy_cores() {
        let parse = |text: &str| Ticks::parse(text).unwrap();
        let before = parse("cpu  100 0 50 1000 20 0 0 5 0 0\ncpu0 1 0\ncpu1 1 0\nintr 12\n");
        assert_eq!(before, Ticks { busy: 155, all: 1175, cores: 2 });
        // Of 200 ticks on 2 cores: 60 of programs, 30 stolen, 10 waiting for a disk.
        let after = parse("cpu  160 0 50 1100 30 0 0 35 60 0\ncpu0 1 0\ncpu1 1 0\nintr 12\n");
        assert_eq!(after.busy_cores_since(&before), Some(0.9));
        assert_eq!(before.busy_cores_since(&before), None);
        assert_eq!(before.busy_cores_since(&after), None);
        for damaged in ["", "cpu", "cpu  1 2 3", "cpu  a b c d e f g h"] {
            assert_eq!(Ticks::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn load_averages() {
        assert_eq!(load("1.70 0.74 0.30 2/345 6789\n"), Some(1.7));
        assert_eq!(load(""), None);
    }

    #[test]
    fn the_machine_as_a_line() {
        let machine =
            Machine { cpu: "AMD EPYC".into(), simd: "v4".into(), cores: Some(2), load: Some(0.5), busy: Some(0.31) };
        assert_eq!(machine.to_string(), "AMD EPYC, SIMD level v4, 2 cores, load average 0.50");
        assert_eq!(machine.loaded(), Some(0.31));
        let silent = Machine { cpu: cpu(""), simd: simd("", None).into(), cores: None, load: None, busy: None };
        assert_eq!(silent.to_string(), "unknown, SIMD level unknown");
        assert_eq!(silent.loaded(), None);
    }
}
