//! What the running process has cost so far, as Linux counts it in `/proc`.

use std::fs;

/// User and system time of all threads, in seconds. A busy neighbour does not change it. `None` outside Linux.
pub fn cpu_seconds() -> Option<f64> {
    /// Linux counts these times in hundredths of a second on every machine.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may itself hold spaces; user and system time are fields 14 and 15.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().ok());
    Some(ticks.sum::<Option<f64>>()? / TICKS_PER_SECOND)
}
