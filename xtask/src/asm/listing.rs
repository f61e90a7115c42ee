//! What objdump prints of a library, read line by line: all of it is large, the hot functions are a small part.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::function::Function;
use super::instruction::Instruction;
use super::symbol::{Level, hot, path};
use crate::cargo::show;

/// The hot functions of a library.
#[derive(Debug, Default)]
pub struct Listing {
    /// As they stand in the library.
    pub functions: Vec<Function>,
    /// The levels of its architecture; none if it is neither x86-64 nor 64-bit ARM.
    pub levels: &'static [Level],
}

/// Disassembles a library with the objdump of binutils, or with the program in `OBJDUMP`.
pub fn disassemble(library: &Path) -> Result<Listing> {
    let mut command = Command::new(std::env::var_os("OBJDUMP").unwrap_or_else(|| "objdump".into()));
    command.args(["-d", "-r", "-C", "--no-show-raw-insn"]).arg(library).env("LC_ALL", "C").stdout(Stdio::piped());
    let shown = show(&command);
    let mut child = command.spawn().with_context(|| {
        format!("could not start `{shown}`; objdump comes with binutils (on Debian: `apt-get install binutils`)")
    })?;
    let output = child.stdout.take().context("objdump has an output")?;
    let listing = read(BufReader::new(output)).with_context(|| format!("could not read what `{shown}` prints"));
    let status = child.wait().with_context(|| format!("could not wait for `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status}); its messages are above. For the code of another architecture, set OBJDUMP");
    }
    let listing = listing?;
    ensure!(!listing.levels.is_empty(), "`{shown}` says neither x86-64 nor aarch64; this check knows only these");
    Ok(listing)
}

/// Reads a listing.
pub fn read(mut text: impl BufRead) -> std::io::Result<Listing> {
    let mut reader = Reader::default();
    let mut line = Vec::new();
    while text.read_until(b'\n', &mut line)? > 0 {
        reader.line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(reader.finish())
}

/// What is known so far.
#[derive(Default)]
struct Reader {
    listing: Listing,
    /// Whether the lines belong to the last of the functions.
    is_inside: bool,
    /// The section of the lines, until its first symbol.
    section: Option<String>,
    /// The function at the start of each section: calls inside a file name the section.
    starts: HashMap<String, String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some((_, format)) = line.split_once("file format ") {
            self.listing.levels = levels(format);
        } else if let Some(section) = line.strip_prefix("Disassembly of section ") {
            self.section = Some(section.trim_end_matches(':').to_owned());
            self.is_inside = false;
        } else if let Some(symbol) = symbol(line) {
            self.start(symbol);
        } else if let Some((address, text)) = line.trim_start().split_once(':').filter(|_| self.is_inside) {
            let (Ok(address), Some(function)) = (u64::from_str_radix(address, 16), self.listing.functions.last_mut())
            else {
                return;
            };
            match (text.trim_start().strip_prefix("R_"), function.code.last_mut()) {
                (Some(_), Some(last)) => last.relocation = relocation(text),
                (None, _) if !text.trim().is_empty() => function.code.push(Instruction::new(address, text)),
                _ => {}
            }
        }
    }

    /// A function begins.
    fn start(&mut self, symbol: &str) {
        let path = path(symbol);
        self.is_inside = false;
        if let Some((name, level)) = hot(&path) {
            self.listing.functions.push(Function { name: name.to_owned(), level, code: Vec::new() });
            self.is_inside = true;
        }
        if let Some(section) = self.section.take() {
            self.starts.insert(section, path);
        }
    }

    /// Puts the paths of functions in place of sections and symbols.
    fn finish(mut self) -> Listing {
        let code = self.listing.functions.iter_mut().flat_map(|function| &mut function.code);
        for (_, symbol) in code.filter_map(|instruction| instruction.relocation.as_mut()) {
            *symbol = self.starts.get(symbol.as_str()).cloned().unwrap_or_else(|| path(symbol));
        }
        self.listing
    }
}

/// The levels of an architecture, by objdump's name of the file format.
fn levels(format: &str) -> &'static [Level] {
    match format {
        _ if format.contains("x86-64") => &[Level::V3, Level::V4],
        _ if format.contains("aarch64") || format.contains("arm64") => &[Level::Neon],
        _ => &[],
    }
}

/// The symbol of a line like `0000000000000000 <symbol>:`.
fn symbol(line: &str) -> Option<&str> {
    let (address, symbol) = line.strip_suffix(">:")?.split_once(" <")?;
    address.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(symbol)
}

/// Kind and symbol of a text like `R_X86_64_PLT32 memcpy-0x4`, without the distance at the end.
fn relocation(text: &str) -> Option<(String, String)> {
    let (kind, symbol) = text.trim().split_once(char::is_whitespace)?;
    let symbol = symbol.trim();
    let symbol = ["-0x", "+0x"].iter().find_map(|sign| symbol.rsplit_once(sign)).map_or(symbol, |(symbol, _)| symbol);
    Some((kind.to_owned(), symbol.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
In archive libpace_model.rlib:

lib.rmeta:     file format elf64-x86-64


a.o:     file format elf64-x86-64


Disassembly of section .text._ZN4core5array11try_from_fn17hac47a0c6e6c01fa9E:

0000000000000000 <core::array::try_from_fn::hac47a0c6e6c01fa9>:
   0:\tret

Disassembly of section .text._ZN10pace_model6kernel1a2v317h0123456789abcdefE:

0000000000000000 <pace_model::kernel::fused::a::v3::h0123456789abcdef>:
   0:\tmov    0x0(%rip),%r13        # 7 <pace_model::kernel::fused::a::v3::h0123456789abcdef+0x7>
\t\t\t3: R_X86_64_GOTPCREL\tfmaf-0x4
   7:\tcall   c <pace_model::kernel::fused::a::v3::h0123456789abcdef+0xc>
\t\t\t8: R_X86_64_PLT32\t.text._ZN4core5array11try_from_fn17hac47a0c6e6c01fa9E-0x4
   c:\tret

Disassembly of section .text.other:

0000000000000000 <pace_model::kernel::fused::a>:
   0:\tret
";

    #[test]
    fn only_hot_functions_are_kept() {
        let listing = read(TEXT.as_bytes()).unwrap();
        assert_eq!(listing.levels, [Level::V3, Level::V4]);
        let [function] = &listing.functions[..] else { panic!("{listing:?}") };
        assert_eq!((function.name.as_str(), function.level), ("fused::a", Level::V3));
        let addresses: Vec<u64> = function.code.iter().map(|instruction| instruction.address).collect();
        assert_eq!(addresses, [0, 7, 12]);
        assert_eq!(function.code[0].relocation, Some(("R_X86_64_GOTPCREL".to_owned(), "fmaf".to_owned())));
        assert_eq!(function.code[1].callee().as_deref(), Some("core::array::try_from_fn"));
    }

    #[test]
    fn anything_else_is_skipped() {
        let listing = read(&b"x.o: file format elf32-avr\n\xff\n   0:\tret\n0 <a>:\n ...\n"[..]).unwrap();
        assert!(listing.functions.is_empty() && listing.levels.is_empty());
    }
}
