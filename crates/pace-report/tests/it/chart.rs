//! Charts of any numbers.

use pace_report::{Bars, Dots, Line, band_line, bar_chart, line_chart, scatter_chart};
use pace_search::Curve;

use crate::markup;

/// Numbers that have no place in a chart, and some that hardly have.
const ODD: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e299, -1e299, 5e-324, 0.0];

#[test]
fn any_numbers_make_a_chart() {
    for one in ODD {
        for other in ODD {
            let points = vec![(one, other), (other, one), (0.0, one)];
            let band = vec![(one, other, one), (0.0, one, other)];
            let charts = [
                line_chart("<>", &[Line { name: "&".to_owned(), points: points.clone(), band }]),
                bar_chart("<>", &Bars { labels: vec!["<".repeat(90)], heights: vec![one, other] }),
                scatter_chart("<>", &[Dots { name: "\"".to_owned(), points }]),
            ];
            for chart in charts {
                markup::check(&chart.svg);
                let shapes = chart.svg.split(['"']).filter(|part| part.starts_with('M'));
                assert!(shapes.into_iter().all(|path| !path.contains("NaN") && !path.contains("inf")), "{}", chart.svg);
            }
        }
    }
    for chart in [line_chart("", &[]), bar_chart("", &Bars::default()), scatter_chart("", &[])] {
        markup::check(&chart.svg);
        markup::check(&chart.file());
    }
}

#[test]
fn every_line_has_its_name_and_no_two_names_overlap() {
    let line =
        |index: usize| Line { name: format!("line {index}"), points: vec![(0.0, 1.0), (1.0, 1.0)], band: vec![] };
    let svg = line_chart("many", &(0..30).map(line).collect::<Vec<_>>()).svg;
    let names = svg.split("<text class=\"name").skip(1);
    let mut heights: Vec<f64> =
        names.map(|name| name.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()).collect();
    heights.sort_by(f64::total_cmp);
    assert_eq!(heights.len(), 30);
    assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 15.0), "{heights:?}");
}

#[test]
fn a_gap_interrupts_a_line() {
    let points = [1.0, 2.0, f64::NAN, 3.0, 4.0].into_iter().enumerate().map(|(x, y)| (x as f64, y)).collect();
    let svg = line_chart("gap", &[Line { points, ..Line::default() }]).svg;
    let path = svg.split("class=\"line k0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 2), "{path}");
}

#[test]
fn long_lines_are_thinned_and_keep_their_spikes() {
    let points = (0..100_000).map(|x| (f64::from(x), if x == 777 { 50.0 } else { 0.0 })).collect();
    let svg = line_chart("spike", &[Line { points, ..Line::default() }]).svg;
    assert!(svg.len() < 40_000, "{} bytes", svg.len());
    let flat = line_chart("flat", &[Line { points: vec![(0.0, 0.0), (99_999.0, 50.0)], ..Line::default() }]).svg;
    let top = |svg: &str| {
        svg.split("class=\"line k0\" d=\"")
            .nth(1)
            .unwrap()
            .split(['M', 'L', '"'])
            .filter_map(|point| point.split(' ').nth(1)?.parse::<f64>().ok())
            .fold(f64::INFINITY, f64::min)
    };
    assert_eq!(top(&svg), top(&flat));
}

#[test]
fn bands_begin_where_they_are_told() {
    let curves = [[1.0, 2.0, 3.0], [1.0, 4.0, 5.0]].map(|values| Curve { values: values.to_vec() });
    let line = band_line("mean", &curves, 1);
    assert_eq!(line.points, [(2.0, 3.0), (3.0, 4.0)]);
    assert!(line.band[0].1 < 3.0 && line.band[0].2 > 3.0);
    assert!(band_line("none", &curves, 9).points.is_empty());
}
