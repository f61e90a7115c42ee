//! The report of a run: [`Report`] is a page of text, tables and charts.

mod chart;
mod page;
mod tables;

pub use chart::{Bars, Line, band_line, bar_chart, line_chart};
pub use page::Report;
