//! Charts as SVG.

use anyhow::{Result, anyhow};
use pace_search::{Band, Curve};
use plotters::prelude::{
    ChartBuilder, Color, IntoDrawingArea, LineSeries, Palette, Palette99, PathElement, Polygon, RGBColor, Rectangle,
    SVGBackend, Text, WHITE,
};

const BAR: RGBColor = RGBColor(58, 110, 165);

/// The data of a bar chart: a label and a height per bar.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// Below each bar.
    pub labels: Vec<String>,
    /// Heights, at least 0.
    pub heights: Vec<f64>,
}

/// A line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// For the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// A band around it, if any: x, lower end, upper end.
    pub band: Vec<(f64, f64, f64)>,
}

/// A finished chart.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What it shows.
    pub caption: String,
    /// The drawing.
    pub svg: String,
}

impl Plot {
    fn draw(caption: &str, draw: impl FnOnce(&mut String) -> Result<(), Box<dyn std::error::Error>>) -> Result<Plot> {
        let mut svg = String::new();
        draw(&mut svg).map_err(|error| anyhow!("cannot draw '{caption}': {error}"))?;
        Ok(Plot { caption: caption.to_owned(), svg })
    }
}

/// Labels with more letters than this, all together, do not fit beside one another.
const MAX_LETTERS: usize = 90;

/// A bar chart: upright bars, or rows of bars if their labels are long.
///
/// # Errors
/// If it cannot be drawn.
pub fn bar_chart(caption: &str, bars: &Bars) -> Result<Plot> {
    let n_letters: usize = bars.labels.iter().map(String::len).sum();
    let draw = if n_letters > MAX_LETTERS { draw_rows } else { draw_bars };
    Plot::draw(caption, |svg| draw(svg, caption, bars))
}

/// A row per bar, the first on top, with its number at its end.
fn draw_rows(svg: &mut String, caption: &str, bars: &Bars) -> Result<(), Box<dyn std::error::Error>> {
    let n_bars = bars.heights.len().max(1);
    let top = bars.heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max) * 1.15;
    let area = SVGBackend::with_string(svg, (760, 60 + 20 * n_bars as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    let rows = n_bars as f64;
    let mut chart = ChartBuilder::on(&area)
        .caption(caption, ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(190)
        .build_cartesian_2d(0.0..top, -0.6..rows - 0.4)?;
    let label = |y: &f64| {
        let row = y.round();
        let is_row = row >= 0.0 && row < rows && (y - row).abs() < 0.05;
        let label = is_row.then(|| bars.labels.get(n_bars - 1 - row as usize)).flatten();
        label.cloned().unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(WHITE)
        .y_labels(2 * n_bars)
        .y_label_formatter(&label)
        .draw()?;
    let place = |bar: usize| (n_bars - 1 - bar) as f64;
    chart.draw_series(
        bars.heights.iter().enumerate().map(|(bar, &height)| {
            Rectangle::new([(0.0, place(bar) - 0.38), (height, place(bar) + 0.38)], BAR.filled())
        }),
    )?;
    chart.draw_series(bars.heights.iter().enumerate().map(|(bar, &height)| {
        let decimals = if height.abs() < 10.0 { 4 } else { usize::from(height.abs() < 1000.0) };
        Text::new(format!("{height:.decimals$}"), (height + 0.01 * top, place(bar) + 0.3), ("sans-serif", 12))
    }))?;
    area.present()?;
    Ok(())
}

fn draw_bars(svg: &mut String, caption: &str, bars: &Bars) -> Result<(), Box<dyn std::error::Error>> {
    let n_bars = bars.heights.len().max(1) as i32;
    let top = bars.heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max) * 1.05;
    let area = SVGBackend::with_string(svg, (760, 300)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(caption, ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(-0.6..f64::from(n_bars) - 0.4, 0.0..top)?;
    let label = |x: &f64| {
        let bar = x.round();
        let label = bars.labels.get(bar as usize).filter(|_| bar >= 0.0 && (x - bar).abs() < 0.05);
        label.cloned().unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(2 * bars.labels.len())
        .x_label_formatter(&label)
        .draw()?;
    chart.draw_series(bars.heights.iter().enumerate().map(|(bar, &height)| {
        let x = bar as f64;
        Rectangle::new([(x - 0.42, 0.0), (x + 0.42, height)], BAR.filled())
    }))?;
    area.present()?;
    Ok(())
}

/// A chart of lines.
///
/// # Errors
/// If it cannot be drawn.
pub fn line_chart(caption: &str, lines: &[Line]) -> Result<Plot> {
    Plot::draw(caption, |svg| draw_lines(svg, caption, lines))
}

fn draw_lines(svg: &mut String, caption: &str, lines: &[Line]) -> Result<(), Box<dyn std::error::Error>> {
    let band = |line: &Line| line.band.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]).collect::<Vec<_>>();
    let all: Vec<(f64, f64)> = lines.iter().flat_map(|line| line.points.iter().copied().chain(band(line))).collect();
    let points = || all.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    let range = |part: fn(&(f64, f64)) -> f64| {
        let low = points().map(part).fold(f64::INFINITY, f64::min);
        let high = points().map(part).fold(f64::NEG_INFINITY, f64::max);
        // Room around the lines, also around a single point.
        let room = if high > low { 0.04 * (high - low) } else { 0.5 };
        if low <= high { low - room..high + room } else { 0.0..1.0 }
    };
    let area = SVGBackend::with_string(svg, (760, 340)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(caption, ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(range(|point| point.0), range(|point| point.1))?;
    chart.configure_mesh().light_line_style(WHITE).draw()?;
    for (index, line) in lines.iter().enumerate() {
        let drawn = || line.band.iter().filter(|(_, low, high)| low.is_finite() && high.is_finite());
        let upper = drawn().map(|&(x, _, high)| (x, high));
        let outline: Vec<(f64, f64)> = upper.chain(drawn().rev().map(|&(x, low, _)| (x, low))).collect();
        if !outline.is_empty() {
            chart.draw_series([Polygon::new(outline, Palette99::pick(index).mix(0.18).filled())])?;
        }
        let colour = Palette99::pick(index).stroke_width(2);
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), colour))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw()?;
    area.present()?;
    Ok(())
}

/// The mean of curves with its 95 % band, from query `skip` on.
pub fn band_line(name: &str, curves: &[Curve], skip: usize) -> Line {
    let band = Band::of(curves);
    let queries = || (skip..band.mean.len()).map(|query| ((query + 1) as f64, query));
    Line {
        name: name.to_owned(),
        points: queries().map(|(x, query)| (x, band.mean[query])).collect(),
        band: queries().map(|(x, query)| (x, band.low[query], band.high[query])).collect(),
    }
}
