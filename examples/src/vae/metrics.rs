//! The table of a VAE experiment: every number with its title, the paper's value, and the part of the outcome it is read
//! from.

use pace_train::record::{Metric, MetricSpec, Run};

use super::decode::Decoded;
use super::pipeline::VaeOutcome;
use super::score::Score;
use super::search::SearchOutcome;
use crate::metrics::{ENCODE_SPEED, GRAPHS_SEEN, PARAMETERS, TRAIN_SECONDS, TRAIN_SPEED, mean};

/// What the paper reports for PACE on a dataset.
#[derive(Clone, Copy, Debug)]
pub struct PaperRow {
    /// Table 1.
    pub rmse: f64,
    /// Table 1.
    pub pearson: f64,
    /// Table 7, in percent.
    pub reconstruction: f64,
    /// Table 7, in percent.
    pub valid: f64,
    /// Table 7, in percent.
    pub unique: f64,
    /// Table 7, in percent.
    pub novel: f64,
    /// Table 6: the best score found, if our judge is the paper's.
    pub search: Option<f64>,
}

/// Which scores of an outcome.
type Scores = fn(&VaeOutcome) -> Vec<Score>;
/// A number of a [`Score`].
type Part = fn(&Score) -> f64;
/// A share that an encoder reaches in decoding.
type Share = fn(&Decoded) -> f64;
/// Numbers of a search.
type Found = fn(&SearchOutcome) -> Vec<f64>;

/// Where the numbers of a row come from.
enum Source {
    Scores(Scores, Part),
    Decoded(Share),
    Search(Found),
    Speed(fn(&VaeOutcome) -> Vec<f64>),
}

/// All rows in the order of the page.
fn table(paper: &PaperRow) -> Vec<(MetricSpec, Source)> {
    const TABLE_1: &str = "Table 1";
    const TABLE_7: &str = "Table 7";
    let score = MetricSpec::new;
    let percent = |id, title| MetricSpec::new(id, title).unit("%").decimals(3).higher();
    let ours: Scores = |o| o.encoders.iter().flat_map(|encoder| encoder.scores.clone()).collect();
    let published: Scores = |o| o.encoders.iter().flat_map(|encoder| encoder.published_scores.clone()).collect();
    let (raw, untrained): (Scores, Scores) = (|o| o.raw.clone(), |o| o.untrained.clone());
    let (rmse, pearson): (Part, Part) = (|s| s.rmse, |s| s.pearson);
    let scored = |spec: MetricSpec, scores: Scores, part: Part| (spec, Source::Scores(scores, part));
    let decoded = |spec: MetricSpec, share: Share| (spec, Source::Decoded(share));
    let search = |spec: MetricSpec, found: Found| (spec, Source::Search(found));
    vec![
        scored(
            score("rmse", "RMSE, our sparse GP on the latent vectors").lower().paper(paper.rmse, TABLE_1),
            ours,
            rmse,
        ),
        scored(
            score("pearson", "Pearson's r, our sparse GP on the latent vectors").higher().paper(paper.pearson, TABLE_1),
            ours,
            pearson,
        ),
        scored(score("spearman", "Spearman's rho, our sparse GP on the latent vectors").higher(), ours, |s| s.spearman),
        scored(score("kendall", "Kendall's tau, our sparse GP on the latent vectors").higher(), ours, |s| s.kendall),
        scored(
            score("rmse_published", "RMSE, the authors' GP on the latent vectors").lower().paper(paper.rmse, TABLE_1),
            published,
            rmse,
        ),
        scored(
            score("pearson_published", "Pearson's r, the authors' GP on the latent vectors")
                .higher()
                .paper(paper.pearson, TABLE_1),
            published,
            pearson,
        ),
        scored(score("rmse_raw", "RMSE, our sparse GP on raw features, no encoder").lower(), raw, rmse),
        scored(score("pearson_raw", "Pearson's r, our sparse GP on raw features, no encoder").higher(), raw, pearson),
        scored(score("rmse_untrained", "RMSE, our sparse GP on an untrained encoder").lower(), untrained, rmse),
        scored(
            score("pearson_untrained", "Pearson's r, our sparse GP on an untrained encoder").higher(),
            untrained,
            pearson,
        ),
        decoded(percent("recon_accuracy", "reconstruction up to isomorphism, constrained decoding"), |d| {
            d.reconstruction.isomorphic
        }),
        decoded(percent("recon_indexed", "reconstruction index by index, constrained decoding"), |d| {
            d.reconstruction.indexed
        }),
        decoded(
            percent("recon_published", "reconstruction index by index, decoded as the authors' code does")
                .paper(paper.reconstruction, TABLE_7),
            |d| d.reconstruction_published.indexed,
        ),
        decoded(percent("recon_greedy", "reconstruction, greedy decoding"), |d| d.reconstruction.greedy),
        decoded(percent("valid", "valid, constrained decoding"), |d| d.several.valid),
        decoded(percent("unique", "unique isomorphism classes, one decoding per vector of the prior"), |d| {
            d.fresh.unique
        }),
        decoded(percent("unique_of_ten", "unique isomorphism classes, ten decodings per vector"), |d| d.several.unique),
        decoded(percent("novel", "novel, constrained decoding"), |d| d.several.novel),
        decoded(
            percent("valid_published", "valid, decoded as the authors' code does").paper(paper.valid, TABLE_7),
            |d| d.published.valid,
        ),
        decoded(
            percent("unique_published", "unique by the authors' string rule, decoded as their code does")
                .paper(paper.unique, TABLE_7),
            |d| d.published.unique_published,
        ),
        decoded(
            percent("novel_published", "novel, decoded as the authors' code does").paper(paper.novel, TABLE_7),
            |d| d.published.novel,
        ),
        search(
            {
                let spec = score("bo_best", "best score found by Bayesian optimisation on PACE vectors").higher();
                if let Some(best) = paper.search { spec.paper(best, "Table 6") } else { spec }
            },
            SearchOutcome::finals,
        ),
        search(
            score("bo_best_regret", "regret of Bayesian optimisation against the proven optimum").lower(),
            SearchOutcome::regrets,
        ),
        search(
            score("bo_latent_best", "best score found by decoding vectors in rounds of 50, as the paper does").higher(),
            SearchOutcome::latent_finals,
        ),
        search(score("bo_start_best", "best score among the training graphs"), |s| vec![s.start_best]),
        (TRAIN_SPEED, Source::Speed(|o| o.encoders.iter().map(|encoder| encoder.train_graphs_per_s).collect())),
        (ENCODE_SPEED, Source::Speed(|o| o.encoders.iter().map(|encoder| encoder.encode_graphs_per_s).collect())),
        (TRAIN_SECONDS, Source::Speed(|o| o.encoders.iter().map(|encoder| encoder.train_seconds).collect())),
        (GRAPHS_SEEN, Source::Speed(|o| o.encoders.iter().map(|encoder| encoder.graphs_seen as f64).collect())),
        (PARAMETERS, Source::Speed(|o| o.encoders.iter().map(|encoder| encoder.n_parameters as f64).collect())),
    ]
}

