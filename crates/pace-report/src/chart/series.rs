//! [`Line`]: what a chart of lines shows.

use pace_search::{Band, Curve};

/// A line of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Stands at its end.
    pub name: String,
    /// From left to right. What is not finite leaves a gap.
    pub points: Vec<(f64, f64)>,
    /// A band around it, if any: x, lower end, upper end.
    pub band: Vec<(f64, f64, f64)>,
}

/// The mean of curves with its 95 % band, from query `skip` on.
pub fn band_line(name: &str, curves: &[Curve], skip: usize) -> Line {
    let band = Band::of(curves);
    let queries = || (skip..band.mean.len()).map(|query| ((query + 1) as f64, query));
    Line {
        name: name.to_owned(),
        points: queries().map(|(x, query)| (x, band.mean[query])).collect(),
        band: queries().map(|(x, query)| (x, band.low[query], band.high[query])).collect(),
    }
}
