//! Charts of bars.

use std::fmt::Write;

use super::axis::Axis;
use super::frame::{Frame, MARGIN, TITLE, widest};
use super::{Plot, is_drawable};
use crate::text::{Px, ems, escape, number, shorten};

/// The data of a bar chart: a label and a height per bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Beside each bar.
    pub labels: Vec<String>,
    /// The numbers. What is not finite has no bar.
    pub heights: Vec<f64>,
}

/// Width of a plot.
const WIDTH: f64 = 540.0;
/// Height of a plot with upright bars.
const HEIGHT: f64 = 190.0;
/// From row to row.
const PITCH: f64 = 22.0;
/// Longer labels are shortened.
const MAX_CHARS: usize = 44;

/// A bar chart with a number at each bar: upright bars if labels and numbers fit beside one another, else rows.
pub fn bar_chart(caption: &str, bars: &Bars) -> Plot {
    let bars: Vec<Bar> =
        bars.heights.iter().enumerate().map(|(index, &height)| Bar::new(bars, index, height)).collect();
    let room = WIDTH / bars.len().max(1) as f64 - 6.0;
    let fits = |text: &str| ems(text) * 11.0 < room;
    let upright = bars.iter().all(|bar| fits(&bar.label) && fits(&bar.number));
    let svg = if upright { draw_upright(caption, &bars) } else { draw_rows(caption, &bars) };
    Plot { caption: caption.to_owned(), svg }
}

/// A bar, ready to be drawn.
struct Bar {
    /// As written.
    name: String,
    /// As far as it fits.
    label: String,
    height: f64,
    number: String,
}

impl Bar {
    fn new(bars: &Bars, index: usize, height: f64) -> Bar {
        let name = bars.labels.get(index).cloned().unwrap_or_default();
        let label = shorten(&name, MAX_CHARS).into_owned();
        Bar { name, label, height: if is_drawable(height) { height } else { 0.0 }, number: number(height) }
    }

    /// The rectangle from one corner to the other, and the whole label for those who point at it.
    fn draw(&self, svg: &mut String, (x0, x1): (f64, f64), (y0, y1): (f64, f64)) {
        let (x, y, width, height) = (Px(x0.min(x1)), Px(y0.min(y1)), Px((x1 - x0).abs()), Px((y1 - y0).abs()));
        let title = format!("{}: {}", escape(&self.name), self.number);
        let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
        let _ = write!(svg, "<rect class=\"bar k0\" {place} rx=\"2\"><title>{title}</title></rect>");
    }
}

fn draw_upright(caption: &str, bars: &[Bar]) -> String {
    let top = TITLE + MARGIN;
    let y = Axis::from_zero(bars.iter().map(|bar| bar.height), top + HEIGHT, top);
    let rows = y.ticks(4);
    let left = MARGIN + widest(rows.iter().map(|row| row.1.as_str())) + 8.0;
    let pitch = (WIDTH / bars.len().max(1) as f64).min(90.0);
    let frame = Frame { left, top, right: left + pitch * bars.len().max(4) as f64, bottom: top + HEIGHT };
    let mut svg = frame.open(caption, 0.0);
    frame.rows(&mut svg, &rows, &y);
    for (index, bar) in bars.iter().enumerate() {
        let (middle, half) = (left + pitch * (index as f64 + 0.5), 0.38 * pitch);
        bar.draw(&mut svg, (middle - half, middle + half), (y.px(0.0), y.px(bar.height)));
        let (x, below, above) = (Px(middle), Px(frame.bottom + 17.0), Px(y.px(bar.height.max(0.0)) - 4.0));
        let (label, number) = (escape(&bar.label), &bar.number);
        let _ = write!(svg, "<text class=\"tick\" x=\"{x}\" y=\"{below}\" text-anchor=\"middle\">{label}</text>");
        let _ = write!(svg, "<text class=\"tick\" x=\"{x}\" y=\"{above}\" text-anchor=\"middle\">{number}</text>");
    }
    frame.base(&mut svg, y.px(0.0));
    svg.push_str("</svg>");
    svg
}

/// A row per bar, the first on top.
fn draw_rows(caption: &str, bars: &[Bar]) -> String {
    let top = TITLE + MARGIN;
    let left = MARGIN + bars.iter().map(|bar| ems(&bar.label) * 12.0).fold(0.0, f64::max) + 8.0;
    let frame = Frame { left, top, right: left + WIDTH, bottom: top + PITCH * bars.len() as f64 };
    let x = Axis::from_zero(bars.iter().map(|bar| bar.height), frame.left, frame.right);
    let beside = widest(bars.iter().map(|bar| bar.number.as_str())) + 6.0;
    let mut svg = frame.open(caption, beside);
    frame.columns(&mut svg, &x.ticks(6), &x, true);
    for (index, bar) in bars.iter().enumerate() {
        let middle = top + PITCH * (index as f64 + 0.5);
        bar.draw(&mut svg, (x.px(0.0), x.px(bar.height)), (middle - 8.0, middle + 8.0));
        let (y, at) = (Px(middle), Px(left - 8.0));
        let (label, number) = (escape(&bar.label), &bar.number);
        let _ = write!(svg, "<text x=\"{at}\" y=\"{y}\" dy=\".35em\" text-anchor=\"end\">{label}</text>");
        let end = Px(x.px(bar.height.max(0.0)) + 5.0);
        let _ = write!(svg, "<text class=\"tick\" x=\"{end}\" y=\"{y}\" dy=\".35em\">{number}</text>");
    }
    let zero = Px(x.px(0.0));
    let _ = write!(svg, "<path class=\"axis\" d=\"M{zero} {}V{}\"/></svg>", Px(frame.top), Px(frame.bottom));
    svg
}
