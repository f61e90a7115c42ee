//! [`Report`]: one self-contained HTML page.

mod head;
mod table;

use std::fmt::Write;

use pace_graph::{Dag, DagSpec};

use crate::chart::Plot;
use crate::draw::{BESIDE, DrawOptions, draw};
use crate::map::LatentMap;
use crate::similar::Similar;
use crate::text::escape;

/// A page in the making. What is added stands in the order of the calls.
#[derive(Clone, Debug)]
pub struct Report {
    title: String,
    parts: Vec<Part>,
    plots: Vec<Plot>,
    has_map: bool,
}

/// A part of a page.
#[derive(Clone, Debug)]
enum Part {
    /// A heading, not yet escaped; it gets its anchor when the page is written.
    Heading(String),
    /// Anything else, as markup.
    Markup(String),
}

impl Report {
    /// An empty page.
    pub fn new(title: &str) -> Report {
        Report { title: title.to_owned(), parts: Vec::new(), plots: Vec::new(), has_map: false }
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Adds a heading, which the table of contents will list.
    pub fn heading(&mut self, text: &str) {
        self.parts.push(Part::Heading(text.to_owned()));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: &str) {
        self.markup(format!("<p>{}</p>", escape(text)));
    }

    /// Adds a paragraph that nobody should miss, such as where the data comes from.
    pub fn note(&mut self, text: &str) {
        self.markup(format!("<p class=\"note\">{}</p>", escape(text)));
    }

    /// Adds a table; the first row is its head. Columns of numbers are aligned to the right.
    pub fn table(&mut self, rows: &[Vec<String>]) {
        self.markup(table::table(rows));
    }

    /// Adds a chart.
    pub fn plot(&mut self, plot: Plot) {
        self.markup(format!("<figure><div class=\"scroll\">{}</div></figure>", plot.svg));
        self.plots.push(plot);
    }

    /// Adds a drawing with a caption. The SVG becomes part of the page as it is: it has to come from this crate.
    pub fn figure(&mut self, caption: &str, svg: &str) {
        self.markup(figure(caption, svg));
    }

    /// Adds graphs with their captions, as many beside one another as fit.
    pub fn dags(&mut self, spec: &DagSpec, dags: &[(String, Dag)]) {
        let mut markup = "<div class=\"dags\">".to_owned();
        for (caption, dag) in dags {
            let options = DrawOptions { caption: caption.clone(), scale: BESIDE, ..DrawOptions::default() };
            markup.push_str(&figure(caption, &draw(dag, spec, &options)));
        }
        markup.push_str("</div>");
        self.markup(markup);
    }

    /// Adds a latent map.
    pub fn map(&mut self, map: LatentMap) {
        self.has_map = true;
        self.markup(map.into_markup());
    }

    /// Adds a graph and its nearest neighbours side by side.
    pub fn similar(&mut self, spec: &DagSpec, similar: &Similar) {
        self.markup(similar.markup(spec));
    }

    /// Adds what a reader needs to make the page again: names and values.
    pub fn provenance(&mut self, entries: &[(String, String)]) {
        let mut markup = "<dl>".to_owned();
        for (name, value) in entries {
            let _ = write!(markup, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
        }
        markup.push_str("</dl>");
        self.markup(markup);
    }

    /// Adds a table of what each stage took, with a bar for its share.
    pub fn seconds(&mut self, stages: &[(String, f64)]) {
        self.markup(table::seconds(stages));
    }

    /// Adds all that another page holds, but for its title.
    pub fn append(&mut self, other: Report) {
        self.parts.extend(other.parts);
        self.plots.extend(other.plots);
        self.has_map |= other.has_map;
    }

    /// The charts, in their order; [`Plot::file`] makes files of them.
    pub fn plots(&self) -> &[Plot] {
        &self.plots
    }

    fn markup(&mut self, markup: String) {
        self.parts.push(Part::Markup(markup));
    }

    /// The page.
    pub fn html(&self) -> String {
        let headings = self.parts.iter().filter_map(|part| match part {
            Part::Heading(text) => Some(text.as_str()),
            Part::Markup(_) => None,
        });
        let mut html = head::open(&self.title, headings, self.has_map);
        let mut n_headings = 0;
        for part in &self.parts {
            match part {
                Part::Heading(text) => {
                    n_headings += 1;
                    let _ = writeln!(html, "<h2 id=\"part-{n_headings}\">{}</h2>", escape(text));
                }
                Part::Markup(markup) => {
                    html.push_str(markup);
                    html.push('\n');
                }
            }
        }
        html.push_str(&head::close(self.has_map));
        html
    }
}

/// A drawing with its caption.
fn figure(caption: &str, svg: &str) -> String {
    let caption = escape(caption);
    format!("<figure><div class=\"scroll\">{svg}</div><figcaption>{caption}</figcaption></figure>")
}
