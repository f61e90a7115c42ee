//! What `na` and `bn` have in common from the command line to the report.

use anyhow::Result;
use pace_train::FitConfig;
use pace_train::record::{Run, RunId};
use serde_json::json;

use crate::args::{Preset, RunArgs, VaeArgs};
use crate::bo::Judge;
use crate::report::Report;
use crate::vae::{VaeTask, reproduce};
use crate::vae_data::VaeData;
use crate::vae_plan::VaePlan;
use crate::vae_report::{PaperRow, record, report};

/// A dataset's program.
#[derive(Clone, Copy, Debug)]
pub struct VaeProgram {
    /// Heading of the report.
    pub title: &'static str,
    /// What is particular to the dataset.
    pub task: VaeTask,
    /// What the paper reports.
    pub paper: PaperRow,
    /// The plan of each preset.
    pub plan: fn(Preset) -> VaePlan,
}

/// The options of such a program.
#[derive(Clone, Debug, clap::Args)]
pub struct VaeProgramArgs {
    /// Those of every program.
    #[command(flatten)]
    pub run: RunArgs,
    /// Those of the model.
    #[command(flatten)]
    pub vae: VaeArgs,
}

impl VaeProgram {
    /// Runs everything; `check` looks at the data before anything is trained and says who judges what is found.
    ///
    /// # Errors
    /// Those of the stages.
    pub fn run(
        &self,
        args: &VaeProgramArgs,
        load: impl FnOnce(&RunArgs) -> Result<VaeData>,
        check: impl FnOnce(&VaeData, &mut Run) -> Result<Option<Judge>>,
    ) -> Result<()> {
        let plan = (self.plan)(args.vae.preset);
        let plan = if args.run.smoke { plan.smoke() } else { plan }.with_args(&args.vae)?;
        let plan = VaePlan { fit: FitConfig { seed: args.run.seed, ..plan.fit }, ..plan };
        let threads = args.run.init_threads()?;
        let mut data = load(&args.run)?;
        if let Some((n_train, n_test)) = plan.limit {
            data = data.truncated(n_train, n_test);
        }
        println!("{}", data.note);
        let (id, encoder) = (self.task.id, &args.vae.encoder);
        let settings = json!({"plan": plan, "data": data.note});
        let mut run =
            Run::start(&args.run.out_dir(id, encoder)?, RunId::new(id, encoder, args.run.seed, threads, settings))?;
        run.data(data.kind, data.note.clone());
        let judge = check(&data, &mut run)?;
        let outcome = reproduce(&self.task, &plan, &data, judge.as_ref(), &mut run, &args.vae)?;
        record(&outcome, &self.paper, &mut run);
        let mut page = Report::new(self.title);
        report(&outcome, &run, &mut page)?;
        println!("report: {}", page.finish(run)?.display());
        Ok(())
    }
}
