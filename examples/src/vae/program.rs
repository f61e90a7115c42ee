//! [`VaeProgram`]: what `na` and `bn` have in common, from the command line to the report.

use anyhow::{Result, bail};
use pace_graph::{Dag, Vectors};
use pace_train::FitConfig;
use pace_train::record::{Metric, MetricSpec, Run};
use serde_json::json;

use super::args::VaeArgs;
use super::data::VaeData;
use super::metrics::{PaperRow, columns, record};
use super::pipeline::reproduce;
use super::plan::{Plans, Tried, VaePlan};
use super::report::report;
use super::search::Judge;
use crate::args::RunArgs;
use crate::report::{Report, finish};
use crate::table;

/// What is known about the data before anything is trained.
#[derive(Default)]
pub struct Checked {
    /// Who says how good a graph is that a search finds; without a judge there is no search.
    pub judge: Option<Judge>,
    /// Numbers for the end of the table.
    pub metrics: Vec<(MetricSpec, Metric)>,
}

/// A graph as numbers, without any encoder.
#[derive(Clone, Copy, Debug)]
pub struct RawFeatures {
    /// The numbers.
    pub of: fn(&Dag) -> Vec<f32>,
    /// How many of them belong to each node.
    pub block: usize,
}

impl RawFeatures {
    /// The numbers of many graphs.
    pub fn all(&self, dags: &[Dag]) -> Vectors {
        let rows: Vec<Vec<f32>> = dags.iter().map(self.of).collect();
        let width = rows.first().map_or(1, Vec::len);
        Vectors::from_rows(rows, width)
    }
}

/// A dataset's program.
#[derive(Clone, Copy, Debug)]
pub struct VaeProgram {
    /// Short name of the dataset.
    pub id: &'static str,
    /// Heading of the report.
    pub title: &'static str,
    /// A graph as numbers, without any encoder: the row to beat.
    pub raw: RawFeatures,
    /// What the paper reports.
    pub paper: PaperRow,
    /// The plan of each preset.
    pub plans: Plans,
    /// The settings that `--tune` compares.
    pub tried: &'static [Tried],
}

impl VaeProgram {
    /// Runs everything; `check` looks at the data before anything is trained.
    ///
    /// # Errors
    /// Those of the stages.
    pub fn run(
        &self,
        args: &RunArgs,
        vae: &VaeArgs,
        load: impl FnOnce(&RunArgs) -> Result<VaeData>,
        check: impl FnOnce(&VaeData, &mut Run) -> Result<Checked>,
    ) -> Result<()> {
        if table::is_list(&vae.encoder) {
            return table::run(self.id, self.title, &vae.encoder, args, columns);
        }
        let plan = self.plans.of(vae.preset);
        let plan = if args.smoke { plan.smoke() } else { plan }.with_args(vae)?;
        let plan = VaePlan { fit: FitConfig { seed: args.seed, ..plan.fit }, ..plan };
        let mut data = load(args)?;
        if let Some((n_train, n_test)) = plan.limit {
            data = data.truncated(n_train, n_test);
        }
        if vae.tune {
            return self.tune(args, vae, data);
        }
        println!("{}", data.note);
        let width = plan.model.width(&data.spec, &pace_model::device::device("")?)?;
        if let Some(asked) = vae.latent.filter(|&asked| asked != width) {
            bail!("--latent {asked} is no multiple of the positions of a graph; give {width}, or leave it out");
        }
        let mut run = args.start(self.id, &vae.encoder, json!({"plan": plan, "data": data.note}))?;
        run.data(data.kind, data.note.clone());
        let checked = check(&data, &mut run)?;
        let outcome = reproduce(self.raw, &plan, &data, checked.judge.as_ref(), &mut run, vae)?;
        record(&outcome, &self.paper, &mut run);
        checked.metrics.into_iter().for_each(|(spec, metric)| run.metric(&spec, metric));
        let mut page = Report::new(self.title);
        report(&outcome, &mut page)?;
        println!("report: {}", finish(page, run)?.display());
        Ok(())
    }
}
