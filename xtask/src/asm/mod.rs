//! `cargo xtask ci asm`: what the compiler made of the kernels.
//!
//! The kernels are written for vectors, and only their speed shows if a compiler takes them apart: a function that is not
//! inlined keeps the instructions of the least CPU, a loop computes single numbers, a load becomes a gather. So this step
//! reads the machine code of every function below `pace_model::kernel` that is compiled for a CPU level.

mod flow;
mod function;
mod instruction;
mod listing;
mod symbol;

use std::path::Path;

use anyhow::{Result, bail};

use self::function::Counts;
use self::listing::Listing;
use self::symbol::Level;
use crate::cargo::build_library;
use crate::setup::Environment;

/// Functions that must exist at every level of the architecture and multiply and add in its full width: ends of their paths,
/// without the level. Most of the time of training and of encoding is spent in them.
const REQUIRED: [&str; 10] = [
    "tile::by_rows",
    "tile::by_columns",
    "lanes::forward",
    "lanes::backward",
    "lists::inference::attend",
    "training::forward",
    "training::backward_queries",
    "training::backward_keys",
    "edges::link_grad",
    "adam::update",
];

/// Builds pace-model and checks its code.
pub fn run(environment: &Environment) -> Result<()> {
    check(&build_library(environment, "pace_model")?)
}

/// Prints the table of a library and fails if one of its functions does.
fn check(library: &Path) -> Result<()> {
    let report = Report::new(&listing::disassemble(library)?);
    print!("{}", report.table());
    report.verdict()
}

/// One function of the table.
struct Line {
    name: String,
    level: Level,
    counts: Counts,
    faults: Vec<String>,
}

/// All hot functions, by name and level, and what of [`REQUIRED`] is missing.
struct Report {
    lines: Vec<Line>,
    missing: Vec<String>,
}

impl Report {
    fn new(listing: &Listing) -> Report {
        let lines = listing.functions.iter().map(|function| {
            let counts = function.count();
            let faults = counts.faults(function.level);
            Line { name: function.name.clone(), level: function.level, counts, faults }
        });
        let mut lines: Vec<Line> = lines.collect();
        lines.sort_by(|a, b| (&a.name, a.level).cmp(&(&b.name, b.level)));
        let missing = missing(&lines, listing.levels);
        Report { lines, missing }
    }

    fn table(&self) -> String {
        let width = self.lines.iter().map(|line| line.name.len()).max().unwrap_or(0).max("function".len());
        let mut table =
            format!("{:width$}  level  packed FMAs  scalar FMAs in loops  gathers in loops  verdict\n", "function");
        for Line { name, level, counts, faults } in &self.lines {
            let Counts { packed_fmas, scalar_fmas, gathers, .. } = counts;
            let verdict = if faults.is_empty() { "ok".to_owned() } else { faults.join("; ") };
            let level = level.name();
            table +=
                &format!("{name:width$}  {level:<5}  {packed_fmas:>11}  {scalar_fmas:>20}  {gathers:>16}  {verdict}\n");
        }
        table
    }

    /// Fails if a function does, if one is missing, or if there are none at all.
    fn verdict(&self) -> Result<()> {
        if self.lines.is_empty() {
            bail!(
                "no function below pace_model::kernel ends in v3, v4 or neon; if they were renamed, change \
                 xtask/src/asm/symbol.rs"
            );
        }
        let n_bad = self.lines.iter().filter(|line| !line.faults.is_empty()).count();
        let mut complaints = Vec::new();
        if n_bad > 0 {
            let n_all = self.lines.len();
            complaints.push(format!(
                "{n_bad} of {n_all} functions in the table are not compiled to vectors; write their loops with explicit \
                 vectors and inline what they call"
            ));
        }
        if !self.missing.is_empty() {
            complaints.push(format!(
                "{} (if a function was renamed, change REQUIRED in xtask/src/asm/mod.rs)",
                self.missing.join(", ")
            ));
        }
        if !complaints.is_empty() {
            bail!("{}", complaints.join("; "));
        }
        Ok(())
    }
}

/// What of [`REQUIRED`] does not exist, or has no packed multiply-add, at one of the levels.
fn missing(lines: &[Line], levels: &[Level]) -> Vec<String> {
    let mut missing = Vec::new();
    for (required, level) in REQUIRED.iter().flat_map(|required| levels.iter().map(move |level| (required, *level))) {
        let ends_so =
            |name: &str| name.strip_suffix(required).is_some_and(|start| start.is_empty() || start.ends_with("::"));
        let mut found = lines.iter().filter(|line| line.level == level && ends_so(&line.name)).peekable();
        if found.peek().is_none() {
            missing.push(format!("{required}::{} is missing", level.name()));
        } else if found.all(|line| line.counts.packed_fmas == 0) {
            missing.push(format!("{required}::{} has no packed FMA", level.name()));
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listing with one loop for each function of `names` at v3 and v4.
    fn listing(names: &[&str], format: &str) -> Listing {
        let mut text = format!("a.o:     file format {format}\n");
        for (level, register) in [("v3", "ymm"), ("v4", "zmm")] {
            for name in names {
                text += &format!(
                    "0000 <pace_model::kernel::fused::{name}::{level}>:\n   0:\tvfmadd231ps (%rax),%{register}0,%{register}1\n   \
                     6:\tjne    0 <x>\n   8:\tret\n"
                );
            }
        }
        listing::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn good_libraries_pass() {
        let report = Report::new(&listing(&REQUIRED, "elf64-x86-64"));
        assert_eq!(report.table().lines().count(), 1 + 2 * REQUIRED.len());
        assert!(report.table().lines().skip(1).all(|line| line.ends_with("  ok")), "{}", report.table());
        report.verdict().unwrap();
    }

    #[test]
    fn what_is_missing_is_named() {
        let message = Report::new(&listing(&REQUIRED[1..], "elf64-x86-64")).verdict().unwrap_err().to_string();
        assert!(message.starts_with("tile::by_rows::v3 is missing, tile::by_rows::v4 is missing"), "{message}");
        let message = Report::new(&listing(&REQUIRED, "elf64-littleaarch64")).verdict().unwrap_err().to_string();
        assert!(message.contains("adam::update::neon is missing"), "{message}");
        let message = Report::new(&listing(&[], "elf64-x86-64")).verdict().unwrap_err().to_string();
        assert!(message.contains("no function"), "{message}");
    }

    #[test]
    fn required_functions_multiply_and_add() {
        let mut listing = listing(&REQUIRED, "elf64-x86-64");
        listing.functions[0].code[0].mnemonic = "vmulps".to_owned();
        let report = Report::new(&listing);
        assert_eq!(report.missing, ["tile::by_rows::v3 has no packed FMA"]);
        listing.functions[0].code[0].mnemonic = "vfmadd231ss".to_owned();
        let message = Report::new(&listing).verdict().unwrap_err().to_string();
        assert!(message.starts_with("1 of 20 functions"), "{message}");
    }
}
