//! The dots of a map.

use std::fmt::Write;

use super::drawings::Drawings;
use super::shown;
use crate::text::{Px, escape};
use crate::theme::{N_STEPS, step};

/// Side of a view.
const SIDE: f64 = 360.0;
/// Free space around the dots.
const MARGIN: f64 = 12.0;

/// The range of the scores.
pub(super) struct ScoreScale {
    low: f64,
    high: f64,
}

impl ScoreScale {
    /// From the lowest to the highest of ascending scores. Colours begin at the lower 2 %, so that a few failures do not use them up.
    pub fn of(scores: &[f64]) -> ScoreScale {
        let low = scores.get(scores.len() / 50).copied().unwrap_or(0.0);
        ScoreScale { low, high: scores.last().copied().unwrap_or(0.0) }
    }

    /// The legend: what is measured, and the colours from low to high.
    pub fn markup(&self, name: &str) -> String {
        let rect = |step: usize| format!("<rect class=\"s{step}\" x=\"{step}\" width=\"1.02\" height=\"1\"/>");
        let rects: String = (0..N_STEPS).map(rect).collect();
        format!(
            "<div class=\"scale\"><span>{}</span><span>{}</span><svg viewBox=\"0 0 {N_STEPS} 1\" preserveAspectRatio=\"none\" \
             aria-hidden=\"true\">{rects}</svg><span>{}</span></div>",
            escape(name),
            shown(self.low),
            shown(self.high)
        )
    }
}

/// One view: a dot per point, in their order; those without a drawing are small.
pub(super) fn view(
    title: &str,
    places: &[[f64; 2]],
    scores: &[f64],
    scale: &ScoreScale,
    drawings: &Drawings,
) -> String {
    let range = |axis: usize| {
        let values = places.iter().map(|place| place[axis]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let ranges = [range(0), range(1)];
    // The same scale on both axes: distances mean something.
    let widest = ranges.map(|(low, high)| high - low).into_iter().fold(f64::MIN_POSITIVE, f64::max);
    let unit = if widest > 1e-300 { (SIDE - 2.0 * MARGIN) / widest } else { 0.0 };
    let height = (unit * (ranges[1].1 - ranges[1].0) + 2.0 * MARGIN).max(SIDE / 2.0);
    let (middle, sizes) = (ranges.map(|(low, high)| (low + high) / 2.0), [SIDE, height]);
    let px = |place: &[f64; 2], axis: usize| Px((place[axis] - middle[axis]) * unit + sizes[axis] / 2.0);
    let title = escape(title);
    let mut markup = format!(
        "<div class=\"view\"><h3>{title}</h3><svg viewBox=\"0 0 {SIDE} {}\" role=\"img\" aria-label=\"{title}\">",
        Px(height)
    );
    for (point, (place, &score)) in places.iter().zip(scores).enumerate() {
        let step = step(score, scale.low, scale.high);
        let (class, radius) = if drawings.has(point) { ("", 4.2) } else { (" small", 2.5) };
        let (x, y) = (px(place, 0), px(place, 1));
        let _ = write!(markup, "<circle class=\"s{step}{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>");
    }
    markup.push_str("</svg></div>");
    markup
}
