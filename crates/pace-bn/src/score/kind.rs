//! [`ScoreKind`]: which score.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::points::Points;
use crate::error::Error;

/// A decomposable score, by bnlearn's formulas: all of them are natural logarithms, and greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// The log-likelihood at its maximum; more arcs never lower it.
    LogLikelihood,
    /// Log-likelihood less the number of parameters (Akaike 1974).
    Aic,
    /// Log-likelihood less ln(n) / 2 times the number of parameters (Schwarz 1978).
    Bic,
    /// The marginal likelihood under a uniform Dirichlet prior (Heckerman, Geiger & Chickering 1995).
    Bdeu {
        /// The equivalent sample size: how many rows the prior is worth.
        sample_size: f64,
    },
}

impl ScoreKind {
    /// Refuses a prior that is none.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            ScoreKind::Bdeu { sample_size } if !(sample_size.is_finite() && sample_size > 0.0) => Err(Error::Option {
                option: "the equivalent sample size of BDeu",
                value: sample_size.to_string(),
                remedy: "give a number above 0, usually 1 to 10".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// What a parameter costs, given the number of rows.
    pub(super) fn penalty(self, n_rows: usize) -> Points {
        match self {
            ScoreKind::LogLikelihood | ScoreKind::Bdeu { .. } => Points::ZERO,
            ScoreKind::Aic => Points::of(1.0),
            ScoreKind::Bic => Points::of((n_rows as f64).ln() / 2.0),
        }
    }
}

impl fmt::Display for ScoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScoreKind::LogLikelihood => write!(f, "loglik"),
            ScoreKind::Aic => write!(f, "aic"),
            ScoreKind::Bic => write!(f, "bic"),
            ScoreKind::Bdeu { sample_size } => write!(f, "bdeu:{sample_size}"),
        }
    }
}

impl FromStr for ScoreKind {
    type Err = Error;

    /// `loglik`, `aic`, `bic`, `bdeu` (with equivalent sample size 1, as in bnlearn) or, e.g., `bdeu:10`.
    fn from_str(text: &str) -> Result<ScoreKind, Error> {
        let wrong = || Error::Option {
            option: "the score",
            value: format!("'{text}'"),
            remedy: "give one of loglik, aic, bic, bdeu, or bdeu with its equivalent sample size, such as bdeu:10"
                .to_owned(),
        };
        let kind = match text {
            "loglik" => ScoreKind::LogLikelihood,
            "aic" => ScoreKind::Aic,
            "bic" => ScoreKind::Bic,
            "bdeu" => ScoreKind::Bdeu { sample_size: 1.0 },
            _ => {
                let size = text.strip_prefix("bdeu:").ok_or_else(wrong)?;
                ScoreKind::Bdeu { sample_size: size.parse().map_err(|_| wrong())? }
            }
        };
        kind.check()?;
        Ok(kind)
    }
}
