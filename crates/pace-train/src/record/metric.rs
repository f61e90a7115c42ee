//! [`MetricSpec`] and [`Metric`]: what a number of the results means, and its value.

use std::borrow::Cow;

use pace_graph::mean_std;
use serde::{Deserialize, Serialize};

/// What a number of the results means. `results.json` carries it, so that whoever reads the number needs no table of
/// their own.
///
/// ```
/// use pace_train::record::MetricSpec;
/// const RMSE: MetricSpec = MetricSpec::new("rmse", "RMSE of the GP").lower().paper(0.254, "Table 1");
/// assert_eq!(RMSE.heading(), "RMSE of the GP");
/// assert_eq!(MetricSpec::new("valid", "valid").unit("%").heading(), "valid, %");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricSpec {
    /// Its key, e.g. `rmse`.
    pub id: Cow<'static, str>,
    /// For people.
    pub title: Cow<'static, str>,
    /// E.g. `%`; empty if the number has none.
    pub unit: &'static str,
    /// How many are worth printing.
    pub decimals: usize,
    /// What one wishes for.
    pub better: Better,
    /// What the paper reports, if it does.
    pub paper: Option<Paper>,
}

/// Which numbers are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Lower ones.
    Lower,
    /// Higher ones.
    Higher,
    /// It is a fact about the data.
    Neither,
}

/// A number of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paper {
    /// The number.
    pub value: f64,
    /// Where the paper prints it, e.g. `Table 1`.
    pub source: &'static str,
}

impl MetricSpec {
    /// A fact without unit, printed with four decimals, that the paper does not report.
    pub const fn new(id: &'static str, title: &'static str) -> MetricSpec {
        let (id, title) = (Cow::Borrowed(id), Cow::Borrowed(title));
        MetricSpec { id, title, unit: "", decimals: 4, better: Better::Neither, paper: None }
    }

    /// The same in this unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> MetricSpec {
        self.unit = unit;
        self
    }

    /// The same with this many decimals.
    #[must_use]
    pub const fn decimals(mut self, decimals: usize) -> MetricSpec {
        self.decimals = decimals;
        self
    }

    /// The same, the lower the better.
    #[must_use]
    pub const fn lower(mut self) -> MetricSpec {
        self.better = Better::Lower;
        self
    }

    /// The same, the higher the better.
    #[must_use]
    pub const fn higher(mut self) -> MetricSpec {
        self.better = Better::Higher;
        self
    }

    /// The same with the paper's number beside it.
    #[must_use]
    pub const fn paper(mut self, value: f64, source: &'static str) -> MetricSpec {
        self.paper = Some(Paper { value, source });
        self
    }

    /// Title and unit.
    pub fn heading(&self) -> String {
        let comma = if self.unit.is_empty() { "" } else { ", " };
        format!("{}{comma}{}", self.title, self.unit)
    }
}

/// One number of the results, with its spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Mean over the repetitions.
    pub mean: f64,
    /// Population standard deviation; 0 for one repetition.
    pub std: f64,
    /// Repetitions.
    pub n: usize,
}

impl Metric {
    /// A number that was counted or measured once.
    pub fn once(value: f64) -> Metric {
        Metric { mean: value, std: 0.0, n: 1 }
    }

    /// Mean and spread of repetitions.
    ///
    /// # Panics
    /// If there are none.
    pub fn over(values: &[f64]) -> Metric {
        assert!(!values.is_empty(), "a mean of nothing");
        let (mean, std) = mean_std(values.iter().copied());
        Metric { mean, std, n: values.len() }
    }
}
