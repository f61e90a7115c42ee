//! The report of a run: a page of pace-report, and the files that a run keeps of it.

mod page;
mod tables;

pub use pace_report::{Bars, Line, Report, band_line, bar_chart, line_chart};
pub use page::finish;
