//! One hot function: what is counted in it, and what is wrong with it.

use std::collections::BTreeSet;

use super::flow::in_loops;
use super::instruction::Instruction;
use super::symbol::{Level, hides_work};

/// A hot function at one level.
#[derive(Debug)]
pub struct Function {
    /// Its path below the kernels, without the level.
    pub name: String,
    /// What it is compiled for.
    pub level: Level,
    /// Its instructions, by address.
    pub code: Vec<Instruction>,
}

/// What was counted in a function.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Fused multiply-adds of any width, anywhere.
    pub fmas: usize,
    /// Those of single precision in the full width of the level.
    pub packed_fmas: usize,
    /// Float arithmetic in the full width, multiply-adds included.
    pub packed: usize,
    /// Multiply-adds of single numbers in loops.
    pub scalar_fmas: usize,
    /// Gathers in loops.
    pub gathers: usize,
    /// Functions called in loops that are compiled for another level.
    pub hidden: BTreeSet<String>,
}

impl Function {
    /// Counts; loops are found once for all of it.
    pub fn count(&self) -> Counts {
        let mut counts = Counts::default();
        for (instruction, is_looping) in self.code.iter().zip(in_loops(&self.code)) {
            counts.fmas += usize::from(instruction.is_fma());
            counts.packed_fmas += usize::from(instruction.is_packed_fma(self.level));
            counts.packed += usize::from(instruction.is_packed_arithmetic(self.level));
            if is_looping {
                counts.scalar_fmas += usize::from(instruction.is_scalar_fma());
                counts.gathers += usize::from(instruction.is_gather());
                counts.hidden.extend(self.callees(instruction).into_iter().filter(|callee| hides_work(callee)));
            }
        }
        counts
    }

    /// The functions that an instruction may call.
    ///
    /// A compiler loads the address of a function before a loop and calls through the register; or it saves the register, and
    /// then any of the loaded addresses may be meant.
    fn callees(&self, instruction: &Instruction) -> Vec<String> {
        if let Some(callee) = instruction.callee() {
            return vec![callee];
        }
        if !instruction.is_call() {
            return Vec::new();
        }
        let register = instruction.operands.trim_start_matches('*');
        let loads = self.code.iter().filter(|load| !load.is_call()).filter_map(|load| {
            load.relocation.as_ref().filter(|(kind, _)| kind.contains("GOT")).map(|(_, path)| (&load.operands, path))
        });
        let (mut here, mut anywhere) = (Vec::new(), Vec::new());
        for (operands, path) in loads {
            anywhere.push(path.clone());
            if operands.split(|c: char| !c.is_alphanumeric() && c != '%').any(|word| word == register) {
                here.push(path.clone());
            }
        }
        match (here.is_empty(), anywhere.is_empty()) {
            (false, _) => here,
            (true, false) => anywhere,
            (true, true) => vec!["a pointer".to_owned()],
        }
    }
}

impl Counts {
    /// What is wrong with a function of `level`, in a few words each.
    pub fn faults(&self, level: Level) -> Vec<String> {
        let mut faults = Vec::new();
        let registers = level.width().trim_start_matches(['%', '.']);
        if self.scalar_fmas > 0 {
            faults.push("scalar FMA in a loop".to_owned());
        }
        if self.gathers > 0 {
            faults.push("gather in a loop".to_owned());
        }
        if self.fmas > 0 && self.packed_fmas == 0 {
            faults.push(format!("no FMA on {registers}"));
        } else if self.packed == 0 {
            faults.push(format!("no float arithmetic on {registers}"));
        }
        faults.extend(self.hidden.iter().map(|callee| format!("calls {callee} in a loop")));
        faults
    }
}

#[cfg(test)]
mod tests {
    use crate::asm::listing::read;

    /// The faults of a function of some lines, 4 bytes each from address 0; a relocation belongs to the line above it.
    fn faults(level: &str, lines: &[&str]) -> Vec<String> {
        let mut text = format!("0 <pace_model::kernel::a::{level}>:\n");
        let mut address = 0;
        for line in lines {
            if line.starts_with("R_") {
                text += &format!("\t\t\t{address:x}: {line}\n");
            } else {
                text += &format!("  {address:x}:\t{line}\n");
                address += 4;
            }
        }
        let listing = read(text.as_bytes()).unwrap();
        listing.functions[0].count().faults(listing.functions[0].level)
    }

