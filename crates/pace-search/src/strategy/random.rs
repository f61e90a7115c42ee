//! [`RandomSearch`]: uniform draws, the baseline that every strategy has to beat.

use super::{Setting, Strategy, StrategySettings, round_rng};
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;
use crate::space::Space;
use crate::taken::Taken;

/// Random search has no settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSearchConfig;

impl StrategySettings for RandomSearchConfig {
    fn name(&self) -> &'static str {
        "random"
    }

    fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error> {
        Ok(Box::new(RandomSearch::new(setting.space, seed)))
    }
}

/// Draws graphs from the space, none twice.
pub struct RandomSearch<'a> {
    space: &'a dyn Space,
    seed: u64,
}

impl<'a> RandomSearch<'a> {
    /// A search of this space.
    pub fn new(space: &'a dyn Space, seed: u64) -> RandomSearch<'a> {
        RandomSearch { space, seed }
    }
}

impl Strategy for RandomSearch<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        Ok(self.space.sample(n, &Taken::by(history), &mut round_rng(self.seed, history)))
    }
}
