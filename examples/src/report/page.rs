//! [`Report`]: one self-contained HTML page of text, tables and SVG plots.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use pace_train::record::Run;

use super::chart::Plot;
use super::tables::{metric_rows, stage_rows};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:56em;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse}td,th{padding:.2em .9em;border-bottom:1px solid #ddd;text-align:right}\
td:first-child,th:first-child{text-align:left}.note{background:#f5f2e8;padding:.6em 1em}svg{max-width:100%;height:auto}";

/// A page in the making.
#[derive(Clone, Debug)]
pub struct Report {
    title: String,
    body: String,
    plots: Vec<Plot>,
}

impl Report {
    /// An empty page.
    pub fn new(title: &str) -> Report {
        Report { title: title.to_owned(), body: String::new(), plots: Vec::new() }
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str) {
        let _ = write!(self.body, "<h2>{}</h2>", escape(text));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: &str) {
        let _ = write!(self.body, "<p>{}</p>", escape(text));
    }

    /// Adds a table; the first row is its head.
    pub fn table(&mut self, rows: &[Vec<String>]) {
        self.body.push_str(&table(rows));
    }

    /// Adds a chart.
    pub fn plot(&mut self, plot: Plot) {
        self.body.push_str(&plot.svg);
        self.plots.push(plot);
    }

    /// Writes the page, its charts as files of their own for other pages, and the results of a run; returns the page's path.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(&self, run: Run) -> Result<PathBuf> {
        for (number, plot) in (1..).zip(&self.plots) {
            run.write(&format!("plot-{number}-{}.svg", slug(&plot.caption)), plot.svg.as_bytes())?;
        }
        let path = run.write("report.html", self.html(&run).as_bytes())?;
        run.finish(&self.title)?;
        Ok(path)
    }

    /// The page. The note about the data comes first, so that nobody reads a number without it; then the table of results,
    /// what was added, and the seconds per stage.
    fn html(&self, run: &Run) -> String {
        let (title, note) = (escape(&self.title), escape(run.data_note()));
        let (numbers, seconds) = (table(&metric_rows(run)), table(&stage_rows(run)));
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\
             <body><h1>{title}</h1><p class=\"note\">{note}</p><h2>Numbers</h2>{numbers}{}<h2>Seconds per stage</h2>{seconds}\
             </body></html>\n",
            self.body
        )
    }
}

/// A table as HTML; the first row is its head.
fn table(rows: &[Vec<String>]) -> String {
    let row = |(index, row): (usize, &Vec<String>)| {
        let tag = if index == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
        format!("<tr>{cells}</tr>")
    };
    format!("<table>{}</table>", rows.iter().enumerate().map(row).collect::<String>())
}

/// A caption as part of a file name.
fn slug(caption: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    caption.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect::<Vec<&str>>().join("-").to_lowercase()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
