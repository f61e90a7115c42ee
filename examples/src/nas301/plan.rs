//! How much work each stage does.

use anyhow::Result;
use pace_model::encoder::Task;
use serde::Serialize;

use super::Args;
use crate::mlm::{MlmPlan, SearchPlan, dngo_methods};

/// How much work each stage does.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Cells that are sampled, trained on and searched.
    pub n_cells: usize,
    /// Pre-training.
    pub mlm: MlmPlan,
    /// The searches.
    pub search: SearchPlan,
}

/// The plan that the options ask for.
///
/// # Errors
/// If a choice does not go with the encoder.
pub fn plan(args: &Args) -> Result<Plan> {
    let mlm = MlmPlan::of(args.mlm.preset, Task::Nas301);
    let methods = dngo_methods(&args.mlm, Task::Nas301);
    let search = SearchPlan { methods, budget: 100, batch: 5, seeds: 60, first_seed: 1 };
    let mut plan = Plan { n_cells: 100_000, mlm, search };
    if args.run.smoke {
        plan.n_cells = 5000;
        plan.mlm.fit.epochs = 1;
        (plan.search.budget, plan.search.seeds) = (36, 2);
    }
    plan.n_cells = args.cells.unwrap_or(plan.n_cells);
    plan.mlm = plan.mlm.with_args(&args.mlm, args.run.seed)?;
    plan.search = plan.search.with_args(&args.mlm);
    Ok(plan)
}
