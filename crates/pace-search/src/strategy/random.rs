//! [`RandomSearch`]: uniform draws, the baseline that every strategy has to beat.

use super::{Setting, Strategy, StrategySettings, round_rng};
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;
use crate::known::Known;
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
        Ok(Box::new(RandomSearch { known: setting.known, ..RandomSearch::new(setting.space, seed) }))
    }
}

/// Draws graphs from the space, none twice.
pub struct RandomSearch<'a> {
    space: &'a dyn Space,
    seed: u64,
    known: Option<&'a Known>,
}

impl<'a> RandomSearch<'a> {
    /// A search of this space.
    pub fn new(space: &'a dyn Space, seed: u64) -> RandomSearch<'a> {
        RandomSearch { space, seed, known: None }
    }
}

impl Strategy for RandomSearch<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let taken = Taken::by(history).or_known(self.known);
        Ok(self.space.sample(n, &taken, &mut round_rng(self.seed, history)))
    }
}
