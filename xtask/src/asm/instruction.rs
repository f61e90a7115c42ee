//! One instruction of x86-64 or of 64-bit ARM, as objdump writes it.

use super::symbol::{Level, path};

/// An instruction and the relocation below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// Where it stands, from the start of its section.
    pub address: u64,
    /// Its name, without prefixes.
    pub mnemonic: String,
    /// The rest of the line.
    pub operands: String,
    /// What the linker will put in: the kind of relocation, and the path of the symbol.
    pub relocation: Option<(String, String)>,
}

/// What comes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The instruction below it.
    Below,
    /// The function ends here.
    Leaves,
    /// An address inside the function, and the instruction below if there is a condition.
    Jump { target: u64, conditional: bool },
    /// An address from a table.
    Table,
}

/// Words before a mnemonic that change nothing here.
const PREFIXES: [&str; 8] = ["notrack", "bnd", "lock", "rep", "repz", "repnz", "data16", "cs"];
/// After these, nothing runs.
const ENDS: [&str; 7] = ["ret", "retq", "ud2", "hlt", "int3", "brk", "udf"];
/// Float arithmetic of ARM, beside its fused multiply-add.
const NEON_ARITHMETIC: [&str; 9] = ["fadd", "fsub", "fmul", "fdiv", "fmax", "fmin", "fmaxnm", "fminnm", "fsqrt"];
/// Float arithmetic of x86-64 without its suffix, beside its fused multiply-add.
const AVX_ARITHMETIC: [&str; 7] = ["vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vsqrt"];

impl Instruction {
    /// Reads what stands behind the address.
    pub fn new(address: u64, text: &str) -> Instruction {
        let mut rest = text.trim();
        loop {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if after.is_empty() || !PREFIXES.contains(&word) {
                let (mnemonic, operands) = (word.to_owned(), after.trim().to_owned());
                return Instruction { address, mnemonic, operands, relocation: None };
            }
            rest = after.trim_start();
        }
    }

    /// Whether it calls a function.
    pub fn is_call(&self) -> bool {
        matches!(self.mnemonic.as_str(), "call" | "callq" | "bl" | "blr")
    }

    /// The path of the function that it calls; `None` if it calls through a pointer, or not at all.
    pub fn callee(&self) -> Option<String> {
        match &self.relocation {
            _ if !self.is_call() => None,
            Some((_, path)) => Some(path.clone()),
            // Near enough for the assembler to know the distance.
            None => self.target().and(self.operands.split_once(" <")).map(|(_, symbol)| {
                let symbol = symbol.trim_end_matches('>');
                path(symbol.rsplit_once("+0x").map_or(symbol, |(symbol, _)| symbol))
            }),
        }
    }

    /// What comes after it; a call is taken to return.
    pub fn next(&self) -> Next {
        let mnemonic = self.mnemonic.as_str();
        let always = matches!(mnemonic, "jmp" | "jmpq" | "b" | "br");
        let conditional = (mnemonic.starts_with('j') && !always)
            || mnemonic.starts_with("b.")
            || matches!(mnemonic, "cbz" | "cbnz" | "tbz" | "tbnz");
        if ENDS.contains(&mnemonic) {
            return Next::Leaves;
        }
        if !always && !conditional {
            return Next::Below;
        }
        match (self.target(), &self.relocation) {
            // The linker puts in the address of another function.
            (Some(_), Some(_)) if conditional => Next::Below,
            (Some(_), Some(_)) => Next::Leaves,
            (Some(target), None) => Next::Jump { target, conditional },
            (None, Some((kind, _))) if kind.contains("GOT") => Next::Leaves,
            (None, _) => Next::Table,
        }
    }

    /// The address that a jump names: its last operand.
    fn target(&self) -> Option<u64> {
        // The name behind the address may contain anything.
        let operands = self.operands.split(" <").next()?;
        let last = operands.rsplit(',').next()?.trim();
        u64::from_str_radix(last.strip_prefix("0x").unwrap_or(last), 16).ok()
    }

    /// Whether it is a fused multiply-add, of any width.
    pub fn is_fma(&self) -> bool {
        self.is_avx_fma(["ps", "pd"]) || self.is_scalar_fma() || matches!(self.base(), "fmla" | "fmls")
    }

    /// Whether it is a fused multiply-add of single numbers.
    pub fn is_scalar_fma(&self) -> bool {
        match self.base() {
            "fmadd" | "fmsub" | "fnmadd" | "fnmsub" => true,
            // With an element of a vector as factor, these have a form for single numbers, too.
            "fmla" | "fmls" => !self.mnemonic.contains('.') && self.operands.starts_with(['s', 'd']),
            _ => self.is_avx_fma(["ss", "sd"]),
        }
    }

    /// Whether it loads each number from an address of its own.
    pub fn is_gather(&self) -> bool {
        self.mnemonic.starts_with("vgather") || self.mnemonic.starts_with("vpgather")
    }

    /// Whether it computes with floats in the full width of `level`.
    pub fn is_packed_arithmetic(&self, level: Level) -> bool {
        let x86 = ["ps", "pd"].iter().filter_map(|suffix| self.mnemonic.strip_suffix(suffix));
        let known =
            x86.into_iter().any(|name| AVX_ARITHMETIC.contains(&name)) || NEON_ARITHMETIC.contains(&self.base());
        self.is_full(level) && (known || self.is_packed_fma(level))
    }

