//! [`Frame`]: the axes and grid around a plot.

use std::fmt::Write;

use super::axis::Axis;
use crate::text::{Px, ems, escape};

/// Size of tick labels, as in the style sheet.
const TICK_SIZE: f64 = 11.0;
/// Free space around a chart.
pub const MARGIN: f64 = 8.0;
/// Height of the title.
pub const TITLE: f64 = 26.0;
/// Height of the labels below a plot.
pub const BELOW: f64 = 24.0;

/// The plot area of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Left end.
    pub left: f64,
    /// Upper end.
    pub top: f64,
    /// Right end.
    pub right: f64,
    /// Lower end.
    pub bottom: f64,
}

impl Frame {
    /// The opening tag of a chart and its title; `beside` is the width of what stands right of the plot.
    pub fn open(&self, caption: &str, beside: f64) -> String {
        let (width, height) = (self.right + beside + MARGIN, self.bottom + BELOW);
        // A title may be wider than a plot; then the chart is as wide as its title.
        let width = width.max(ems(caption) * 13.0 + 2.0 * MARGIN);
        let caption = escape(caption);
        format!(
            "<svg class=\"chart\" role=\"img\" aria-label=\"{caption}\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" \
             style=\"min-width:{}px\">\
             <text class=\"title\" x=\"{MARGIN}\" y=\"17\">{caption}</text>",
            Px(width),
            Px(height),
            Px(width),
            Px(height),
            // Smaller letters could not be read; a phone scrolls instead.
            Px(0.7 * width)
        )
    }

    /// Horizontal grid lines with their labels on the left.
    pub fn rows(&self, svg: &mut String, ticks: &[(f64, String)], axis: &Axis) {
        for (value, label) in ticks {
            let y = Px(axis.px(*value));
            let (left, right) = (Px(self.left), Px(self.right));
            let _ = write!(svg, "<path class=\"grid\" d=\"M{left} {y}H{right}\"/>");
            let x = Px(self.left - 6.0);
            let _ =
                write!(svg, "<text class=\"tick\" x=\"{x}\" y=\"{y}\" dy=\".35em\" text-anchor=\"end\">{label}</text>");
        }
    }

    /// Vertical grid lines, or only their ticks, with their labels below.
    pub fn columns(&self, svg: &mut String, ticks: &[(f64, String)], axis: &Axis, through: bool) {
        for (value, label) in ticks {
            let (x, bottom) = (Px(axis.px(*value)), Px(self.bottom));
            let (class, to) = if through { ("grid", self.top) } else { ("axis", self.bottom + 4.0) };
            let _ = write!(svg, "<path class=\"{class}\" d=\"M{x} {bottom}V{}\"/>", Px(to));
            let y = Px(self.bottom + 17.0);
            let _ = write!(svg, "<text class=\"tick\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
        }
    }

    /// A line along the lower side.
    pub fn base(&self, svg: &mut String, y: f64) {
        let _ = write!(svg, "<path class=\"axis\" d=\"M{} {}H{}\"/>", Px(self.left), Px(y), Px(self.right));
    }
}

/// The width of the widest label.
pub fn widest<'a>(labels: impl IntoIterator<Item = &'a str>) -> f64 {
    labels.into_iter().map(|label| ems(label) * TICK_SIZE).fold(0.0, f64::max)
}