    #[test]
    fn packed_loops_are_good() {
        let v4 =
            ["vfmadd231ps (%rax),%zmm0,%zmm1", "add $0x40,%rax", "jne 0 <a>", "vfmadd231ss %xmm0,%xmm1,%xmm2", "ret"];
        assert_eq!(faults("v4", &v4), Vec::<String>::new());
        assert_eq!(faults("v3", &v4), ["no FMA on ymm"]);
        assert_eq!(faults("v3", &["vmulps %ymm0,%ymm1,%ymm1", "jne 0 <a>", "ret"]), Vec::<String>::new());
        let neon = ["fmla v0.4s, v1.4s, v2.4s", "b.ne 0 <a>", "fmadd s0, s1, s2, s3", "ret"];
        assert_eq!(faults("neon", &neon), Vec::<String>::new());
    }

    #[test]
    fn scalar_loops_are_bad() {
        let packed = "vfmadd231ps (%rax),%ymm0,%ymm1";
        assert_eq!(
            faults("v3", &[packed, "vfmadd231ss %xmm0,%xmm1,%xmm2", "jne 4 <a>", "ret"]),
            ["scalar FMA in a loop"]
        );
        assert_eq!(faults("v3", &["vfmadd231ss %xmm0,%xmm1,%xmm2", "ret"]), ["no FMA on ymm"]);
        assert_eq!(faults("v3", &["vmulss %xmm0,%xmm1,%xmm2", "ret"]), ["no float arithmetic on ymm"]);
        let neon = ["fmla v0.4s, v1.4s, v2.4s", "fmadd s0, s1, s2, s3", "cbnz x0, 0 <a>", "ret"];
        assert_eq!(faults("neon", &neon), ["scalar FMA in a loop"]);
        assert_eq!(faults("neon", &["fmla v0.2s, v1.2s, v2.2s", "ret"]), ["no FMA on 4s"]);
    }

    #[test]
    fn gathers_count_in_loops_only() {
        let (gather, packed) = ("vgatherdps (%rax,%zmm1,4),%zmm0{%k1}", "vaddps %zmm0,%zmm1,%zmm2");
        assert_eq!(faults("v4", &[gather, packed, "ret"]), Vec::<String>::new());
        assert_eq!(faults("v4", &[packed, gather, "jne 4 <a>", "ret"]), ["gather in a loop"]);
    }

    #[test]
    fn calls_in_loops() {
        let packed = "vaddps %zmm0,%zmm1,%zmm2";
        let call = |relocation| faults("v4", &[packed, "call 9 <a+0x9>", relocation, "jne 4 <a>", "ret"]);
        assert_eq!(
            call("R_X86_64_PLT32\tpace_model::kernel::b::body-0x4"),
            ["calls pace_model::kernel::b::body in a loop"]
        );
        assert_eq!(call("R_X86_64_PLT32\tpace_model::kernel::b::v4-0x4"), Vec::<String>::new());
        assert_eq!(call("R_X86_64_GOTPCREL\tmemcpy-0x4"), Vec::<String>::new());
        assert_eq!(
            faults("v4", &[packed, "call 9 <a+0x9>", "R_X86_64_PLT32\tpace_model::kernel::b::body-0x4", "ret"]),
            Vec::<String>::new()
        );
        let neon = ["fadd v0.4s, v1.4s, v2.4s", "bl 0 <fmaf>", "R_AARCH64_CALL26\tfmaf", "b.ne 0 <a>", "ret"];
        assert_eq!(faults("neon", &neon), ["calls fmaf in a loop"]);
    }

    #[test]
    fn calls_through_registers() {
        let load = [
            "mov 0x0(%rip),%r13",
            "R_X86_64_GOTPCREL\tfmaf-0x4",
            "mov 0x0(%rip),%r12",
            "R_X86_64_GOTPCREL\tmemcpy-0x4",
        ];
        let with = |call| {
            let rest = ["vaddps %zmm0,%zmm1,%zmm2", call, "jne c <a>", "ret"];
            faults("v4", &[&load[..], &rest[..]].concat())
        };
        assert_eq!(with("call *%r13"), ["calls fmaf in a loop"]);
        assert_eq!(with("call *%r12"), Vec::<String>::new());
        assert_eq!(with("call *0x18(%rsp)"), ["calls fmaf in a loop"]);
        let unknown = faults("v4", &["vaddps %zmm0,%zmm1,%zmm2", "call *0x18(%rax)", "jne 0 <a>", "ret"]);
        assert_eq!(unknown, ["calls a pointer in a loop"]);
    }
}
