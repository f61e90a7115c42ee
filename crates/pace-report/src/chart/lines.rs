//! Charts of lines.

use std::fmt::Write;

use super::axis::Axis;
use super::frame::{Frame, MARGIN, TITLE, widest};
use super::labels::Labels;
use super::series::Line;
use super::{Plot, is_drawable};
use crate::text::Px;
use crate::theme::hue;

/// Width of a plot.
const WIDTH: f64 = 600.0;
/// Height of a plot, if names do not need more.
const HEIGHT: f64 = 250.0;
/// A line with more points is thinned: a pixel shows no more.
const MAX_POINTS: usize = 1_200;

/// A chart of lines, each with its name at its end.
///
/// ```
/// use pace_report::{Line, line_chart};
/// let line = Line { name: "loss".to_owned(), points: vec![(1.0, 2.5), (2.0, 1.2)], band: Vec::new() };
/// let plot = line_chart("loss by epoch", &[line]);
/// assert!(plot.svg.starts_with("<svg") && plot.svg.contains(">loss</text>"));
/// ```
pub fn line_chart(caption: &str, lines: &[Line]) -> Plot {
    let xs = lines.iter().flat_map(|line| {
        let band = line.band.iter().filter(|part| is_drawn(part)).map(|part| part.0);
        line.points.iter().filter(|point| is_drawable(point.1)).map(|point| point.0).chain(band)
    });
    let ys = lines.iter().flat_map(|line| {
        let band = line.band.iter().filter(|part| is_drawn(part)).flat_map(|part| [part.1, part.2]);
        line.points.iter().filter(|point| is_drawable(point.0)).map(|point| point.1).chain(band)
    });
    let labels = Labels::new(lines.iter().map(|line| line.name.as_str()));
    let (top, height) = (TITLE + MARGIN, labels.height().max(HEIGHT));
    let y = Axis::around(ys, top + height, top);
    let rows = y.ticks(6);
    let left = MARGIN + widest(rows.iter().map(|row| row.1.as_str())) + 8.0;
    let frame = Frame { left, top, right: left + WIDTH, bottom: top + height };
    let x = Axis::around(xs, frame.left, frame.right);
    let mut svg = frame.open(caption, labels.width());
    frame.rows(&mut svg, &rows, &y);
    frame.columns(&mut svg, &x.ticks(7), &x, false);
    frame.base(&mut svg, frame.bottom);
    for (index, line) in lines.iter().enumerate() {
        draw_band(&mut svg, &line.band, &hue(index), &x, &y);
    }
    for (index, line) in lines.iter().enumerate() {
        draw_line(&mut svg, &line.points, &hue(index), &x, &y);
    }
    let end = |line: &Line| line.points.iter().rev().find(|point| is_point(point)).map(|point| y.px(point.1));
    labels.draw(&mut svg, &frame, &lines.iter().map(end).collect::<Vec<_>>());
    svg.push_str("</svg>");
    Plot { caption: caption.to_owned(), svg }
}

/// Whether a point can be drawn.
fn is_point(point: &(f64, f64)) -> bool {
    is_drawable(point.0) && is_drawable(point.1)
}

/// Whether a part of a band can be drawn.
fn is_drawn(part: &(f64, f64, f64)) -> bool {
    is_drawable(part.0) && is_drawable(part.1) && is_drawable(part.2)
}

/// A band as one outline: there and back.
fn draw_band(svg: &mut String, band: &[(f64, f64, f64)], class: &str, x: &Axis, y: &Axis) {
    let stride = band.len().div_ceil(MAX_POINTS).max(1);
    let is_kept = |&(index, _): &(usize, _)| index % stride == 0 || index + 1 == band.len();
    let parts: Vec<_> =
        band.iter().enumerate().filter(is_kept).map(|(_, part)| part).filter(|part| is_drawn(part)).collect();
    let there = parts.iter().map(|part| (part.0, part.2));
    let back = parts.iter().rev().map(|part| (part.0, part.1));
    let outline: String =
        there.chain(back).map(|(at, value)| format!("L{} {}", Px(x.px(at)), Px(y.px(value)))).collect();
    if let Some(outline) = outline.strip_prefix('L') {
        let _ = write!(svg, "<path class=\"band {class}\" d=\"M{outline}z\"/>");
    }
}

/// A line, interrupted where a number is missing. A point between two gaps is a dot.
fn draw_line(svg: &mut String, points: &[(f64, f64)], class: &str, x: &Axis, y: &Axis) {
    let mut path = String::new();
    for run in points.split(|point| !is_point(point)).filter(|run| !run.is_empty()) {
        let thin = thinned(run);
        for (index, point) in thin.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{} {}", Px(x.px(point.0)), Px(y.px(point.1)));
        }
        if thin.len() == 1 {
            // Round ends make a dot of it.
            path.push_str("h.01");
        }
    }
    let _ = write!(svg, "<path class=\"line {class}\" d=\"{path}\"/>");
}

/// The lowest and the highest point of each of so many parts: spikes stay.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let mut thin = Vec::with_capacity(MAX_POINTS + 2);
    thin.extend(points.first());
    for part in points.chunks(points.len().div_ceil(MAX_POINTS / 2)) {
        let by_height = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
        let ends = [part.iter().min_by(by_height), part.iter().max_by(by_height)];
        let mut ends: Vec<(f64, f64)> = ends.into_iter().flatten().copied().collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        thin.extend(ends);
    }
    thin.extend(points.last());
    thin
}
