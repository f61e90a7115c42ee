//! Names beside a plot, at the height of what they name.

use std::fmt::Write;

use super::frame::Frame;
use crate::text::{Px, ems, escape, shorten};
use crate::theme::hue;

/// Size of the names, as in the style sheet.
const SIZE: f64 = 12.0;
/// Distance of two names.
const PITCH: f64 = 16.0;
/// From the plot to the names; leaders need it.
const GAP: f64 = 26.0;
/// Longer names are shortened.
const MAX_CHARS: usize = 48;

/// The names of things in a plot.
pub struct Labels {
    names: Vec<String>,
}

impl Labels {
    /// Of these things.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Labels {
        Labels { names: names.map(|name| shorten(name, MAX_CHARS).into_owned()).collect() }
    }

    /// The width they take.
    pub fn width(&self) -> f64 {
        self.names.iter().map(|name| ems(name) * SIZE).fold(0.0, f64::max)
            + if self.names.is_empty() { 0.0 } else { GAP }
    }

    /// The height they need at least.
    pub fn height(&self) -> f64 {
        PITCH * self.names.len() as f64
    }

    /// Draws each name near its height, with a leader from there; names without a height stand on top, with a dot.
    pub fn draw(&self, svg: &mut String, frame: &Frame, wanted: &[Option<f64>]) {
        let places = spread(wanted, frame.top + PITCH / 2.0, frame.bottom - PITCH / 2.0);
        for (index, ((name, place), wanted)) in self.names.iter().zip(places).zip(wanted).enumerate() {
            let (class, y, x) = (hue(index), Px(place), frame.right);
            if let Some(from) = wanted {
                let (start, end, third) = (Px(x + 3.0), Px(x + GAP - 4.0), (Px(x + 9.0), Px(x + GAP - 9.0)));
                let from = Px(*from);
                let path = format!("M{start} {from}H{}L{} {y}H{end}", third.0, third.1);
                let _ = write!(svg, "<path class=\"leader {class}\" d=\"{path}\"/>");
            } else {
                let x = Px(x + GAP - 9.0);
                let _ = write!(svg, "<circle class=\"dot {class}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>");
            }
            let (x, name) = (Px(x + GAP), escape(name));
            let _ = write!(svg, "<text class=\"name {class}\" x=\"{x}\" y=\"{y}\" dy=\".35em\">{name}</text>");
        }
    }
}

/// Heights near the wanted ones, in their order, a pitch apart as long as there is room.
fn spread(wanted: &[Option<f64>], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let height = |index: usize| wanted[index].unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|&one, &other| height(one).total_cmp(&height(other)));
    let mut places = vec![0.0; wanted.len()];
    let mut free = top;
    for &index in &order {
        places[index] = height(index).clamp(free, f64::max(free, bottom));
        free = places[index] + PITCH;
    }
    let mut free = bottom;
    for &index in order.iter().rev() {
        places[index] = places[index].min(free);
        free = places[index] - PITCH;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn names_keep_their_order_and_distance() {
        assert_eq!(spread(&[Some(50.0), Some(48.0), Some(10.0)], 0.0, 200.0), [64.0, 48.0, 10.0]);
        assert_eq!(spread(&[Some(95.0), Some(99.0), None], 0.0, 100.0), [84.0, 100.0, 0.0]);
    }
}
