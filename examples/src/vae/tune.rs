//! Choosing settings by validation graphs: `--tune`.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use pace_train::FitConfig;
use pace_train::record::Metric;
use serde_json::json;

use super::args::VaeArgs;
use super::data::VaeData;
use super::pipeline::reproduce;
use super::plan::VaePlan;
use super::program::VaeProgram;
use super::score::Score;
use crate::args::RunArgs;

/// Fits of the surrogate per setting.
const GP_SEEDS: usize = 3;

impl VaeProgram {
    /// Trains every setting on the training part without its last tenth, scores it there, and writes the table of what was
    /// tried. Each setting is a run of its own below the folder for the results, and is resumed like any other.
    ///
    /// # Errors
    /// Those of the stages.
    pub(super) fn tune(&self, args: &RunArgs, vae: &VaeArgs, data: VaeData) -> Result<()> {
        let data = data.validation();
        println!("{}", data.note);
        let names: Vec<&str> = self.tried.iter().map(|tried| tried.name).collect();
        ensure!(
            names.iter().any(|name| name.contains(&vae.only)),
            "no setting has '{}' in its name; there are {}",
            vae.only,
            names.join("; ")
        );
        let default = || format!("runs/{}-{}-{}-tune", self.id, vae.encoder, args.seed).into();
        let parent = args.out.clone().unwrap_or_else(default);
        let options = VaeArgs { scores_only: true, ..vae.clone() };
        let mut table = String::from("| setting | RMSE | Pearson | training, s |\n|---|---:|---:|---:|\n");
        let chosen = self.tried.iter().enumerate().filter(|(_, tried)| tried.name.contains(&vae.only));
        for (index, tried) in chosen {
            let plan = self.plans.of(vae.preset);
            let mut plan = if args.smoke { plan.smoke() } else { plan }.with_args(vae)?;
            (tried.change)(&mut plan);
            // What needs no training is the same for all settings.
            let baseline_gp_seeds = if index == 0 { GP_SEEDS } else { 0 };
            let fit = FitConfig { seed: args.seed, ..plan.fit };
            let (encoder_seeds, gp_seeds, published_gp_seeds) = (1, GP_SEEDS.min(plan.gp_seeds), 0);
            let plan = VaePlan { fit, encoder_seeds, gp_seeds, published_gp_seeds, baseline_gp_seeds, ..plan };
            let here = RunArgs { out: Some(parent.join(tried.name.replace([' ', ','], "_"))), ..args.clone() };
            let mut run = here.start(self.id, &vae.encoder, json!({"plan": plan, "data": data.note}))?;
            run.data(data.kind, data.note.clone());
            let outcome = reproduce(self.raw, &plan, &data, None, &mut run, &options)?;
            let seconds = run.seconds(&pace_train::record::Stage::new("train").seed(args.seed));
            let mut row = |name: &str, scores: &[Score], seconds: Option<f64>| {
                if scores.is_empty() {
                    return;
                }
                let column = |part: fn(&Score) -> f64| Metric::over(&scores.iter().map(part).collect::<Vec<_>>());
                let (rmse, pearson) = (column(|s| s.rmse), column(|s| s.pearson));
                let seconds = seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.0}"));
                let _ = writeln!(
                    table,
                    "| {name} | {:.4} +- {:.4} | {:.4} | {seconds} |",
                    rmse.mean, rmse.std, pearson.mean
                );
            };
            row("raw features, no encoder", &outcome.raw, None);
            row("untrained encoder", &outcome.untrained, None);
            let trained: Vec<Score> = outcome.encoders.iter().flat_map(|encoder| encoder.scores.clone()).collect();
            row(tried.name, &trained, Some(seconds));
            let path = parent.join("tried.md");
            std::fs::write(&path, &table).with_context(|| format!("cannot write {}", path.display()))?;
        }
        println!("{table}");
        println!("table: {}", parent.join("tried.md").display());
        Ok(())
    }
}
