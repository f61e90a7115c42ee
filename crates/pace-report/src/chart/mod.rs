//! Charts as SVG: lines with bands, bars, dots.
//!
//! The SVG is written here rather than by a plotting library. Colours have to be classes, so that a chart follows the page from light
//! to dark, and names stand beside what they name, outside the plot, where they hide nothing.

mod axis;
mod bars;
mod dots;
mod frame;
mod labels;
mod lines;
mod series;

use crate::theme::standalone;

pub use bars::{Bars, bar_chart};
pub use dots::{Dots, scatter_chart};
pub use lines::line_chart;
pub use series::{Line, band_line};

/// A finished chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub caption: String,
    /// The drawing, whose colours come from the page.
    pub svg: String,
}

impl Plot {
    /// The drawing as a file of its own, with its colours.
    pub fn file(&self) -> String {
        standalone(&self.svg)
    }
}

/// Whether a number can be drawn. Differences of larger ones are infinite.
fn is_drawable(value: f64) -> bool {
    value.abs() < 1e300
}
