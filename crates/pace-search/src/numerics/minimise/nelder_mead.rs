//! Nelder-Mead in two dimensions, as the published code runs it.

use std::cell::Cell;

const MAX_ITERATIONS: usize = 400;
const MAX_EVALUATIONS: usize = 400;
const TOLERANCE: f64 = 1e-4;

/// A local minimum of `f`, by a simplex that reflects, expands and contracts (Nelder & Mead 1965) with the coefficients
/// 1, 2, 1/2, 1/2. The first simplex changes each coordinate of the start by 5 %.
pub(crate) fn nelder_mead(start: [f64; 2], mut f: impl FnMut([f64; 2]) -> f64) -> [f64; 2] {
    let n_evaluations = Cell::new(0);
    let mut value = |point: [f64; 2]| {
        n_evaluations.set(n_evaluations.get() + 1);
        (point, f(point))
    };
    let corner = |axis: usize| {
        let mut point = start;
        point[axis] = if start[axis] == 0.0 { 2.5e-4 } else { 1.05 * start[axis] };
        point
    };
    let mut simplex = [start, corner(0), corner(1)].map(&mut value);
    for _ in 0..MAX_ITERATIONS {
        // A stable sort: of two equal points the older stays in front.
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [best, second, worst] = simplex;
        let width = |point: [f64; 2]| (0..2).map(|axis| (point[axis] - best.0[axis]).abs()).fold(0.0, f64::max);
        let is_small = width(second.0).max(width(worst.0)) <= TOLERANCE;
        if is_small && worst.1 - best.1 <= TOLERANCE || n_evaluations.get() >= MAX_EVALUATIONS {
            break;
        }
        let along = |by: f64| {
            [0, 1].map(|axis| {
                let centre = 0.5 * (best.0[axis] + second.0[axis]);
                centre + by * (centre - worst.0[axis])
            })
        };
        let reflected = value(along(1.0));
        let next = if reflected.1 < best.1 {
            let expanded = value(along(2.0));
            Some(if expanded.1 < reflected.1 { expanded } else { reflected })
        } else if reflected.1 < second.1 {
            Some(reflected)
        } else if reflected.1 < worst.1 {
            Some(value(along(0.5))).filter(|contracted| contracted.1 <= reflected.1)
        } else {
            Some(value(along(-0.5))).filter(|contracted| contracted.1 < worst.1)
        };
        match next {
            Some(next) => simplex[2] = next,
            None => {
                for point in &mut simplex[1..] {
                    *point = value([0, 1].map(|axis| 0.5 * (best.0[axis] + point.0[axis])));
                }
            }
        }
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex[0].0
}

#[cfg(test)]
mod tests {
    use super::nelder_mead;

    #[test]
    fn finds_the_minimum_of_the_valley() {
        let valley = |[x, y]: [f64; 2]| 100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2);
        let [x, y] = nelder_mead([-1.2, 1.0], valley);
        assert!((x - 1.0).abs() < 1e-3 && (y - 1.0).abs() < 1e-3, "{x} {y}");
        // A wall beside the start is no trouble.
        let walled = |[x, y]: [f64; 2]| if x < 0.0 { f64::INFINITY } else { (x - 3.0).powi(2) + y * y };
        let [x, y] = nelder_mead([0.1, -2.0], walled);
        assert!((x - 3.0).abs() < 1e-3 && y.abs() < 1e-3, "{x} {y}");
    }
}
