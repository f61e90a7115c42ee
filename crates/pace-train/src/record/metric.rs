//! [`Metric`]: a measured number with its spread.

use pace_graph::mean_std;
use serde::{Deserialize, Serialize};

/// One number of the results, with its spread and the number that the paper reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Mean over the repetitions.
    pub mean: f64,
    /// Population standard deviation; 0 for one repetition.
    pub std: f64,
    /// Repetitions.
    pub n: usize,
    /// What the paper reports, if it does.
    pub paper: Option<f64>,
}

impl Metric {
    /// A number that was counted or measured once.
    pub fn once(value: f64) -> Metric {
        Metric { mean: value, std: 0.0, n: 1, paper: None }
    }

    /// Mean and spread of repetitions.
    ///
    /// # Panics
    /// If there are none.
    pub fn over(values: &[f64]) -> Metric {
        assert!(!values.is_empty(), "a mean of nothing");
        let (mean, std) = mean_std(values.iter().copied());
        Metric { mean, std, n: values.len(), paper: None }
    }

    /// The same with the paper's number beside it.
    pub fn paper(self, paper: f64) -> Metric {
        Metric { paper: Some(paper), ..self }
    }
}
