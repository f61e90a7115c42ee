//! What the page shows: names, neighbours, and where names are hard.

use std::ops::RangeInclusive;

use anyhow::Result;
use pace_graph::Vectors;

use super::curve::{Moment, line};
use super::data::{Code, Functions};
use super::floor::Floor;
use super::neighbours::nearest;
use super::score::mean;
use crate::report::{Bars, Report, bar_chart, line_chart};

/// Functions that are shown.
const SHOWN: usize = 24;
const NEIGHBOURS_OF: usize = 8;
const NEIGHBOURS: usize = 4;

/// What was read.
pub fn numbers(code: &Code, floor: &Floor, page: &mut Report) {
    page.heading("Functions");
    page.text(&format!("{code}."));
    page.text(&format!(
        "The floor says \"{}\" for every function: the most frequent words of the training names, as many as do best on these.",
        floor.words.join(" ")
    ));
}

/// F1 over the time of the training.
///
/// # Errors
/// If the plot cannot be drawn.
pub fn curve(moments: &[Moment], page: &mut Report) -> Result<()> {
    if !moments.is_empty() {
        page.heading("Training");
        page.plot(line_chart("validation F1 by minutes of training", &[line("validation", moments)]));
    }
    Ok(())
}

/// Groups of functions by how large or deep they are.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn by_size_and_depth(functions: &Functions, scores: &[f64], page: &mut Report) -> Result<()> {
    page.heading("F1 by size and depth");
    let sizes = [1..=31, 32..=63, 64..=127, 128..=255, 256..=511, 512..=usize::MAX];
    page.plot(bar_chart("test F1 by nodes of a function", &grouped(&functions.table.lengths(), scores, &sizes)));
    let depths = [0..=5, 6..=7, 8..=9, 10..=12, 13..=16, 17..=usize::MAX];
    page.plot(bar_chart("test F1 by depth of a function", &grouped(&functions.depths, scores, &depths)));
    Ok(())
}

fn grouped(measure: &[usize], scores: &[f64], groups: &[RangeInclusive<usize>]) -> Bars {
    let mut bars = Bars::default();
    for group in groups {
        let own: Vec<f64> =
            measure.iter().zip(scores).filter(|(size, _)| group.contains(size)).map(|(_, score)| *score).collect();
        if !own.is_empty() {
            let (low, high) = (group.start(), group.end());
            let range = if *high == usize::MAX { format!("{low}+") } else { format!("{low}-{high}") };
            bars.labels.push(format!("{range} ({})", own.len()));
            bars.heights.push(mean(&own));
        }
    }
    bars
}

/// Some functions with their true and predicted names; the order is random already.
pub fn names(code: &Code, predicted: &[Vec<usize>], scores: &[f64], page: &mut Report) {
    page.heading("Names");
    let head = ["function", "nodes", "true name", "predicted", "F1"].map(str::to_owned).to_vec();
    let lengths = code.test.table.lengths();
    let row = |function: usize| {
        vec![
            code.test.places[function].clone(),
            lengths[function].to_string(),
            code.test.labels[function].join(" "),
            code.words.decode(&predicted[function]).join(" "),
            format!("{:.2}", scores[function]),
        ]
    };
    page.table(&std::iter::once(head).chain((0..predicted.len().min(SHOWN)).map(row)).collect::<Vec<_>>());
}

/// Some functions with those that the encoder puts next to them.
pub fn neighbours(functions: &Functions, vectors: &Vectors, page: &mut Report) {
    page.heading("Nearest neighbours in the embedding");
    let mut rows = vec![["function", "neighbour", "cosine"].map(str::to_owned).to_vec()];
    for function in 0..vectors.len().min(NEIGHBOURS_OF) {
        for (place, (other, cosine)) in nearest(vectors, function, NEIGHBOURS).into_iter().enumerate() {
            let own = if place == 0 { functions.places[function].clone() } else { String::new() };
            rows.push(vec![own, functions.places[other].clone(), format!("{cosine:.3}")]);
        }
    }
    page.table(&rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_functions_are_left_out() {
        let bars = grouped(&[3, 40, 5], &[0.0, 1.0, 0.5], &[1..=31, 32..=63, 64..=usize::MAX]);
        assert_eq!((bars.labels, bars.heights), (vec!["1-31 (2)".to_owned(), "32-63 (1)".to_owned()], vec![0.25, 1.0]));
    }
}