/// The columns of a table of several encoders.
pub fn columns() -> &'static [MetricSpec] {
    const fn share(id: &'static str, title: &'static str) -> MetricSpec {
        MetricSpec::new(id, title).unit("%").decimals(2).higher()
    }
    const COLUMNS: &[MetricSpec] = &[
        MetricSpec::new("rmse", "RMSE").lower(),
        MetricSpec::new("pearson", "Pearson's r").higher(),
        MetricSpec::new("rmse_published", "RMSE, the authors' GP").lower(),
        share("recon_published", "reconstruction"),
        share("valid_published", "valid"),
        share("unique_published", "unique"),
        share("novel_published", "novel"),
        TRAIN_SECONDS,
        ENCODE_SPEED,
        GRAPHS_SEEN,
        PARAMETERS,
    ];
    COLUMNS
}

/// Records all numbers of an outcome.
pub fn record(outcome: &VaeOutcome, paper: &PaperRow, run: &mut Run) {
    for (spec, source) in table(paper) {
        let values: Vec<f64> = match source {
            Source::Scores(scores, part) => scores(outcome).iter().map(part).collect(),
            Source::Decoded(share) => {
                let decoded = outcome.encoders.iter().filter_map(|encoder| encoder.decoded.as_ref());
                decoded.map(|decoded| 100.0 * share(decoded)).collect()
            }
            Source::Search(found) => outcome.search.as_ref().map_or_else(Vec::new, found),
            // One number for the machine.
            Source::Speed(rates) => vec![mean(&rates(outcome))],
        };
        if !values.is_empty() {
            run.metric(&spec, Metric::over(&values));
        }
    }
    if let Some(search) = &outcome.search {
        search.record(run);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{PaperRow, table};

    #[test]
    fn ids_and_titles_are_unique() {
        let paper = PaperRow {
            rmse: 0.1,
            pearson: 0.9,
            reconstruction: 99.0,
            valid: 99.0,
            unique: 50.0,
            novel: 99.0,
            search: None,
        };
        let rows = table(&paper);
        let (ids, titles): (HashSet<_>, HashSet<_>) =
            rows.iter().map(|(spec, _)| (spec.id.clone(), spec.title.clone())).unzip();
        assert_eq!((ids.len(), titles.len()), (rows.len(), rows.len()));
    }
}
