//! How much work each stage does.

use anyhow::Result;
use pace_model::encoder::Task;
use serde::Serialize;

use super::Args;
use super::few_labels::FewLabelsPlan;
use crate::mlm::{MlmPlan, SearchPlan, dngo_methods};

/// The authors pair each cell with up to two others ...
pub const PAIRS_PER_CELL: usize = 2;
/// ... that have at most this many parameters less.
pub const PAIR_WINDOW: f64 = 2_000_000.0;

/// How much of the space each stage takes.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// One cell in this many is renumbered and looked up.
    pub renumber_every: usize,
    /// Recompute the benchmark's own hash of every row.
    pub check_hashes: bool,
    /// One cell in this many is trained on, embedded and searched.
    pub pool_every: usize,
    /// Pre-training.
    pub mlm: MlmPlan,
    /// The searches.
    pub search: SearchPlan,
    /// Predictions from few labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub few_labels: Option<FewLabelsPlan>,
}

/// The plan that the options ask for.
///
/// # Errors
/// If a choice does not go with the encoder.
pub fn plan(Args { run, mlm, few_labels, .. }: &Args) -> Result<Plan> {
    let mut plan = Plan {
        renumber_every: 1,
        check_hashes: true,
        pool_every: 1,
        mlm: MlmPlan::of(mlm.preset, Task::Nas101),
        search: SearchPlan {
            methods: dngo_methods(mlm, Task::Nas101),
            budget: 150,
            batch: 5,
            seeds: 60,
            first_seed: 1,
        },
        few_labels: few_labels.then(|| FewLabelsPlan::usual(mlm.first_seed, run.seed)),
    };
    if run.smoke {
        (plan.renumber_every, plan.check_hashes, plan.pool_every) = (50, false, 40);
        plan.mlm.fit.epochs = 1;
        (plan.search.budget, plan.search.seeds) = (36, 2);
        plan.few_labels = plan.few_labels.map(FewLabelsPlan::smoke);
    }
    plan.mlm = plan.mlm.with_args(mlm, run.seed)?;
    plan.search = plan.search.with_args(mlm);
    Ok(plan)
}
