//! Edges as paths.

use std::fmt::Write;

use crate::layout::Point;
use crate::text::Px;

/// Length of an arrow head.
const HEAD: f64 = 6.0;

/// A smooth line through the points of an edge: cubic curves that are vertical at each layer, and straight across it.
pub(super) fn line(points: &[Point], node_height: f64) -> String {
    let mut path = String::new();
    let Some((&first, rest)) = points.split_first() else { return path };
    let _ = write!(path, "M{} {}", Px(first.x), Px(first.y));
    let mut at = first;
    // Straight pieces are written when a curve ends them, so that a straight edge is one piece.
    let mut written = first.y;
    for (index, point) in rest.iter().enumerate() {
        let is_last = index + 1 == rest.len();
        let half = if is_last { 0.0 } else { node_height / 2.0 };
        let top = if is_last { point.y - HEAD + 1.0 } else { point.y - half };
        if (point.x - at.x).abs() > 0.05 {
            if at.y > written {
                let _ = write!(path, "V{}", Px(at.y));
            }
            let middle = Px((at.y + top) / 2.0);
            let _ = write!(path, "C{} {middle} {} {middle} {} {}", Px(at.x), Px(point.x), Px(point.x), Px(top));
            written = top;
        }
        at = Point { x: point.x, y: if is_last { top } else { point.y + half } };
    }
    if at.y > written {
        let _ = write!(path, "V{}", Px(at.y));
    }
    path
}

/// The arrow head at the end of an edge, which points down.
pub(super) fn head(points: &[Point]) -> String {
    let half = HEAD / 2.0;
    points.last().map_or_else(String::new, |tip| format!("M{} {}l-{half}-{HEAD}h{HEAD}z", Px(tip.x), Px(tip.y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_edge_is_one_piece() {
        let at = |x: f64, y: f64| Point { x, y };
        assert_eq!(line(&[at(5.0, 20.0), at(5.0, 50.0), at(5.0, 80.0)], 20.0), "M5 20V75");
        assert_eq!(line(&[at(5.0, 20.0), at(9.0, 50.0), at(9.0, 80.0)], 20.0), "M5 20C5 30 9 30 9 40V75");
        assert_eq!(head(&[at(5.0, 20.0), at(9.0, 50.5)]), "M9 50.5l-3-6h6z");
        assert_eq!(line(&[], 20.0) + &head(&[]), "");
    }
}
