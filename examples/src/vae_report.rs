//! The tables and plots of a VAE run, and its entries in `results.json`.

use anyhow::Result;
use pace_train::record::{Metric, Run};

use crate::report::{Line, Report, line_chart};
use crate::score::Score;
use crate::searches::band_line;
use crate::vae::{EncoderOutcome, VaeOutcome};

/// What the paper reports for PACE on a dataset.
#[derive(Clone, Copy, Debug)]
pub struct PaperRow {
    /// Table 1.
    pub rmse: f64,
    /// Table 1.
    pub pearson: f64,
    /// Table 7, in percent: reconstruction, validity, uniqueness, novelty.
    pub generation: [f64; 4],
}

/// Records all numbers of a run.
pub fn record(outcome: &VaeOutcome, paper: &PaperRow, run: &mut Run) {
    let over = |scores: &[Score], part: fn(&Score) -> f64| {
        let values: Vec<f64> = scores.iter().map(part).collect();
        (!values.is_empty()).then(|| Metric::over(&values))
    };
    let mut put = |name: &str, metric: Option<Metric>, paper: Option<f64>| {
        if let Some(metric) = metric {
            run.metric(name, Metric { paper, ..metric });
        }
    };
    let ours: Vec<Score> = outcome.encoders.iter().flat_map(|encoder| encoder.scores.clone()).collect();
    let published: Vec<Score> = outcome.encoders.iter().flat_map(|encoder| encoder.published_scores.clone()).collect();
    put("rmse", over(&ours, |s| s.rmse), Some(paper.rmse));
    put("pearson", over(&ours, |s| s.pearson), Some(paper.pearson));
    put("spearman", over(&ours, |s| s.spearman), None);
    put("kendall", over(&ours, |s| s.kendall), None);
    put("rmse_published", over(&published, |s| s.rmse), Some(paper.rmse));
    put("pearson_published", over(&published, |s| s.pearson), Some(paper.pearson));
    put("rmse_raw", over(&outcome.raw, |s| s.rmse), None);
    put("pearson_raw", over(&outcome.raw, |s| s.pearson), None);
    put("rmse_untrained", over(&outcome.untrained, |s| s.rmse), None);
    put("pearson_untrained", over(&outcome.untrained, |s| s.pearson), None);
    let percent = |part: &dyn Fn(&EncoderOutcome) -> Option<f64>| {
        let values: Vec<f64> = outcome.encoders.iter().filter_map(part).map(|share| 100.0 * share).collect();
        (!values.is_empty()).then(|| Metric::over(&values))
    };
    let [recon, valid, unique, novel] = paper.generation;
    put("recon_accuracy", percent(&|e| e.reconstruction.map(|r| r.isomorphic)), Some(recon));
    put("recon_indexed", percent(&|e| e.reconstruction.map(|r| r.indexed)), Some(recon));
    put("recon_greedy", percent(&|e| e.reconstruction.map(|r| r.greedy)), None);
    put("valid", percent(&|e| e.generation.map(|g| g.valid)), Some(valid));
    put("unique", percent(&|e| e.fresh_generation.map(|g| g.unique)), None);
    put("unique_of_ten", percent(&|e| e.generation.map(|g| g.unique)), Some(unique));
    put("novel", percent(&|e| e.generation.map(|g| g.novel)), Some(novel));
    put("valid_published", percent(&|e| e.published_generation.map(|g| g.valid)), Some(valid));
    put("unique_published", percent(&|e| e.published_generation.map(|g| g.unique_published)), Some(unique));
    put("novel_published", percent(&|e| e.published_generation.map(|g| g.novel)), Some(novel));
    run.metric("train_graphs_per_s", Metric::once(outcome.train_graphs_per_s));
    run.metric("encode_graphs_per_s", Metric::once(outcome.encode_graphs_per_s));
}

/// Tables of all metrics and stages, and the training curves.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn report(outcome: &VaeOutcome, run: &Run, page: &mut Report) -> Result<()> {
    page.heading("Numbers");
    page.text(
        "rmse and pearson: our sparse GP on the latent vectors, test part, in standard deviations of the training scores; \
         _published: the authors' GP and decoding; raw and untrained: the same GP without encoder and without training. \
         Percentages: 100 decodings per test graph; unique: one decoding per vector of the prior; unique_of_ten and the other rows of \
         generation: ten, as the authors do.",
    );
    page.table(&metric_rows(run));
    page.heading("Training");
    let curves: Vec<Line> = outcome
        .encoders
        .iter()
        .map(|encoder| Line {
            name: format!("encoder {}", encoder.seed),
            points: encoder
                .epochs
                .iter()
                .enumerate()
                .map(|(i, e)| ((i + 1) as f64, e.loss.ln() / 10_f64.ln()))
                .collect(),
            ..Line::default()
        })
        .collect();
    page.svg(&line_chart("log10 of the loss per graph, by epoch", &curves)?);
    if let Some(search) = &outcome.search {
        page.heading("Search in the latent space");
        page.text("Each search starts from the scores of the best training graphs; first encoder.");
        let lines = [
            band_line("Bayesian optimisation", &search.bo, 0),
            band_line("uniform in the same box", &search.random, 0),
        ];
        page.svg(&line_chart("best score after so many queries, mean and 95 % band of the mean", &lines)?);
    }
    page.heading("Seconds per stage");
    let mut rows = vec![vec!["stage".to_owned(), "seconds".to_owned()]];
    rows.extend(run.stages().iter().map(|(stage, seconds)| vec![stage.clone(), format!("{seconds:.1}")]));
    page.table(&rows);
    Ok(())
}

fn metric_rows(run: &Run) -> Vec<Vec<String>> {
    let mut rows = vec![["metric", "mean", "std", "n", "paper"].map(str::to_owned).to_vec()];
    rows.extend(run.metrics().iter().map(|(name, metric)| {
        let paper = metric.paper.map_or_else(String::new, |paper| paper.to_string());
        vec![name.clone(), format!("{:.4}", metric.mean), format!("{:.4}", metric.std), metric.n.to_string(), paper]
    }));
    rows
}
