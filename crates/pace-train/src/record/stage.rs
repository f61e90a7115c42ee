//! [`Stage`]: one piece of the work of a run.

use std::fmt;

use serde::Serialize;

/// One piece of the work of a run: its kind, a variant of that kind, and the seeds it is done with.
///
/// Files and log lines call it by its name, which is made here and never taken apart again.
///
/// ```
/// use pace_train::record::Stage;
/// assert_eq!(Stage::new("layout").to_string(), "layout");
/// assert_eq!(Stage::new("gp").variant("published").seed(1).seed(3).to_string(), "gp-published-1-3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stage {
    kind: &'static str,
    variant: Option<String>,
    seeds: Vec<u64>,
}

impl Stage {
    /// A stage of this kind, e.g. `gp`, that is done once.
    pub const fn new(kind: &'static str) -> Stage {
        Stage { kind, variant: None, seeds: Vec::new() }
    }

    /// The same kind of work done another way, e.g. by the authors' rules.
    #[must_use]
    pub fn variant(self, variant: &str) -> Stage {
        Stage { variant: Some(variant.to_owned()), ..self }
    }

    /// The same work from one more seed, e.g. that of the surrogate after that of the encoder.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Stage {
        self.seeds.push(seed);
        self
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if let Some(variant) = &self.variant {
            write!(f, "-{variant}")?;
        }
        self.seeds.iter().try_for_each(|seed| write!(f, "-{seed}"))
    }
}

/// A stage and what it took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The stage.
    #[serde(flatten)]
    pub stage: Stage,
    /// Wall-clock seconds.
    pub seconds: f64,
}
