//! [`search_near`]: orders, on the families near a structure that is known to be good, again and again.

use serde::{Deserialize, Serialize};

use super::limits::{Best, Found, Limits};
use super::order::{OrderConfig, search_orders};
use crate::error::Error;
use crate::exact::{CandidateConfig, Candidates};
use crate::score::Scorer;
use crate::structure::Structure;

/// How to search near a structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearConfig {
    /// How many likely parents of each variable are considered, of each kind (see [`Candidates::near`]).
    pub n_likely: usize,
    /// How often families are chosen anew, near what the search before found; it ends earlier if nothing is gained.
    pub sweeps: usize,
    /// The search over orders.
    pub orders: OrderConfig,
}

impl Default for NearConfig {
    fn default() -> NearConfig {
        NearConfig { n_likely: 8, sweeps: 5, orders: OrderConfig { rounds: 50, ..OrderConfig::default() } }
    }
}

/// Improves a structure: scores the families near it, searches over orders among these, and starts over from what that found.
///
/// For more variables than all families can be scored of. The result is never worse than the start, if that obeys the limit of
/// parents.
///
/// # Errors
/// If there are more families than the configuration of the candidates allows.
pub fn search_near(
    scorer: &Scorer,
    start: &Structure,
    candidates: &CandidateConfig,
    config: &NearConfig,
    limits: &Limits,
) -> Result<Found, Error> {
    let mut best = Best::new(start.clone(), scorer.structure(start));
    for _ in 0..config.sweeps {
        if limits.are_reached(best.n_structures()) {
            break;
        }
        let near = Candidates::near(scorer, best.structure(), config.n_likely, candidates)?;
        let left = limits.max_structures.map(|max| max.saturating_sub(best.n_structures()));
        let limits = Limits { max_structures: left, ..*limits };
        let found = search_orders(&near, Some(best.structure()), &config.orders, &limits);
        best.note(found.n_structures);
        if !best.offer(found.score, || found.structure) {
            break;
        }
    }
    Ok(best.finish())
}
