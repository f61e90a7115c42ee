//! The variants of the PyTorch peer: every option it has that leaves the work the same.
//!
//! Left out are those that change the work: `--bf16` (half the digits), `--dropout` and `--attn-dropout` (none of ours is left
//! out), `--cross-mask` and `--ff` (other models).

/// The peer under some options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// For tables.
    pub name: &'static str,
    /// Options.
    pub options: &'static [&'static str],
    /// Threads; all cores if not one.
    pub one_thread: bool,
    /// Whether it runs on the allocator of the system instead of ours.
    pub system_allocator: bool,
    /// The tasks it is for.
    pub only: Only,
}

/// Some variants make sense for some tasks or measures only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Everything.
    All,
    /// Graphs of a few nodes: each pair of nodes is a number of its own there.
    Small,
    /// Encoding: the option does nothing in training.
    Encode,
    /// Encoding in batches larger than those of training: our encoding from graphs chooses the size of its shards, too.
    EncodeSmallBatches,
}

const fn variant(name: &'static str, options: &'static [&'static str], only: Only) -> Variant {
    Variant { name, options, one_thread: false, system_allocator: false, only }
}

/// All of them.
pub const VARIANTS: [Variant; 17] = [
    variant("eager", &[], Only::All),
    Variant { one_thread: true, ..variant("eager, 1 thread", &[], Only::All) },
    Variant { system_allocator: true, ..variant("eager, system allocator", &[], Only::All) },
    variant("eager, manual attention", &["--attn", "manual"], Only::All),
    variant("eager, fast dropout", &["--fast-dropout"], Only::All),
    variant("eager, broadcast attention", &["--fast-dropout", "--attn", "bcast"], Only::Small),
    variant("compiled", &["--compile"], Only::All),
    Variant { one_thread: true, ..variant("compiled, 1 thread", &["--compile"], Only::All) },
    Variant { system_allocator: true, ..variant("compiled, system allocator", &["--compile"], Only::All) },
    variant("compiled, manual attention", &["--compile", "--attn", "manual"], Only::All),
    variant("compiled, fast dropout", &["--compile", "--fast-dropout"], Only::All),
    variant("compiled, broadcast attention", &["--compile", "--fast-dropout", "--attn", "bcast"], Only::Small),
    variant("compiled, max-autotune", &["--compile", "--mode", "max-autotune-no-cudagraphs"], Only::All),
    variant("compiled, C++ wrapper", &["--compile", "--cpp-wrapper"], Only::All),
    variant("frozen", &["--compile", "--freezing"], Only::Encode),
    variant("eager, batches of 1,024", &["--infer-batch", "1024"], Only::EncodeSmallBatches),
    variant(
        "frozen, batches of 1,024",
        &["--compile", "--freezing", "--infer-batch", "1024"],
        Only::EncodeSmallBatches,
    ),
];

impl Variant {
    /// Whether it can be the best at `measure` (`train` or `encode`) of a task.
    pub fn is_for(&self, measure: &str, task: &str, batch: usize) -> bool {
        let encodes = measure == "encode";
        match self.only {
            Only::All => true,
            Only::Small => task != "ast",
            Only::Encode => encodes,
            Only::EncodeSmallBatches => encodes && task != "ast" && batch < 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_every_task_has_variants_for_both_measures() {
        let names: std::collections::BTreeSet<&str> = VARIANTS.iter().map(|variant| variant.name).collect();
        assert_eq!(names.len(), VARIANTS.len());
        let count = |measure, task, batch| VARIANTS.iter().filter(|v| v.is_for(measure, task, batch)).count();
        assert_eq!((count("train", "vae-na", 32), count("encode", "vae-na", 32)), (14, 17));
        assert_eq!((count("train", "ast", 16), count("encode", "ast", 16)), (12, 13));
        assert_eq!(count("encode", "mlm101", 1024), 15);
    }
}
