//! The page of a VAE experiment.

use anyhow::Result;

use super::pipeline::VaeOutcome;
use crate::report::{Line, Report, line_chart};

/// What the numbers mean, the training curves and the search.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn report(outcome: &VaeOutcome, page: &mut Report) -> Result<()> {
    page.text(
        "RMSE and correlations are those of the test part; RMSE in standard deviations of the training scores. Reconstruction takes \
         100 decodings per test graph. Generation takes ten decodings per vector of the prior, as the authors do, unless the row says \
         otherwise.",
    );
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
    page.plot(line_chart("log10 of the loss per graph, by epoch", &curves));
    if let Some(search) = &outcome.search {
        search.plot(page)?;
    }
    Ok(())
}
