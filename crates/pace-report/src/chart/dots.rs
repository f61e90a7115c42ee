//! Charts of dots.

use std::fmt::Write;

use super::axis::Axis;
use super::frame::{Frame, MARGIN, TITLE, widest};
use super::labels::Labels;
use super::{Plot, is_drawable};
use crate::text::Px;
use crate::theme::hue;

/// Some dots of one colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dots {
    /// Stands beside the plot.
    pub name: String,
    /// Where they are.
    pub points: Vec<(f64, f64)>,
}

/// Side of a plot.
const SIDE: f64 = 340.0;

/// A scatter plot of one group of dots or several. What is not finite is left out.
pub fn scatter_chart(caption: &str, groups: &[Dots]) -> Plot {
    let is_drawn = |point: &&(f64, f64)| is_drawable(point.0) && is_drawable(point.1);
    let points = groups.iter().flat_map(|group| &group.points).filter(is_drawn);
    let labels = Labels::new(groups.iter().map(|group| group.name.as_str()));
    let (top, height) = (TITLE + MARGIN, labels.height().max(SIDE));
    let y = Axis::around(points.clone().map(|point| point.1), top + height, top);
    let rows = y.ticks(6);
    let left = MARGIN + widest(rows.iter().map(|row| row.1.as_str())) + 8.0;
    let frame = Frame { left, top, right: left + SIDE, bottom: top + height };
    let x = Axis::around(points.map(|point| point.0), frame.left, frame.right);
    let mut svg = frame.open(caption, labels.width());
    frame.rows(&mut svg, &rows, &y);
    frame.columns(&mut svg, &x.ticks(6), &x, true);
    for (index, group) in groups.iter().enumerate() {
        let _ = write!(svg, "<g class=\"dot {}\">", hue(index));
        for point in group.points.iter().filter(is_drawn) {
            let _ = write!(svg, "<circle cx=\"{}\" cy=\"{}\" r=\"3\"/>", Px(x.px(point.0)), Px(y.px(point.1)));
        }
        svg.push_str("</g>");
    }
    labels.draw(&mut svg, &frame, &vec![None; groups.len()]);
    svg.push_str("</svg>");
    Plot { caption: caption.to_owned(), svg }
}
