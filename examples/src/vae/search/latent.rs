//! The search of the paper: Bayesian optimisation over vectors of the latent space, which are decoded to graphs.

use anyhow::Result;
use faer::MatRef;
use pace_graph::Dag;
use pace_model::decoder::{DecodeOptions, Mode};
use pace_search::acquisition::{AcquisitionConfig, LogExpectedImprovement};
use pace_search::space::{Latent, LatentConfig, RoundTrip};
use pace_search::strategy::{BayesianOptimisation, BayesianOptimisationConfig};
use pace_search::surrogate::{SparseGpConfig, SurrogateConfig};
use pace_search::{Curve, Header, Journal, Step, narrow, widen};
use pace_train::evaluate::decode;
use pace_train::record::{Run, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Judge, SearchModel, encode};
use crate::progress::steps_bar;

/// How much is searched by decoding: 10 seeds of 10 rounds of 50 in the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentPlan {
    /// Searches, with different seeds.
    pub seeds: usize,
    /// Rounds per search.
    pub rounds: usize,
    /// Queries per round.
    pub batch: usize,
    /// This many of them are edits of the best graph so far, the most promising ones. A GP that has learnt from thousands of
    /// graphs cannot be trusted with the last step: its gain may be smaller than the error of the GP.
    pub n_local: usize,
    /// A search starts from the scores of this many of the best training graphs.
    pub n_known: usize,
    /// What is learnt, anew in each round.
    pub gp: SparseGpConfig,
    /// How a round looks for vectors.
    pub latent: LatentConfig,
    /// Decodings of a vector, the most frequent of which counts.
    pub n_decodings: usize,
}

impl LatentPlan {
    /// The paper's numbers of rounds and queries, fewer seeds; a GP that is fitted in about a second.
    pub fn paper() -> LatentPlan {
        let gp =
            SparseGpConfig { n_inducing: 300, subset: Some(2000), max_iterations: 25, ..SparseGpConfig::default() };
        let latent = LatentConfig::default();
        LatentPlan { seeds: 4, rounds: 10, batch: 50, n_local: 20, n_known: 2000, gp, latent, n_decodings: 1 }
    }

    /// The same on little work.
    pub fn smoke(self) -> LatentPlan {
        let gp = SparseGpConfig { n_inducing: 40, max_iterations: 8, ..self.gp };
        let latent = LatentConfig { n_uniform: 500, n_around: 200, n_refinements: 2, ..self.latent };
        LatentPlan { seeds: 2, rounds: 2, batch: 8, n_local: 3, n_known: 500, gp, latent, ..self }
    }
}

/// Searches the latent space, the seeds in parallel. Returns the best score so far after each query.
///
/// # Errors
/// Those of the searches, or a file that cannot be written.
pub fn optimise(plan: &LatentPlan, model: SearchModel<'_>, judge: &Judge, run: &mut Run) -> Result<Vec<Curve>> {
    let decoder = |x: MatRef<'_, f64>, seed: u64| decodings(plan.n_decodings, model, x, seed);
    let train = widen(model.latents);
    let encoder = |dags: &[Dag]| encode(model, model.vae, dags);
    let space = Latent::new(plan.latent.clone(), train.as_ref(), &decoder)?;
    let space = RoundTrip::new(space, &encoder).with_edits(&*judge.edits);
    let rows = known_rows(plan, model.scores);
    let known = widen(&model.latents.select(&rows));
    let scores: Vec<f64> = rows.iter().map(|&row| model.scores[row]).collect();
    let budget = plan.rounds * plan.batch;
    let log_ei = AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 });
    let config = BayesianOptimisationConfig {
        initial: 0,
        local_search: true,
        n_neighbours: plan.n_local,
        n_centres: 1,
        neighbourhood: usize::MAX,
        ..BayesianOptimisationConfig::new(SurrogateConfig::SparseGp(plan.gp.clone()), log_ei)
    };
    let bar = steps_bar("search by decoding", (plan.seeds * budget) as u64);
    let stages: Vec<Stage> = (1..=plan.seeds as u64).map(|seed| Stage::new("bo").seed(seed)).collect();
    let paths: Vec<_> = stages.iter().map(|stage| run.path(&format!("{stage}.jsonl"))).collect();
    let found: Vec<Vec<f64>> = run.each(&stages, |index| {
        let seed = index as u64 + 1;
        let mut journal = Journal::open(&paths[index], Header::new(&stages[index].to_string(), seed, json!(config)))?;
        let search = BayesianOptimisation::new(config.clone(), &space, seed)?;
        let mut search = search.with_known(known.clone(), scores.clone())?;
        let (batch, step) = (plan.batch - plan.n_local, &mut |_: Step<'_>| bar.inc(1));
        let trace = pace_search::run(&mut search, &*judge.oracle, &mut journal, budget, batch, step)?;
        anyhow::Ok(trace.best_so_far().values)
    })?;
    bar.finish_and_clear();
    Ok(found.into_iter().map(|values| Curve { values }).collect())
}

/// The best training graphs. Random ones spread the scores so far that a GP cannot tell the top apart: with 2,000 of them
/// added, searches on BN ended 2 to 13 short of an optimum that they otherwise reach.
fn known_rows(plan: &LatentPlan, scores: &[f64]) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..scores.len()).collect();
    ranked.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    ranked.truncate(plan.n_known);
    ranked
}

/// Several draws for each vector; those that break the rules, or end early, are left out: all graphs of NA and BN have the
/// same number of nodes.
fn decodings(n_decodings: usize, model: SearchModel<'_>, x: MatRef<'_, f64>, seed: u64) -> Vec<Vec<Option<Dag>>> {
    let options = DecodeOptions::sample(Mode::Constrained, seed);
    let dags = decode(model.vae, &narrow(x).repeated(n_decodings), &options, model.device, |_| {});
    let is_whole = |dag: &Dag| dag.n_nodes() == model.spec.max_nodes && model.spec.is_valid(dag);
    let checked = dags.into_iter().map(|dag| is_whole(&dag).then_some(dag));
    checked.collect::<Vec<_>>().chunks(n_decodings).map(<[_]>::to_vec).collect()
}