    /// Whether it is a fused multiply-add of single precision in the full width of `level`.
    pub fn is_packed_fma(&self, level: Level) -> bool {
        let is_packed = match level {
            Level::V3 | Level::V4 => self.is_avx_fma(["ps"]),
            Level::Neon => matches!(self.base(), "fmla" | "fmls"),
        };
        is_packed && self.is_full(level)
    }

    /// Whether it uses the full width of `level`; Apple writes it behind the mnemonic.
    fn is_full(&self, level: Level) -> bool {
        self.operands.contains(level.width()) || self.mnemonic.contains(level.width())
    }

    /// Whether it is a fused multiply-add of x86-64 with one of the suffixes.
    fn is_avx_fma<const N: usize>(&self, suffixes: [&str; N]) -> bool {
        let starts = ["vfmadd", "vfmsub", "vfnmadd", "vfnmsub"];
        starts.iter().any(|start| self.mnemonic.starts_with(start))
            && suffixes.iter().any(|suffix| self.mnemonic.ends_with(suffix))
    }

    /// The mnemonic without the width in Apple's `fmla.4s`.
    fn base(&self) -> &str {
        self.mnemonic.split('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Instruction {
        Instruction::new(0, text)
    }

    #[test]
    fn multiply_adds() {
        for text in ["vfmadd231ss (%r9),%xmm0,%xmm3", "vfnmsub132sd %xmm0,%xmm1,%xmm2", "fmadd s0, s1, s2, s3"] {
            assert!(read(text).is_fma() && read(text).is_scalar_fma(), "{text}");
        }
        assert!(read("fmla s0, s1, v2.s[1]").is_scalar_fma());
        for (text, level) in [
            ("vfmadd231ps (%r9,%r10,1),%ymm7,%ymm15", Level::V3),
            ("vfnmadd213ps %zmm0,%zmm1,%zmm2{%k1}", Level::V4),
            ("fmla v0.4s, v1.4s, v2.s[0]", Level::Neon),
            ("fmla.4s v0, v1, v2", Level::Neon),
        ] {
            let instruction = read(text);
            assert!(instruction.is_fma() && !instruction.is_scalar_fma(), "{text}");
            assert!(instruction.is_packed_fma(level) && instruction.is_packed_arithmetic(level), "{text}");
        }
        assert!(!read("vfmadd231ps %ymm7,%ymm7,%ymm15").is_packed_fma(Level::V4));
        assert!(!read("fmla v0.2s, v1.2s, v2.2s").is_packed_fma(Level::Neon));
        assert!(!read("vmovups %zmm0,(%rax)").is_fma());
    }

    #[test]
    fn arithmetic_and_gathers() {
        assert!(read("vmulps %ymm0,%ymm1,%ymm2").is_packed_arithmetic(Level::V3));
        assert!(read("fmaxnm v0.4s, v1.4s, v2.4s").is_packed_arithmetic(Level::Neon));
        for text in ["vmulps %xmm0,%xmm1,%xmm2", "vmovups %ymm0,(%rax)", "vpaddd %ymm0,%ymm1,%ymm2"] {
            assert!(!read(text).is_packed_arithmetic(Level::V3), "{text}");
        }
        assert!(read("vgatherdps (%rax,%zmm1,4),%zmm0{%k1}").is_gather());
        assert!(read("vpgatherqd (%rax,%ymm1,4),%xmm0{%k1}").is_gather());
        assert!(!read("vpermps %ymm0,%ymm1,%ymm2").is_gather());
    }

    #[test]
    fn jumps() {
        let jump = |target, conditional| Next::Jump { target, conditional };
        assert_eq!(read("jne    c0 <f::<A, B>+0xc0>").next(), jump(0xc0, true));
        assert_eq!(read("jmp    0x6f <f+0x6f>").next(), jump(0x6f, false));
        assert_eq!(read("tbnz w0, #3, 40 <f+0x40>").next(), jump(0x40, true));
        assert_eq!(read("b.ne 8 <f+0x8>").next(), jump(8, true));
        assert_eq!(read("b 8 <f+0x8>").next(), jump(8, false));
        assert_eq!(read("notrack jmp *%rax").next(), Next::Table);
        assert_eq!(read("br x9").next(), Next::Table);
        assert_eq!(read("repz ret").next(), Next::Leaves);
        assert_eq!(read("call   5 <f+0x5>").next(), Next::Below);
        assert_eq!(read("bt %eax,%ecx").next(), Next::Below);
        let elsewhere = |text, kind: &str| {
            Instruction { relocation: Some((kind.to_owned(), "g-0x4".to_owned())), ..read(text) }.next()
        };
        assert_eq!(elsewhere("jmp 5 <f+0x5>", "R_X86_64_PLT32"), Next::Leaves);
        assert_eq!(elsewhere("je 5 <f+0x5>", "R_X86_64_PLT32"), Next::Below);
        assert_eq!(elsewhere("jmp *0x0(%rip)        # 15 <f+0x15>", "R_X86_64_GOTPCREL"), Next::Leaves);
    }

    #[test]
    fn callees() {
        assert_eq!(read("call   120 <a::b<C>::d+0x20>").callee().as_deref(), Some("a::b::d"));
        assert_eq!(read("call   *%r13").callee(), None);
        assert_eq!(read("jmp    120 <a::b>").callee(), None);
        let relocation = Some(("R_AARCH64_CALL26".to_owned(), "fmaf".to_owned()));
        assert_eq!(Instruction { relocation, ..read("bl 0 <fmaf>") }.callee().as_deref(), Some("fmaf"));
    }
}
