//! Pages about directed acyclic graphs.
//!
//! A [`Report`] is one HTML file of text, tables, charts, drawings of graphs and latent maps. It loads nothing from anywhere, follows
//! the reader from light to dark, fits a phone, and prints. This crate turns values into text; who calls it writes the file.
//!
//! 1. [`layout`] says where the nodes and edges of a graph go; [`draw`] makes an SVG of that;
//! 2. [`line_chart`], [`bar_chart`] and [`scatter_chart`] draw numbers as a [`Plot`];
//! 3. [`LatentMap`] shows vectors of graphs by PCA and t-SNE, with the graph of each point; [`nearest`] finds neighbours;
//! 4. [`Report`] puts them on a page, in the order of the calls.
//!
//! ```
//! use pace_graph::DagSpec;
//! use pace_report::{Line, Report, line_chart};
//!
//! let spec = DagSpec::nas101();
//! let cell = spec.parse("input conv3x3-bn-relu output : 0>1 1>2 0>2")?;
//! let mut report = Report::new("My search");
//! report.heading("Training");
//! report.text("The loss fell.");
//! report.plot(line_chart("loss by epoch", &[Line { points: vec![(1.0, 2.5), (2.0, 1.2)], ..Line::default() }]));
//! report.heading("What was found");
//! report.dags(&spec, &[("the best cell".to_owned(), cell)]);
//! let html = report.html();
//! assert!(html.starts_with("<!doctype html>") && html.contains("the best cell"));
//! # Ok::<(), pace_graph::Error>(())
//! ```
//!
//! All text is escaped, and a content security policy names the hash of the one script, so that no name of an operation or a dataset
//! ever becomes code. [`standalone`] makes a file of a drawing.

mod chart;
mod draw;
mod error;
pub mod layout;
mod map;
mod page;
mod similar;
mod text;
mod theme;

pub use chart::{Bars, Dots, Line, Plot, band_line, bar_chart, line_chart, scatter_chart};
pub use draw::{DrawOptions, draw};
pub use error::Error;
pub use map::{LatentMap, MapConfig, MapData};
pub use page::Report;
pub use similar::{Neighbour, Similar, nearest};
pub use theme::standalone;
